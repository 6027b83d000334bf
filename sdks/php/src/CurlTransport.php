<?php

declare(strict_types=1);

namespace Attestry;

/** Sends requests with the curl extension and reuses connections. */
final class CurlTransport implements Transport
{
    private ?\CurlHandle $handle = null;

    public function send(HttpRequest $request): HttpResponse
    {
        if (!extension_loaded('curl')) {
            throw new ConfigurationException(
                'The PHP extension curl is not loaded. Install it, for example with `apt-get install php-curl`.',
            );
        }
        $this->handle ??= curl_init();
        curl_reset($this->handle);
        $headers = [];
        $lines = ['Expect:'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "{$name}: {$value}";
        }
        curl_setopt_array($this->handle, [
            CURLOPT_URL => $request->url,
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            // Prevents curl from rewriting the signed path.
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ($request->timeoutSeconds * 1000),
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $handle, string $line) use (&$headers): int {
                $parts = explode(':', $line, 2);
                if (count($parts) === 2) {
                    $headers[strtolower(trim($parts[0]))] = trim($parts[1]);
                }
                return strlen($line);
            },
        ]);
        if ($request->method === 'HEAD') {
            curl_setopt($this->handle, CURLOPT_NOBODY, true);
        }
        if ($request->body !== null) {
            curl_setopt($this->handle, CURLOPT_POSTFIELDS, $request->body);
        }
        $body = curl_exec($this->handle);
        if (!is_string($body)) {
            throw new ConnectionException(
                "{$request->method} {$request->url} failed: " . curl_error($this->handle)
                . '. Check that the server is running, and that ATTESTRY_URL or baseUrl is its address.',
            );
        }
        return new HttpResponse((int) curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE), $headers, $body);
    }
}
