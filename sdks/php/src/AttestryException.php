<?php

declare(strict_types=1);

namespace Attestry;

/** Base class of all exceptions of this package. */
class AttestryException extends \RuntimeException
{
}
