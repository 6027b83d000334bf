<?php

declare(strict_types=1);

// Loads the classes of this package for programs that do not use Composer.
spl_autoload_register(static function (string $class): void {
    if (!str_starts_with($class, 'Attestry\\')) {
        return;
    }
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, strlen('Attestry\\'))) . '.php';
    if (is_file($file)) {
        require $file;
    }
});
