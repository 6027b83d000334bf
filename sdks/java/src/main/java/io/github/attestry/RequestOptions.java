package io.github.attestry;

import java.util.LinkedHashMap;
import java.util.Map;

/** Options of one call. Each method returns a copy with one more option. */
public final class RequestOptions {
    /** No options. */
    public static final RequestOptions NONE = new RequestOptions(null, null, null, null, Map.of());

    private final String idempotencyKey;
    private final String onBehalfOf;
    private final String sessionToken;
    private final Integer maxRetries;
    private final Map<String, String> headers;

    private RequestOptions(String idempotencyKey, String onBehalfOf, String sessionToken, Integer maxRetries,
            Map<String, String> headers) {
        this.idempotencyKey = idempotencyKey;
        this.onBehalfOf = onBehalfOf;
        this.sessionToken = sessionToken;
        this.maxRetries = maxRetries;
        this.headers = headers;
    }

    /**
     * Sets the Idempotency-Key of a write. Store it with your own record of the operation: then the call can be repeated
     * even after your process restarts. Without it, a random key is sent, which is the same in every retry of the call.
     */
    public RequestOptions idempotencyKey(String value) {
        return new RequestOptions(value, onBehalfOf, sessionToken, maxRetries, headers);
    }

    /** Names the recruiter on whose behalf the call is made. */
    public RequestOptions onBehalfOf(String value) {
        return new RequestOptions(idempotencyKey, value, sessionToken, maxRetries, headers);
    }

    /** Sends the token of a verification session, {@code vst_…}. */
    public RequestOptions sessionToken(String value) {
        return new RequestOptions(idempotencyKey, onBehalfOf, value, maxRetries, headers);
    }

    /** Sets the maximum number of retries; 0 disables them. */
    public RequestOptions maxRetries(int value) {
        return new RequestOptions(idempotencyKey, onBehalfOf, sessionToken, value, headers);
    }

    /** Sends an additional header. */
    public RequestOptions header(String name, String value) {
        var all = new LinkedHashMap<>(headers);
        all.put(name, value);
        return new RequestOptions(idempotencyKey, onBehalfOf, sessionToken, maxRetries, Map.copyOf(all));
    }

    /** Returns the Idempotency-Key, or null if none was set. */
    public String idempotencyKey() {
        return idempotencyKey;
    }

    /** Returns the recruiter, or null if none was set. */
    public String onBehalfOf() {
        return onBehalfOf;
    }

    /** Returns the session token, or null if none was set. */
    public String sessionToken() {
        return sessionToken;
    }

    /** Returns the maximum number of retries, or null if none was set. */
    public Integer maxRetries() {
        return maxRetries;
    }

    /** Returns the additional headers. */
    public Map<String, String> headers() {
        return headers;
    }
}
