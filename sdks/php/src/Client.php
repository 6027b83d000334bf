<?php

declare(strict_types=1);

namespace Attestry;

/** Calls the three APIs of an Attestry server. */
final class Client
{
    use Resources;

    public const VERSION = '0.2.0';

    private const PARTNER_PATH = '/api/v1/partner';
    private const PARTNER_KEY_HINT = '`npm start` in a checkout of Attestry prints a TEST key and its secret and stores them in '
        . '.attestry/demo-keys.json; on another server, ask its operator.';
    /** Methods that can be repeated safely: a second request changes nothing. */
    private const REPEATABLE_METHODS = ['GET', 'HEAD', 'PUT', 'DELETE'];
    private const FIRST_RETRY_DELAY_SECONDS = 0.5;

    private readonly string $baseUrl;
    private readonly ?string $keyId;
    private readonly ?string $secret;
    private readonly ?string $sessionKey;
    private readonly ?string $adminKey;
    private readonly Transport $transport;
    /** @var \Closure(float): void */
    private readonly \Closure $sleep;

    /**
     * Creates a client. Missing values are read from the environment.
     *
     * @param string|null $baseUrl address of the server, such as `https://verify.example.com`; default: ATTESTRY_URL
     * @param string|null $keyId partner key, `VFN_TEST_…` or `VFN_LIVE_…`; default: ATTESTRY_KEY_ID
     * @param string|null $secret secret of the partner key, `VFN_SK_…`, which is never sent; default: ATTESTRY_SECRET
     * @param string|null $sessionKey opens verification sessions, `VSK_TEST_…` or `VSK_LIVE_…`; default:
     *     ATTESTRY_SESSION_KEY
     * @param string|null $adminKey key of the catalogue's admin operations; default: ADMIN_API_KEY
     * @param string|null $onBehalfOf recruiter on whose behalf calls of the partner API are made by default
     * @param int $maxRetries maximum number of retries of a call; 0 disables them
     * @param float $maxRetryWaitSeconds longest wait before one retry; if the server requests a longer wait, the
     *     exception is thrown
     * @param float $timeoutSeconds limit of one attempt; generating an assessment can take 90 seconds
     * @param (\Closure(float): void)|null $sleep waits the given number of seconds before a retry, for tests
     */
    public function __construct(
        ?string $baseUrl = null,
        ?string $keyId = null,
        #[\SensitiveParameter] ?string $secret = null,
        #[\SensitiveParameter] ?string $sessionKey = null,
        #[\SensitiveParameter] ?string $adminKey = null,
        private readonly ?string $onBehalfOf = null,
        private readonly int $maxRetries = 3,
        private readonly float $maxRetryWaitSeconds = 60.0,
        private readonly float $timeoutSeconds = 100.0,
        ?Transport $transport = null,
        ?\Closure $sleep = null,
    ) {
        $url = self::setting('ATTESTRY_URL', $baseUrl) ?? throw new ConfigurationException(
            'ATTESTRY_URL is not set. Set it to the address of your Attestry server, such as http://127.0.0.1:8080, '
            . 'or pass baseUrl.',
        );
        if (preg_match('#^https?://[^/\s]+#i', $url) !== 1) {
            throw new ConfigurationException(
                "ATTESTRY_URL or baseUrl must be an address such as http://127.0.0.1:8080; got \"{$url}\".",
            );
        }
        $this->baseUrl = rtrim($url, '/');
        $this->keyId = self::setting('ATTESTRY_KEY_ID', $keyId);
        $this->secret = self::setting('ATTESTRY_SECRET', $secret);
        $this->sessionKey = self::setting('ATTESTRY_SESSION_KEY', $sessionKey);
        $this->adminKey = self::setting('ADMIN_API_KEY', $adminKey);
        if ($this->keyId !== null && preg_match('/^VFN_(TEST|LIVE)_/', $this->keyId) !== 1) {
            throw new ConfigurationException(
                'ATTESTRY_KEY_ID or keyId must be a partner key, VFN_TEST_… or VFN_LIVE_…. ' . self::PARTNER_KEY_HINT,
            );
        }
        if ($this->secret !== null && !str_starts_with($this->secret, 'VFN_SK_')) {
            throw new ConfigurationException(
                'ATTESTRY_SECRET or secret must be the secret of the partner key, VFN_SK_…. ' . self::PARTNER_KEY_HINT,
            );
        }
        if ($this->sessionKey !== null && !str_starts_with($this->sessionKey, 'VSK_')) {
            throw new ConfigurationException(
                'ATTESTRY_SESSION_KEY or sessionKey must be a session key, VSK_TEST_… or VSK_LIVE_….',
            );
        }
        if ($this->keyId !== null || $this->secret !== null) {
            $this->requireCredentials(Authentication::Partner, new RequestOptions());
        }
        $this->transport = $transport ?? new CurlTransport();
        $this->sleep = $sleep ?? static function (float $seconds): void {
            usleep((int) round($seconds * 1_000_000));
        };
        $this->createResources();
    }

    /**
     * Sends a request to the partner API and returns the `data` field of the response. Use the resources of the
     * client, such as `$client->mandates`, for typed calls.
     *
     * @param string $path relative to the partner API (`/shifts`) or absolute (`/api/v1/partner/shifts`), with an
     *     optional query
     * @param mixed $body value that is sent as JSON, or null if there is none
     * @throws ApiException for an error response
     */
    public function call(string $method, string $path, mixed $body = null, ?RequestOptions $options = null): mixed
    {
        $method = strtoupper($method);
        $response = $this->send(new Operation(
            $method,
            str_starts_with($path, '/api/') ? $path : self::PARTNER_PATH . $path,
            Authentication::Partner,
            body: $body,
            sendsIdempotencyKey: $method !== 'GET' && $method !== 'HEAD',
        ), $options);
        return $response['data'] ?? null;
    }

    /**
     * @internal Sends an operation, with retries, and returns the decoded body.
     * @return array<array-key, mixed>
     */
    public function send(Operation $operation, ?RequestOptions $options = null): array
    {
        $options ??= new RequestOptions();
        $this->requireCredentials($operation->authentication, $options);
        $idempotencyKey = $options->idempotencyKey ?? ($operation->sendsIdempotencyKey ? self::uuid() : null);
        // Encoded once: the bytes that are signed must be the bytes that are sent, in every attempt.
        $body = $operation->body === null ? null : self::encode($operation->body);
        $repeatable = $idempotencyKey !== null || in_array($operation->method, self::REPEATABLE_METHODS, true);
        $maxRetries = $options->maxRetries ?? $this->maxRetries;
        for ($retry = 0;; $retry++) {
            try {
                $response = $this->transport->send($this->request($operation, $options, $idempotencyKey, $body));
                if ($response->status < 200 || $response->status > 299) {
                    throw ApiException::fromResponse($response);
                }
                return self::decode($operation, $response->body);
            } catch (ApiException | ConnectionException $exception) {
                $wait = self::retryDelay($exception, $repeatable, $retry);
                if ($wait === null || $wait > $this->maxRetryWaitSeconds || $retry >= $maxRetries) {
                    throw $exception;
                }
                ($this->sleep)($wait);
            }
        }
    }

    private function request(
        Operation $operation,
        RequestOptions $options,
        ?string $idempotencyKey,
        ?string $body,
    ): HttpRequest {
        $query = [];
        foreach ($operation->query as $name => $value) {
            if ($value !== null) {
                $query[] = rawurlencode($name) . '=' . rawurlencode(self::queryValue($value));
            }
        }
        $path = $operation->escapedPath() . ($query === [] ? '' : '?' . implode('&', $query));
        $url = $this->baseUrl . $path;
        $headers = $options->headers + [
            'accept' => 'application/json',
            'user-agent' => 'attestry-php/' . self::VERSION . ' php/' . PHP_VERSION,
        ];
        if ($body !== null) {
            $headers['content-type'] = 'application/json';
        }
        if ($idempotencyKey !== null) {
            $headers['idempotency-key'] = $idempotencyKey;
        }
        if ($options->sessionToken !== null) {
            $headers['x-session-token'] = $options->sessionToken;
        }
        switch ($operation->authentication) {
            case Authentication::Partner:
                $onBehalfOf = $options->onBehalfOf ?? $this->onBehalfOf;
                if ($onBehalfOf !== null) {
                    $headers['x-on-behalf-of'] = $onBehalfOf;
                }
                $timestamp = time();
                // The base URL may contain a path of its own, which is signed too.
                $target = (string) preg_replace('#^https?://[^/?]+#i', '', $url);
                $headers['x-api-key'] = (string) $this->keyId;
                $headers['x-timestamp'] = (string) $timestamp;
                $headers['x-signature'] = Signature::sign(
                    (string) $this->secret,
                    $timestamp,
                    $operation->method,
                    $target,
                    $onBehalfOf ?? '',
                    $idempotencyKey ?? '',
                    $body ?? '',
                );
                break;
            case Authentication::SessionKey:
                if ($this->sessionKey !== null) {
                    $headers['x-api-key'] = $this->sessionKey;
                }
                break;
            case Authentication::Admin:
                $headers['x-api-key'] = (string) $this->adminKey;
                break;
            case Authentication::SessionToken:
            case Authentication::None:
                break;
        }
        return new HttpRequest($operation->method, $url, $headers, $body, $this->timeoutSeconds);
    }

    private function requireCredentials(Authentication $authentication, RequestOptions $options): void
    {
        $message = match (true) {
            $authentication === Authentication::Partner && $this->keyId === null =>
                'ATTESTRY_KEY_ID is not set. Set it to a partner key, VFN_TEST_… or VFN_LIVE_…, or pass keyId. '
                . self::PARTNER_KEY_HINT,
            $authentication === Authentication::Partner && $this->secret === null =>
                'ATTESTRY_SECRET is not set. Set it to the secret of the partner key, VFN_SK_…, or pass secret. '
                . self::PARTNER_KEY_HINT,
            $authentication === Authentication::SessionKey && $this->sessionKey === null && $options->sessionToken === null =>
                'ATTESTRY_SESSION_KEY is not set. Set it to a session key, VSK_TEST_… or VSK_LIVE_…, or pass sessionKey. '
                . '`npm start` in a checkout of Attestry prints a TEST session key.',
            $authentication === Authentication::SessionToken && ($options->sessionToken ?? '') === '' =>
                'The session token is empty. Pass the vst_… value that $client->sessions->open() returned.',
            $authentication === Authentication::Admin && $this->adminKey === null =>
                'ADMIN_API_KEY is not set. Set it to the admin key of the server, or pass adminKey.',
            default => null,
        };
        if ($message !== null) {
            throw new ConfigurationException($message);
        }
    }

    /**
     * Returns the seconds to wait before the next attempt, or null if there should be none. A rejection with
     * Retry-After had no effect, so any call can be repeated after that time. After a 5xx status or a broken
     * connection, the request may have had an effect, so only repeatable calls are sent again.
     */
    private static function retryDelay(AttestryException $exception, bool $repeatable, int $retry): ?float
    {
        if ($exception instanceof ApiException) {
            if ($exception->retryAfter !== null && in_array($exception->status, [409, 429, 503], true)) {
                return $exception->retryAfter;
            }
            if ($exception->status < 500) {
                return null;
            }
        }
        // Exponential backoff with jitter, so that many clients do not retry at the same moment.
        $jitter = 0.5 + random_int(0, 1000) / 2000;
        return $repeatable ? self::FIRST_RETRY_DELAY_SECONDS * 2 ** $retry * $jitter : null;
    }

    /** @return array<array-key, mixed> */
    private static function decode(Operation $operation, string $body): array
    {
        if ($body === '') {
            return [];
        }
        $decoded = json_decode($body, true);
        if (!is_array($decoded)) {
            throw new AttestryException(
                "The response of {$operation->method} {$operation->path} is not JSON: " . substr($body, 0, 100),
            );
        }
        return $decoded;
    }

    private static function encode(mixed $body): string
    {
        // An empty array is an object: all request bodies are objects.
        return $body === [] ? '{}' : json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
    }

    private static function queryValue(mixed $value): string
    {
        return match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            is_array($value) => implode(',', array_map(self::queryValue(...), $value)),
            $value instanceof \DateTimeInterface => $value->format('Y-m-d\TH:i:s.vP'),
            default => (string) $value,
        };
    }

    private static function setting(string $variable, #[\SensitiveParameter] ?string $value): ?string
    {
        if ($value === null || $value === '') {
            $value = getenv($variable);
        }
        if ($value === false || $value === '') {
            return null;
        }
        if (str_contains($value, '…')) {
            throw new ConfigurationException("{$variable} contains the placeholder “…”: replace it with your own value.");
        }
        if (preg_match('/^[!-~]+$/D', $value) !== 1) {
            throw new ConfigurationException(
                "{$variable} contains a space or a character that is not ASCII: copy the value again.",
            );
        }
        return $value;
    }

    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
