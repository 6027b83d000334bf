package io.github.attestry.internal;

/** Checks required values of builders. Not part of the public API. */
public final class Required {
    private Required() {
    }

    /** Returns the value, or throws an exception that names it if it is null. */
    public static <T> T value(T value, String name) {
        if (value == null) throw new IllegalStateException(name + " is required. Set it before build().");
        return value;
    }
}
