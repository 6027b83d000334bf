<?php

declare(strict_types=1);

namespace Attestry;

/** Verification of webhook deliveries. */
final class Webhook
{
    public const DEFAULT_TOLERANCE_SECONDS = 300;

    /**
     * Verifies that a delivery was signed with the secret of the endpoint (`whsec_…`) and is recent, and returns its
     * event.
     *
     * @param string $body request body exactly as received, such as `file_get_contents('php://input')`; verification
     *     fails if it was parsed and serialised again
     * @param array<string, string|list<string>> $headers headers of the delivery, in any case, such as `getallheaders()`
     * @param int $tolerance maximum difference in seconds between the timestamp of the delivery and the current time
     * @param int|null $now current Unix time, for tests; default: the system clock
     * @throws WebhookVerificationException if the delivery must be rejected
     * @throws ConfigurationException if the secret is missing or malformed
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] string $secret,
        int $tolerance = self::DEFAULT_TOLERANCE_SECONDS,
        ?int $now = null,
    ): Event {
        $key = self::key($secret);
        $received = [];
        foreach ($headers as $name => $value) {
            $received[strtolower((string) $name)] = is_array($value) ? (string) reset($value) : (string) $value;
        }
        $id = $received['webhook-id'] ?? '';
        $timestamp = $received['webhook-timestamp'] ?? '';
        $signatures = $received['webhook-signature'] ?? '';
        if ($id === '' || $timestamp === '' || $signatures === '') {
            throw new WebhookVerificationException(
                'The webhook-id, webhook-timestamp or webhook-signature header is missing.',
            );
        }
        if (preg_match('/^\d{1,15}$/D', $timestamp) !== 1 || abs(($now ?? time()) - (int) $timestamp) > $tolerance) {
            throw new WebhookVerificationException(
                "The webhook-timestamp header differs from the current time by more than {$tolerance} seconds.",
            );
        }
        $expected = self::signature($key, $id, $timestamp, $body);
        // For a day after a rotation, deliveries carry one signature per valid secret; one match is enough.
        foreach (explode(' ', $signatures) as $signature) {
            if (!str_starts_with($signature, 'v1,')) {
                continue;
            }
            $bytes = base64_decode(substr($signature, 3), true);
            if ($bytes !== false && hash_equals($expected, $bytes)) {
                $event = json_decode($body, true);
                if (!is_array($event)) {
                    throw new WebhookVerificationException('The body is not a valid event.');
                }
                return Event::fromArray($event);
            }
        }
        throw new WebhookVerificationException(
            'No signature in the webhook-signature header matches the secret and the body.',
        );
    }

    /**
     * Returns the headers of a delivery, for tests of a receiver.
     *
     * @return array{webhook-id: string, webhook-timestamp: string, webhook-signature: string}
     */
    public static function sign(
        string $body,
        string $id,
        #[\SensitiveParameter] string $secret,
        ?int $timestamp = null,
    ): array {
        $timestamp = (string) ($timestamp ?? time());
        return [
            'webhook-id' => $id,
            'webhook-timestamp' => $timestamp,
            'webhook-signature' => 'v1,' . base64_encode(self::signature(self::key($secret), $id, $timestamp, $body)),
        ];
    }

    private static function signature(string $key, string $id, string $timestamp, string $body): string
    {
        return hash_hmac('sha256', "{$id}.{$timestamp}.{$body}", $key, true);
    }

    private static function key(#[\SensitiveParameter] string $secret): string
    {
        $source = 'Pass the whsec_… value that was returned when the endpoint was created or its secret rotated.';
        if ($secret === '') {
            throw new ConfigurationException("The secret of the webhook endpoint is empty. {$source}");
        }
        $key = base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true);
        if ($key === false || $key === '') {
            throw new ConfigurationException(
                "The secret of the webhook endpoint must be whsec_ followed by base64. {$source}",
            );
        }
        return $key;
    }
}
