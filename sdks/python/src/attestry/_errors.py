"""Errors of calls."""

from typing import Any, List, Mapping, Optional

from .types import ErrorDetail


class AttestryError(Exception):
    """An error response of the API."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        error = _read_error(body)
        self.status = status
        """HTTP status."""
        self.code: Optional[str] = error.get("code")
        """Error code such as `VALIDATION_FAILED`; None if the response comes from a proxy or the catalogue API."""
        self.message: str = error.get("message") or f"The server returned status {status}"
        self.details: List[ErrorDetail] = error.get("details") or []
        """Validation errors, each with a `path` and a `message`."""
        self.retry_after: Optional[float] = _seconds(headers.get("retry-after"))
        """Seconds to wait before retrying, if the response contains them."""
        self.request_id: Optional[str] = headers.get("x-request-id") or error.get("request_id")
        """ID of the request. Include it when you report a problem, so that the operator can find the call in the log."""
        self.doc_url: Optional[str] = error.get("doc_url")
        """Address of the documentation of the error, if the response contains it."""
        super().__init__(self._text())

    def _text(self) -> str:
        details = "".join(f"\n  {detail['path']}: {detail['message']}" for detail in self.details)
        code = f" {self.code}" if self.code else ""
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status}{code}: {self.message}{request}{details}"


class AttestryConnectionError(Exception):
    """No response was received: the server could not be reached, or the connection broke."""

    def __init__(self, base_url: str, reason: object) -> None:
        super().__init__(
            f"No response from {base_url} ({reason}): check that base_url is correct, that the server is running and that "
            "this machine can reach it."
        )


def _read_error(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    if isinstance(error, dict):
        return error
    return {**body, "message": error or body.get("message")}


def _seconds(header: Optional[str]) -> Optional[float]:
    try:
        return None if header is None else float(header)
    except ValueError:
        return None
