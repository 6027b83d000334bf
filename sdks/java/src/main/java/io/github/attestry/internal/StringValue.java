package io.github.attestry.internal;

/**
 * A record with one string, written to JSON as this string: the values of an enum of the API. A Java enum would reject
 * values that the server adds later. Not part of the public API.
 */
public interface StringValue {
    String value();
}
