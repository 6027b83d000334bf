package io.github.attestry;

/** Thrown if no response was received. */
public final class ConnectionException extends AttestryException {
    public ConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}
