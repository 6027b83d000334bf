package io.github.attestry.internal;

import io.github.attestry.ConfigurationException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One call of an API. Not part of the public API. */
public final class Operation {
    /** Authentication of an operation. */
    public enum Authentication {
        NONE, PARTNER, SESSION_KEY, SESSION_TOKEN, ADMIN
    }

    final String method;
    private String path;
    final Authentication authentication;
    private final List<String> query = new ArrayList<>();
    Object body;
    boolean sendsIdempotencyKey;

    /** Creates an operation. The path may contain placeholders such as {@code {mandate_id}}; see {@link #path}. */
    public Operation(String method, String path, Authentication authentication) {
        this.method = method;
        this.path = path;
        this.authentication = authentication;
    }

    /** Replaces a placeholder of the path by an escaped value, and rejects values that would call another path. */
    public Operation path(String name, String value) {
        if (value == null || value.isEmpty() || value.equals(".") || value.equals("..")) {
            throw new ConfigurationException(name + " must be an ID; got " + (value == null ? "null" : "\"" + value + "\"") + ".");
        }
        path = path.replace("{" + name + "}", escape(value));
        return this;
    }

    /** Adds a query parameter, unless its value is null. */
    public Operation query(String name, Object value) {
        if (value != null) {
            query.add(escape(name) + "=" + escape(value instanceof StringValue named ? named.value() : value.toString()));
        }
        return this;
    }

    /** Sets the value that is sent as JSON; null if there is none. */
    public Operation body(Object value) {
        body = value;
        return this;
    }

    /** Marks an operation that accepts an Idempotency-Key. */
    public Operation sendsIdempotencyKey() {
        sendsIdempotencyKey = true;
        return this;
    }

    String target() {
        return query.isEmpty() ? path : path + "?" + String.join("&", query);
    }

    private static String escape(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
