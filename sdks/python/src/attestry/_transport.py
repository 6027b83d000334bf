"""Interface between the generated resources and the client."""

import difflib
import json
from typing import Any, Dict, NamedTuple, Optional, TypedDict
from urllib.parse import quote

from ._configuration import AttestryConfigurationError


class CallOptions(TypedDict, total=False):
    """Options of a call of any resource."""

    on_behalf_of: str
    """Recruiter on whose behalf the call is made."""
    headers: Dict[str, str]
    """Additional request headers."""
    timeout: float
    """Seconds to wait for the server. Default: 60, or that of the client."""
    retries: int
    """Maximum number of retries. Default: 3, or that of the client."""
    max_wait_seconds: float
    """Maximum number of seconds to wait before one retry. Default: 60, or that of the client."""


class Operation(NamedTuple):
    """One operation of an API, as the generated resources describe it."""

    method: str
    path: str
    auth: str
    query: Optional[Dict[str, Any]] = None
    body: Any = None
    session_token: Optional[str] = None
    accepts_idempotency_key: bool = False
    idempotency_key: Optional[str] = None
    whole_body: bool = False


class Transport:
    """Sends the operations of the resources."""

    def send(self, operation: Operation, options: Optional[CallOptions] = None) -> Any:
        raise NotImplementedError


def check_options(options: Optional[CallOptions]) -> CallOptions:
    """Return the options of a call; reject unknown ones, which would have no effect."""
    names = list(CallOptions.__annotations__)
    for name in options or {}:
        if name in names:
            continue
        similar = difflib.get_close_matches(str(name), names, n=1)
        if name == "idempotency_key":
            hint = "Pass it as an argument of the method: idempotency_key=..."
        elif similar:
            hint = f"Did you mean {similar[0]!r}?"
        else:
            hint = f"The options of a call are {', '.join(names)}."
        raise AttestryConfigurationError(f"options has the unknown key {name!r}. {hint}")
    return options or {}


def path_segment(name: str, value: str) -> str:
    """Encode a path parameter; reject values that would call another path."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise AttestryConfigurationError(f"{name} must be a non-empty string; got {value!r}.")
    return quote(value, safe="")


def with_query(path: str, query: Optional[Dict[str, Any]]) -> str:
    """Append query parameters to a path, without those that are None."""
    parameters = [
        f"{quote(name, safe='')}={quote(_query_value(value), safe='')}"
        for name, value in (query or {}).items()
        if value is not None
    ]
    return f"{path}?{'&'.join(parameters)}" if parameters else path


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)
