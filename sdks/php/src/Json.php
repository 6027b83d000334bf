<?php

declare(strict_types=1);

namespace Attestry;

/** @internal Helps the generated classes to write JSON. */
final class Json
{
    /**
     * Returns an object without the fields that are null.
     *
     * @param array<string, mixed> $fields
     */
    public static function object(array $fields): object
    {
        return (object) array_filter($fields, static fn (mixed $value): bool => $value !== null);
    }

    /**
     * Returns a map as an object, so that an empty map is written as `{}`.
     *
     * @param array<string, mixed>|null $values
     */
    public static function map(?array $values): ?object
    {
        return $values === null ? null : (object) $values;
    }
}
