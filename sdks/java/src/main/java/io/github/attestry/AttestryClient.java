package io.github.attestry;

import io.github.attestry.internal.Caller;
import io.github.attestry.internal.Operation;
import io.github.attestry.resource.Resources;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/**
 * Calls the three APIs of an Attestry server. A client can be shared by threads.
 *
 * <pre>{@code
 * var client = AttestryClient.create();
 * for (var mandate : client.mandates().all()) System.out.println(mandate.mandateId());
 * }</pre>
 */
public final class AttestryClient extends Resources {
    /** Version of this library. */
    public static final String VERSION = "0.2.0";

    private static final String PARTNER_PATH = "/api/v1/partner";

    private final Caller caller;

    private AttestryClient(Caller caller) {
        super(caller);
        this.caller = caller;
    }

    /** Creates a client with the settings of the environment; see {@link Builder}. */
    public static AttestryClient create() {
        return builder().build();
    }

    /** Returns a builder, for settings that are not in the environment. */
    public static Builder builder() {
        return new Builder(System.getenv());
    }

    /** Sends a request without a body to the partner API. */
    public Object call(String method, String path) {
        return call(method, path, null, RequestOptions.NONE);
    }

    /**
     * Sends a request to the partner API and returns the {@code data} field of the response as maps, lists, strings,
     * longs, doubles, booleans and null. Use the resources of the client, such as {@code client.mandates()}, for typed
     * calls.
     *
     * @param path relative to the partner API ({@code /shifts}) or absolute ({@code /api/v1/partner/shifts}), with an
     *     optional query
     * @param body value that is sent as JSON, or null if there is none
     * @throws ApiException for an error response
     */
    public Object call(String method, String path, Object body, RequestOptions options) {
        var upperCaseMethod = method.toUpperCase(Locale.ROOT);
        var operation = new Operation(upperCaseMethod, path.startsWith("/api/") ? path : PARTNER_PATH + path,
                Operation.Authentication.PARTNER).body(body);
        if (!upperCaseMethod.equals("GET") && !upperCaseMethod.equals("HEAD")) operation.sendsIdempotencyKey();
        return caller.send(operation, options) instanceof Map<?, ?> map ? map.get("data") : null;
    }

    /** Settings of a client. Missing values are read from the environment. */
    public static final class Builder {
        private final Map<String, String> environment;
        private String baseUrl;
        private String keyId;
        private String secret;
        private String sessionKey;
        private String adminKey;
        private String onBehalfOf;
        private int maxRetries = 3;
        private Duration maxRetryWait = Duration.ofSeconds(60);
        private Duration timeout = Duration.ofSeconds(100);
        private HttpClient httpClient;
        private Caller.Sleeper sleeper = duration -> Thread.sleep(duration.toMillis());

        Builder(Map<String, String> environment) {
            this.environment = environment;
        }

        /** Sets the address of the server, such as {@code https://verify.example.com}. Default: ATTESTRY_URL. */
        public Builder baseUrl(String value) {
            baseUrl = value;
            return this;
        }

        /** Sets the partner key, {@code VFN_TEST_…} or {@code VFN_LIVE_…}. Default: ATTESTRY_KEY_ID. */
        public Builder keyId(String value) {
            keyId = value;
            return this;
        }

        /** Sets the secret of the partner key, {@code VFN_SK_…}, which is never sent. Default: ATTESTRY_SECRET. */
        public Builder secret(String value) {
            secret = value;
            return this;
        }

        /**
         * Sets the key that opens verification sessions, {@code VSK_TEST_…} or {@code VSK_LIVE_…}. Default:
         * ATTESTRY_SESSION_KEY.
         */
        public Builder sessionKey(String value) {
            sessionKey = value;
            return this;
        }

        /** Sets the key of the catalogue's admin operations. Default: ADMIN_API_KEY. */
        public Builder adminKey(String value) {
            adminKey = value;
            return this;
        }

        /** Sets the recruiter on whose behalf calls of the partner API are made by default. */
        public Builder onBehalfOf(String value) {
            onBehalfOf = value;
            return this;
        }

        /** Sets the maximum number of retries of a call. Default: 3; 0 disables retries. */
        public Builder maxRetries(int value) {
            maxRetries = value;
            return this;
        }

        /**
         * Sets the longest wait before one retry. If the server requests a longer wait, the exception is thrown.
         * Default: 60 seconds.
         */
        public Builder maxRetryWait(Duration value) {
            maxRetryWait = value;
            return this;
        }

        /** Sets the limit of one attempt. Default: 100 seconds, because generating an assessment can take 90 seconds. */
        public Builder timeout(Duration value) {
            timeout = value;
            return this;
        }

        /** Sets the HTTP client. It must not follow redirects, because a redirected request needs another signature. */
        public Builder httpClient(HttpClient value) {
            httpClient = value;
            return this;
        }

        Builder sleeper(Caller.Sleeper value) {
            sleeper = value;
            return this;
        }

        /**
         * Creates the client.
         *
         * @throws ConfigurationException if a value is missing or malformed; the message names it
         */
        public AttestryClient build() {
            var client = httpClient != null ? httpClient
                    : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                            .connectTimeout(Duration.ofSeconds(20)).build();
            return new AttestryClient(new Caller(new Caller.Settings(
                    setting("ATTESTRY_URL", baseUrl), setting("ATTESTRY_KEY_ID", keyId), setting("ATTESTRY_SECRET", secret),
                    setting("ATTESTRY_SESSION_KEY", sessionKey), setting("ADMIN_API_KEY", adminKey), onBehalfOf,
                    maxRetries, maxRetryWait, timeout, client, sleeper,
                    "attestry-java/" + VERSION + " java/" + System.getProperty("java.version"))));
        }

        private String setting(String variable, String value) {
            var result = value == null || value.isEmpty() ? environment.get(variable) : value;
            if (result == null || result.isEmpty()) return null;
            if (result.contains("…")) {
                throw new ConfigurationException(
                        variable + " contains the placeholder “…”: replace it with your own value.");
            }
            if (!result.matches("[!-~]+")) {
                throw new ConfigurationException(
                        variable + " contains a space or a character that is not ASCII: copy the value again.");
            }
            return result;
        }
    }
}
