<?php

declare(strict_types=1);

namespace Attestry;

/** Options of one call. */
final class RequestOptions
{
    /**
     * @param string|null $idempotencyKey Idempotency-Key of a write. Store it with your own record of the operation:
     *     then the call can be repeated even after your process restarts. Default: a random key, which is the same in
     *     every retry of the call
     * @param string|null $onBehalfOf recruiter on whose behalf the call is made
     * @param string|null $sessionToken token of a verification session, `vst_…`
     * @param int|null $maxRetries maximum number of retries; 0 disables them
     * @param array<string, string> $headers additional request headers
     */
    public function __construct(
        public readonly ?string $idempotencyKey = null,
        public readonly ?string $onBehalfOf = null,
        #[\SensitiveParameter] public readonly ?string $sessionToken = null,
        public readonly ?int $maxRetries = null,
        public readonly array $headers = [],
    ) {
    }

    /** @internal Returns a copy of the options with a session token. */
    public static function withSessionToken(?self $options, #[\SensitiveParameter] string $sessionToken): self
    {
        return new self(
            $options?->idempotencyKey,
            $options?->onBehalfOf,
            $sessionToken,
            $options?->maxRetries,
            $options?->headers ?? [],
        );
    }
}
