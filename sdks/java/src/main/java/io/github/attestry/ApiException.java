package io.github.attestry;

import io.github.attestry.internal.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An error response of the API. */
public final class ApiException extends AttestryException {
    /** An invalid field: its path, such as {@code candidates[7].phone}, and the error. */
    public record Detail(String path, String message) {
    }

    private final int status;
    private final String code;
    private final List<Detail> details;
    private final String requestId;
    private final String docUrl;
    private final Duration retryAfter;
    private final String body;

    private ApiException(String message, int status, String code, List<Detail> details, String requestId, String docUrl,
            Duration retryAfter, String body) {
        super(message);
        this.status = status;
        this.code = code;
        this.details = details;
        this.requestId = requestId;
        this.docUrl = docUrl;
        this.retryAfter = retryAfter;
        this.body = body;
    }

    /** Reads the error formats of the three APIs. Header names are in lower case. */
    public static ApiException of(int status, Map<String, String> headers, String body) {
        var fields = new LinkedHashMap<String, Object>();
        try {
            // The catalogue has its fields at the top level, the other APIs have them in `error`.
            if (Json.parse(body) instanceof Map<?, ?> outer) {
                outer.forEach((name, value) -> fields.put((String) name, value));
                if (outer.get("error") instanceof Map<?, ?> inner) {
                    inner.forEach((name, value) -> fields.put((String) name, value));
                }
            }
        } catch (AttestryException notJson) {
            // A response of a proxy: its status is all there is.
        }
        var details = new ArrayList<Detail>();
        if (fields.get("details") instanceof List<?> list) {
            for (var item : list) {
                if (item instanceof Map<?, ?> detail) {
                    details.add(new Detail(String.valueOf(detail.get("path")), String.valueOf(detail.get("message"))));
                }
            }
        }
        var message = text(fields, "message");
        if (message == null) {
            message = "The server returned status " + status + ".";
            var location = headers.get("location");
            if (location != null) {
                message += " It redirects to " + location
                        + ", which is not followed. Use that address as ATTESTRY_URL or baseUrl.";
            }
        }
        var requestId = headers.get("x-request-id");
        return new ApiException(message, status, text(fields, "code"), List.copyOf(details),
                requestId != null ? requestId : text(fields, "request_id", "requestId"),
                text(fields, "doc_url", "docUrl"), parseRetryAfter(headers.get("retry-after")), body);
    }

    /** Returns the HTTP status. */
    public int status() {
        return status;
    }

    /**
     * Returns the error code, such as {@code VALIDATION_FAILED}. It is empty for the catalogue, which has no codes, and
     * for responses that do not come from the API but, for example, from a proxy.
     */
    public Optional<String> code() {
        return Optional.ofNullable(code);
    }

    /** Returns each invalid field with its path. */
    public List<Detail> details() {
        return details;
    }

    /** Returns the ID of the request in the log of the server. Include it when you contact the operator. */
    public Optional<String> requestId() {
        return Optional.ofNullable(requestId);
    }

    /** Returns the address of the documentation of this error. */
    public Optional<String> docUrl() {
        return Optional.ofNullable(docUrl);
    }

    /** Returns the time to wait before a retry, if the response contains it. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /** Returns the response body as received. */
    public String body() {
        return body;
    }

    /** Returns the error in several lines, for logs. */
    @Override
    public String toString() {
        var text = new StringBuilder("Attestry: status ").append(status);
        if (code != null) text.append(' ').append(code);
        text.append(": ").append(getMessage());
        for (var detail : details) text.append("\n  ").append(detail.path()).append(": ").append(detail.message());
        if (docUrl != null) text.append("\n  see ").append(docUrl);
        if (requestId != null) text.append("\n  request ID: ").append(requestId);
        return text.toString();
    }

    private static String text(Map<String, Object> fields, String... names) {
        for (var name : names) {
            if (fields.get(name) instanceof String text && !text.isEmpty()) return text;
        }
        return null;
    }

    /** Reads a Retry-After header: seconds, or a date as some proxies send it. */
    private static Duration parseRetryAfter(String value) {
        if (value == null) return null;
        try {
            return Duration.ofMillis((long) (Math.max(0, Double.parseDouble(value)) * 1000));
        } catch (NumberFormatException notSeconds) {
            try {
                var date = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
                var wait = Duration.between(Instant.now(), date);
                return wait.isNegative() ? Duration.ZERO : wait;
            } catch (DateTimeParseException malformed) {
                return null;
            }
        }
    }
}
