<?php

declare(strict_types=1);

namespace Attestry\Tests;

use Attestry\ConnectionException;
use Attestry\HttpRequest;
use Attestry\HttpResponse;
use Attestry\Transport;

/** Returns the given responses in turn, and the last one again; null is a broken connection. */
final class FakeTransport implements Transport
{
    /** @var list<HttpRequest> */
    public array $requests = [];

    /** @param list<HttpResponse|null> $responses */
    public function __construct(private readonly array $responses)
    {
    }

    public function send(HttpRequest $request): HttpResponse
    {
        $this->requests[] = $request;
        $index = min(count($this->requests), count($this->responses)) - 1;
        return $this->responses[$index] ?? throw new ConnectionException('connection broken');
    }
}
