"""Configuration of a client, from arguments and environment variables."""

import os
import re
from typing import Dict, Mapping, NamedTuple, Optional


class AttestryConfigurationError(ValueError):
    """A value of the configuration is missing or unusable."""


class _Setting(NamedTuple):
    variable: str
    source: str
    pattern: str
    format: str


_SETTINGS: Dict[str, _Setting] = {
    "base_url": _Setting(
        "ATTESTRY_URL",
        "the address that `npm start` prints, such as http://127.0.0.1:8080",
        r"https?://.",
        "an http or https URL",
    ),
    "key_id": _Setting(
        "ATTESTRY_KEY_ID",
        "`npm start` prints a demo TEST key; the operator creates others with `attestry key create`",
        r"VFN_(?!SK_)",
        "a key ID that starts with VFN_TEST_ or VFN_LIVE_",
    ),
    "secret": _Setting(
        "ATTESTRY_SECRET",
        "the secret (VFN_SK_…) is printed once, together with its key ID",
        r"(?!VFN_TEST_|VFN_LIVE_|VSK_|whsec_)",
        "the secret of the key, which starts with VFN_SK_",
    ),
    "session_key": _Setting(
        "ATTESTRY_SESSION_KEY",
        "the operator creates a session key (VSK_…) with `attestry key create --kind session`",
        r"VSK_",
        "a session key that starts with VSK_TEST_ or VSK_LIVE_",
    ),
    "admin_key": _Setting("ADMIN_API_KEY", "the server of the operator has it in ADMIN_API_KEY", r"", "the admin key"),
}


class Configuration:
    """Values of the configuration; reading a missing one raises an error that says where to get it."""

    def __init__(self, values: Mapping[str, Optional[str]]) -> None:
        self._values: Dict[str, str] = {}
        for name, setting in _SETTINGS.items():
            value = values.get(name)
            if value is None:
                value = os.environ.get(setting.variable)
            if value:
                self._values[name] = _checked(name, setting, value)

    def has(self, name: str) -> bool:
        return name in self._values

    def require(self, name: str) -> str:
        if name in self._values:
            return self._values[name]
        setting = _SETTINGS[name]
        raise AttestryConfigurationError(
            f"{name} is missing: pass it to AttestryClient({name}=...) or set the environment variable "
            f"{setting.variable}. Where to get it: {setting.source}."
        )


def _checked(name: str, setting: _Setting, value: str) -> str:
    # Values are sent in headers, which are ASCII; "…" is the usual sign of a placeholder in documentation.
    if "…" in value:
        raise AttestryConfigurationError(
            f'{name} contains "…": replace the placeholder with the real value ({setting.source}).'
        )
    if not re.fullmatch(r"[!-~]+", value):
        raise AttestryConfigurationError(
            f"{name} contains a space or a character that is not ASCII: copy the value again."
        )
    if not re.match(setting.pattern, value):
        raise AttestryConfigurationError(f"{name} (or {setting.variable}) must be {setting.format}.")
    return value
