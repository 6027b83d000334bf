package io.github.attestry;

/** Thrown if a configuration value is missing or malformed. */
public final class ConfigurationException extends AttestryException {
    public ConfigurationException(String message) {
        super(message);
    }
}
