<?php

declare(strict_types=1);

namespace Attestry;

/** @internal One call of an API. */
final class Operation
{
    /**
     * @param string $path path with placeholders such as `{mandate_id}`
     * @param array<string, string> $pathParameters values of the placeholders
     * @param array<string, mixed> $query
     * @param mixed $body value that is sent as JSON, or null if there is none
     * @param bool $sendsIdempotencyKey set if the operation accepts an Idempotency-Key
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly Authentication $authentication,
        public readonly array $pathParameters = [],
        public readonly array $query = [],
        public readonly mixed $body = null,
        public readonly bool $sendsIdempotencyKey = false,
    ) {
    }

    /** Returns the path with its escaped parameters, and rejects values that would call another path. */
    public function escapedPath(): string
    {
        $path = $this->path;
        foreach ($this->pathParameters as $name => $value) {
            if (in_array($value, ['', '.', '..'], true)) {
                throw new ConfigurationException("{$name} must be an ID; got \"{$value}\".");
            }
            $path = str_replace("{{$name}}", rawurlencode($value), $path);
        }
        return $path;
    }
}
