<?php

declare(strict_types=1);

namespace Attestry;

/** Thrown if no response was received. */
final class ConnectionException extends AttestryException
{
}
