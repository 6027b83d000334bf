package io.github.attestry;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of requests to the partner API. */
public final class Signature {
    private Signature() {
    }

    /**
     * A request that is to be signed.
     *
     * @param timestamp Unix time in whole seconds
     * @param target path and query exactly as sent, such as {@code /api/v1/partner/skills?limit=10}
     * @param onBehalfOf value of the x-on-behalf-of header, or null if the header is not sent
     * @param idempotencyKey value of the Idempotency-Key header, or null if the header is not sent
     * @param body request body exactly as sent, or null if there is none
     */
    public record Input(long timestamp, String method, String target, String onBehalfOf, String idempotencyKey,
            byte[] body) {
    }

    /** Returns the string that is signed for a partner request: seven lines. */
    public static String linesToSign(Input input) {
        var body = input.body() == null ? new byte[0] : input.body();
        return String.join("\n", "VFN1", Long.toString(input.timestamp()), input.method().toUpperCase(Locale.ROOT),
                input.target(), orEmpty(input.onBehalfOf()), orEmpty(input.idempotencyKey()),
                HexFormat.of().formatHex(sha256(body)));
    }

    /**
     * Returns the value of the x-signature header.
     *
     * @param secret secret of the key, {@code VFN_SK_…}; it is never sent
     */
    public static String sign(String secret, Input input) {
        var key = secret.getBytes(StandardCharsets.UTF_8);
        return "v1=" + HexFormat.of().formatHex(hmacSha256(key, linesToSign(input).getBytes(StandardCharsets.UTF_8)));
    }

    static byte[] hmacSha256(byte[] key, byte[]... parts) {
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            for (var part : parts) mac.update(part);
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            // Every Java platform has to provide HmacSHA256.
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String orEmpty(String text) {
        return text == null ? "" : text;
    }
}
