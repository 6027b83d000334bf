package io.github.attestry;

import io.github.attestry.internal.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Verification of webhook deliveries. */
public final class Webhooks {
    /** Maximum difference between the timestamp of a delivery and the current time. */
    public static final Duration DEFAULT_TOLERANCE = Duration.ofMinutes(5);

    private static final String SECRET_SOURCE =
            "Pass the whsec_… value that was returned when the endpoint was created or its secret rotated.";

    private Webhooks() {
    }

    /**
     * Verifies that a delivery was signed with the secret of the endpoint ({@code whsec_…}) and is recent, and returns
     * its event.
     *
     * @param body request body exactly as received; verification fails if it was parsed and serialised again
     * @param headers headers of the delivery, in any case
     * @throws WebhookVerificationException if the delivery must be rejected
     * @throws ConfigurationException if the secret is missing or malformed
     */
    public static Event verify(byte[] body, Map<String, List<String>> headers, String secret) {
        return verify(body, headers, secret, DEFAULT_TOLERANCE, Instant.now());
    }

    /** Verifies a delivery with another tolerance and, for tests, another current time. */
    public static Event verify(byte[] body, Map<String, List<String>> headers, String secret, Duration tolerance,
            Instant now) {
        var key = key(secret);
        var received = new TreeMap<String, String>();
        headers.forEach((name, values) -> {
            if (name != null && !values.isEmpty()) received.put(name.toLowerCase(Locale.ROOT), values.get(0));
        });
        var id = received.getOrDefault("webhook-id", "");
        var timestamp = received.getOrDefault("webhook-timestamp", "");
        var signatures = received.getOrDefault("webhook-signature", "");
        if (id.isEmpty() || timestamp.isEmpty() || signatures.isEmpty()) {
            throw new WebhookVerificationException(
                    "The webhook-id, webhook-timestamp or webhook-signature header is missing.");
        }
        if (!timestamp.matches("[0-9]{1,12}")
                || Duration.between(Instant.ofEpochSecond(Long.parseLong(timestamp)), now).abs().compareTo(tolerance) > 0) {
            throw new WebhookVerificationException("The webhook-timestamp header differs from the current time by more than "
                    + tolerance.toSeconds() + " seconds.");
        }
        var expected = signature(key, id, timestamp, body);
        // For a day after a rotation, deliveries carry one signature per valid secret; one match is enough.
        for (var signature : signatures.split(" ")) {
            if (!signature.startsWith("v1,")) continue;
            byte[] bytes;
            try {
                bytes = Base64.getDecoder().decode(signature.substring("v1,".length()));
            } catch (IllegalArgumentException notBase64) {
                continue;
            }
            if (MessageDigest.isEqual(expected, bytes)) return parse(body);
        }
        throw new WebhookVerificationException(
                "No signature in the webhook-signature header matches the secret and the body.");
    }

    /** Returns the headers of a delivery, for tests of a receiver. */
    public static Map<String, List<String>> sign(byte[] body, String id, String secret, Instant at) {
        var timestamp = Long.toString(at.getEpochSecond());
        var signature = Base64.getEncoder().encodeToString(signature(key(secret), id, timestamp, body));
        return Map.of("webhook-id", List.of(id), "webhook-timestamp", List.of(timestamp), "webhook-signature",
                List.of("v1," + signature));
    }

    private static Event parse(byte[] body) {
        try {
            return Json.read(new String(body, StandardCharsets.UTF_8), Event.class);
        } catch (AttestryException malformed) {
            throw new WebhookVerificationException("The body is not a valid event: " + malformed.getMessage());
        }
    }

    private static byte[] signature(byte[] key, String id, String timestamp, byte[] body) {
        return Signature.hmacSha256(key, (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8), body);
    }

    private static byte[] key(String secret) {
        if (secret == null || secret.isEmpty()) {
            throw new ConfigurationException("The secret of the webhook endpoint is empty. " + SECRET_SOURCE);
        }
        byte[] key;
        try {
            key = Base64.getDecoder().decode(secret.startsWith("whsec_") ? secret.substring("whsec_".length()) : secret);
        } catch (IllegalArgumentException notBase64) {
            key = new byte[0];
        }
        if (key.length == 0) {
            throw new ConfigurationException(
                    "The secret of the webhook endpoint must be whsec_ followed by base64. " + SECRET_SOURCE);
        }
        return key;
    }
}
