<?php

declare(strict_types=1);

namespace Attestry;

/** An error response of the API. */
final class ApiException extends AttestryException
{
    /**
     * @param int $status HTTP status
     * @param string|null $errorCode error code such as `VALIDATION_FAILED`; null for the catalogue, which has no codes,
     *     and for responses that do not come from the API but, for example, from a proxy
     * @param list<array{path: string, message: string}> $details each invalid field with its path
     * @param string|null $requestId identifies the request in the log of the server; include it when you contact the
     *     operator
     * @param string|null $docUrl address of the documentation of this error
     * @param float|null $retryAfter seconds to wait before a retry, if the response contains them
     * @param string $body response body as received
     */
    public function __construct(
        string $message,
        public readonly int $status,
        public readonly ?string $errorCode,
        public readonly array $details,
        public readonly ?string $requestId,
        public readonly ?string $docUrl,
        public readonly ?float $retryAfter,
        public readonly string $body,
    ) {
        parent::__construct($message, $status);
    }

    /** Reads the error formats of the three APIs. */
    public static function fromResponse(HttpResponse $response): self
    {
        $body = json_decode($response->body, true);
        $outer = is_array($body) ? $body : [];
        // The catalogue has its fields at the top level, the other APIs have them in `error`.
        $fields = is_array($outer['error'] ?? null) ? $outer['error'] + $outer : $outer;
        $text = static function (string ...$names) use ($fields): ?string {
            foreach ($names as $name) {
                if (is_string($fields[$name] ?? null) && $fields[$name] !== '') {
                    return $fields[$name];
                }
            }
            return null;
        };
        $message = $text('message');
        if ($message === null) {
            $message = "The server returned status {$response->status}.";
            $location = $response->header('location');
            if ($location !== null) {
                $message .= " It redirects to {$location}, which is not followed. Use that address as ATTESTRY_URL or baseUrl.";
            }
        }
        $details = [];
        foreach (is_array($fields['details'] ?? null) ? $fields['details'] : [] as $detail) {
            if (is_array($detail)) {
                $details[] = ['path' => (string) ($detail['path'] ?? ''), 'message' => (string) ($detail['message'] ?? '')];
            }
        }
        return new self(
            $message,
            $response->status,
            $text('code'),
            $details,
            $response->header('x-request-id') ?? $text('request_id', 'requestId'),
            $text('doc_url', 'docUrl'),
            self::parseRetryAfter($response->header('retry-after')),
            $response->body,
        );
    }

    /** Describes the error in several lines, for logs. */
    public function describe(): string
    {
        $lines = ['status ' . $this->status . ($this->errorCode === null ? '' : " {$this->errorCode}") . ': ' . $this->getMessage()];
        foreach ($this->details as $detail) {
            $lines[] = "  {$detail['path']}: {$detail['message']}";
        }
        if ($this->docUrl !== null) {
            $lines[] = "  see {$this->docUrl}";
        }
        if ($this->requestId !== null) {
            $lines[] = "  request ID: {$this->requestId}";
        }
        return implode("\n", $lines);
    }

    /** Reads a Retry-After header: seconds, or a date as some proxies send it. */
    private static function parseRetryAfter(?string $value): ?float
    {
        if ($value === null || $value === '') {
            return null;
        }
        if (is_numeric($value)) {
            return max(0.0, (float) $value);
        }
        $date = strtotime($value);
        return $date === false ? null : max(0.0, (float) ($date - time()));
    }
}
