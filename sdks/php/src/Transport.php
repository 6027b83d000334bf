<?php

declare(strict_types=1);

namespace Attestry;

/** Sends requests. Implement it to use another HTTP client, or for tests of your own code. */
interface Transport
{
    /**
     * Sends one request and returns the response, whatever its status. It must not follow redirects, because a
     * redirected request needs another signature, and must send URL and body unchanged.
     *
     * @throws ConnectionException if no response was received
     */
    public function send(HttpRequest $request): HttpResponse;
}
