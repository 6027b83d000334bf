package io.github.attestry;

/** Base class of all exceptions of this library. */
public class AttestryException extends RuntimeException {
    public AttestryException(String message) {
        super(message);
    }

    public AttestryException(String message, Throwable cause) {
        super(message, cause);
    }
}
