<?php

declare(strict_types=1);

namespace Attestry;

/** @internal How an operation is authenticated. */
enum Authentication
{
    case None;
    case Partner;
    case SessionKey;
    case SessionToken;
    case Admin;
}
