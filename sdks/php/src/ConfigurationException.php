<?php

declare(strict_types=1);

namespace Attestry;

/** Thrown if a configuration value is missing or malformed. */
final class ConfigurationException extends AttestryException
{
}
