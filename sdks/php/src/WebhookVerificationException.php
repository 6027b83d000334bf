<?php

declare(strict_types=1);

namespace Attestry;

/** Thrown for a delivery that is not authentic, too old or malformed. Respond to it with status 401. */
final class WebhookVerificationException extends AttestryException
{
}
