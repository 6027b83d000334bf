<?php

declare(strict_types=1);

namespace Attestry;

/** Signatures of requests to the partner API. */
final class Signature
{
    /**
     * Returns the string that is signed for a partner request: seven lines.
     *
     * @param int $timestamp Unix time in whole seconds
     * @param string $target path and query exactly as sent, such as `/api/v1/partner/skills?limit=10`
     * @param string $onBehalfOf value of the x-on-behalf-of header, or an empty string if it is not sent
     * @param string $idempotencyKey value of the Idempotency-Key header, or an empty string if it is not sent
     * @param string $body request body exactly as sent, or an empty string if there is none
     */
    public static function linesToSign(
        int $timestamp,
        string $method,
        string $target,
        string $onBehalfOf = '',
        string $idempotencyKey = '',
        string $body = '',
    ): string {
        return implode("\n", [
            'VFN1',
            (string) $timestamp,
            strtoupper($method),
            $target,
            $onBehalfOf,
            $idempotencyKey,
            hash('sha256', $body),
        ]);
    }

    /**
     * Returns the value of the x-signature header.
     *
     * @param string $secret secret of the key, `VFN_SK_…`; it is never sent
     */
    public static function sign(
        #[\SensitiveParameter] string $secret,
        int $timestamp,
        string $method,
        string $target,
        string $onBehalfOf = '',
        string $idempotencyKey = '',
        string $body = '',
    ): string {
        $lines = self::linesToSign($timestamp, $method, $target, $onBehalfOf, $idempotencyKey, $body);
        return 'v1=' . hash_hmac('sha256', $lines, $secret);
    }
}
