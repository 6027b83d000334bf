package io.github.attestry.internal;

import io.github.attestry.ApiException;
import io.github.attestry.AttestryException;
import io.github.attestry.ConfigurationException;
import io.github.attestry.ConnectionException;
import io.github.attestry.RequestOptions;
import io.github.attestry.Signature;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Signs and sends operations, with retries. Not part of the public API. */
public final class Caller {
    /** Waits before a retry. */
    public interface Sleeper {
        void sleep(Duration duration) throws InterruptedException;
    }

    /** Settings of a client; see {@code AttestryClient.Builder}. */
    public record Settings(String baseUrl, String keyId, String secret, String sessionKey, String adminKey,
            String onBehalfOf, int maxRetries, Duration maxRetryWait, Duration timeout, HttpClient httpClient,
            Sleeper sleeper, String userAgent) {
    }

    private static final String PARTNER_KEY_HINT = "`npm start` in a checkout of Attestry prints a TEST key and its secret "
            + "and stores them in .attestry/demo-keys.json; on another server, ask its operator.";
    /** Methods that can be repeated safely: a second request changes nothing. */
    private static final Set<String> REPEATABLE_METHODS = Set.of("GET", "HEAD", "PUT", "DELETE");
    private static final Duration FIRST_RETRY_DELAY = Duration.ofMillis(500);

    private final Settings settings;

    /** Checks the settings. Keys may be missing until an operation needs them. */
    public Caller(Settings settings) {
        this.settings = settings;
        if (settings.baseUrl() == null) {
            throw new ConfigurationException("ATTESTRY_URL is not set. Set it to the address of your Attestry server, such "
                    + "as http://127.0.0.1:8080, or pass baseUrl.");
        }
        if (!settings.baseUrl().matches("(?i)https?://[^/\\s]+.*")) {
            throw new ConfigurationException("ATTESTRY_URL or baseUrl must be an address such as http://127.0.0.1:8080; got \""
                    + settings.baseUrl() + "\".");
        }
        if (settings.keyId() != null && !settings.keyId().matches("VFN_(TEST|LIVE)_.*")) {
            throw new ConfigurationException(
                    "ATTESTRY_KEY_ID or keyId must be a partner key, VFN_TEST_… or VFN_LIVE_…. " + PARTNER_KEY_HINT);
        }
        if (settings.secret() != null && !settings.secret().startsWith("VFN_SK_")) {
            throw new ConfigurationException(
                    "ATTESTRY_SECRET or secret must be the secret of the partner key, VFN_SK_…. " + PARTNER_KEY_HINT);
        }
        if (settings.sessionKey() != null && !settings.sessionKey().startsWith("VSK_")) {
            throw new ConfigurationException(
                    "ATTESTRY_SESSION_KEY or sessionKey must be a session key, VSK_TEST_… or VSK_LIVE_….");
        }
        if (settings.keyId() != null || settings.secret() != null) {
            requireCredentials(Operation.Authentication.PARTNER, RequestOptions.NONE);
        }
    }

    /** Sends an operation and returns the parsed body, or null if it is empty. */
    public Object send(Operation operation, RequestOptions options) {
        requireCredentials(operation.authentication, options);
        var idempotencyKey = options.idempotencyKey() != null || !operation.sendsIdempotencyKey
                ? options.idempotencyKey()
                : UUID.randomUUID().toString();
        // Encoded once: the bytes that are signed must be the bytes that are sent, in every attempt.
        var body = operation.body == null ? null : Json.write(operation.body).getBytes(StandardCharsets.UTF_8);
        var repeatable = idempotencyKey != null || REPEATABLE_METHODS.contains(operation.method);
        var maxRetries = options.maxRetries() == null ? settings.maxRetries() : options.maxRetries();
        for (int retry = 0;; retry++) {
            String response;
            try {
                response = attempt(operation, options, idempotencyKey, body);
            } catch (ApiException | ConnectionException exception) {
                var wait = retryDelay(exception, repeatable, retry);
                if (wait == null || wait.compareTo(settings.maxRetryWait()) > 0 || retry >= maxRetries
                        || Thread.currentThread().isInterrupted()) {
                    throw exception;
                }
                sleep(wait, exception);
                continue;
            }
            return response.isEmpty() ? null : Json.parse(response);
        }
    }

    /** Sends an operation and returns the body as an object. */
    public <T> T send(Operation operation, RequestOptions options, Class<T> result) {
        return Json.convert(send(operation, options), result);
    }

    /** Sends an operation and returns the {@code data} field of the body as an object. */
    public <T> T sendForData(Operation operation, RequestOptions options, Class<T> result) {
        return Json.convert(send(operation, options) instanceof Map<?, ?> map ? map.get("data") : null, result);
    }

    private String attempt(Operation operation, RequestOptions options, String idempotencyKey, byte[] body) {
        var uri = URI.create(settings.baseUrl().replaceAll("/+$", "") + operation.target());
        var request = HttpRequest.newBuilder(uri).timeout(settings.timeout());
        request.method(operation.method, body == null ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofByteArray(body));
        options.headers().forEach(request::setHeader);
        request.setHeader("accept", "application/json");
        request.setHeader("user-agent", settings.userAgent());
        if (body != null) request.setHeader("content-type", "application/json");
        if (idempotencyKey != null) request.setHeader("idempotency-key", idempotencyKey);
        if (options.sessionToken() != null) request.setHeader("x-session-token", options.sessionToken());
        switch (operation.authentication) {
            case PARTNER -> {
                var onBehalfOf = options.onBehalfOf() == null ? settings.onBehalfOf() : options.onBehalfOf();
                if (onBehalfOf != null) request.setHeader("x-on-behalf-of", onBehalfOf);
                var timestamp = System.currentTimeMillis() / 1000;
                var target = uri.getRawPath() + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
                request.setHeader("x-api-key", settings.keyId());
                request.setHeader("x-timestamp", Long.toString(timestamp));
                request.setHeader("x-signature", Signature.sign(settings.secret(),
                        new Signature.Input(timestamp, operation.method, target, onBehalfOf, idempotencyKey, body)));
            }
            case SESSION_KEY -> {
                if (settings.sessionKey() != null) request.setHeader("x-api-key", settings.sessionKey());
            }
            case ADMIN -> request.setHeader("x-api-key", settings.adminKey());
            case SESSION_TOKEN, NONE -> {
            }
        }
        HttpResponse<String> response;
        try {
            response = settings.httpClient().send(request.build(),
                    HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (IOException exception) {
            var reason = exception.getMessage() == null ? exception.getClass().getSimpleName() : exception.getMessage();
            throw new ConnectionException(operation.method + " " + uri + " failed: " + reason
                    + ". Check that the server is running, and that ATTESTRY_URL or baseUrl is its address.", exception);
        } catch (InterruptedException exception) {
            Thread.currentThread().interrupt();
            throw new ConnectionException(operation.method + " " + uri + " was interrupted.", exception);
        }
        if (response.statusCode() < 200 || response.statusCode() > 299) {
            var headers = new HashMap<String, String>();
            response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(), values.get(0)));
            throw ApiException.of(response.statusCode(), headers, response.body());
        }
        return response.body();
    }

    private void requireCredentials(Operation.Authentication authentication, RequestOptions options) {
        String message = null;
        switch (authentication) {
            case PARTNER -> {
                if (settings.keyId() == null) {
                    message = "ATTESTRY_KEY_ID is not set. Set it to a partner key, VFN_TEST_… or VFN_LIVE_…, or pass keyId. "
                            + PARTNER_KEY_HINT;
                } else if (settings.secret() == null) {
                    message = "ATTESTRY_SECRET is not set. Set it to the secret of the partner key, VFN_SK_…, or pass secret. "
                            + PARTNER_KEY_HINT;
                }
            }
            case SESSION_KEY -> {
                if (settings.sessionKey() == null && options.sessionToken() == null) {
                    message = "ATTESTRY_SESSION_KEY is not set. Set it to a session key, VSK_TEST_… or VSK_LIVE_…, or pass "
                            + "sessionKey. `npm start` in a checkout of Attestry prints a TEST session key.";
                }
            }
            case SESSION_TOKEN -> {
                if (options.sessionToken() == null || options.sessionToken().isEmpty()) {
                    message = "The session token is empty. Pass the vst_… value that client.sessions().open(…) returned.";
                }
            }
            case ADMIN -> {
                if (settings.adminKey() == null) {
                    message = "ADMIN_API_KEY is not set. Set it to the admin key of the server, or pass adminKey.";
                }
            }
            case NONE -> {
            }
        }
        if (message != null) throw new ConfigurationException(message);
    }

    /**
     * Returns the wait before the next attempt, or null if there should be none. A rejection with Retry-After had no
     * effect, so any call can be repeated after that time. After a 5xx status or a broken connection, the request may
     * have had an effect, so only repeatable calls are sent again.
     */
    private static Duration retryDelay(AttestryException exception, boolean repeatable, int retry) {
        if (exception instanceof ApiException response) {
            var canWait = response.status() == 409 || response.status() == 429 || response.status() == 503;
            if (canWait && response.retryAfter().isPresent()) return response.retryAfter().get();
            if (response.status() < 500) return null;
        }
        if (!repeatable) return null;
        // Exponential backoff with jitter, so that many clients do not retry at the same moment.
        var jitter = 0.5 + ThreadLocalRandom.current().nextDouble() / 2;
        return Duration.ofMillis((long) (FIRST_RETRY_DELAY.toMillis() * Math.pow(2, retry) * jitter));
    }

    private void sleep(Duration wait, AttestryException cause) {
        try {
            settings.sleeper().sleep(wait);
        } catch (InterruptedException exception) {
            Thread.currentThread().interrupt();
            throw cause;
        }
    }
}
