package io.github.attestry;

/** Thrown for a delivery that is not authentic, too old or malformed. Respond to it with status 401. */
public final class WebhookVerificationException extends AttestryException {
    public WebhookVerificationException(String message) {
        super(message);
    }
}
