"""Client of the three APIs."""

import http.client
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, TypeVar, cast
from urllib.parse import urlsplit

from ._configuration import Configuration
from ._errors import AttestryConnectionError, AttestryError
from ._pages import Pages
from ._resources import Resources
from ._signing import sign
from ._transport import CallOptions, Operation, Transport, check_options, with_query

T = TypeVar("T")

_PARTNER_API_PATH = "/api/v1/partner"
# Methods that can be retried safely: a second call changes nothing.
_IDEMPOTENT_METHODS = ("GET", "HEAD", "PUT", "DELETE")
_DEFAULT_RETRIES = 3
_DEFAULT_MAX_WAIT_SECONDS = 60.0
_DEFAULT_TIMEOUT_SECONDS = 60.0
_FIRST_RETRY_DELAY_SECONDS = 0.5


class Response(NamedTuple):
    """Response of a single request."""

    status: int
    headers: Mapping[str, str]
    """Headers with names in lower case."""
    body: Any


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # The signature covers the path, so that a redirected request would fail; the redirect is returned instead.
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class AttestryClient(Resources, Transport):
    """Client of the three APIs of a server.

    Each resource has typed methods: `client.mandates.create(...)`. Keys that are not passed are read from the environment; a
    call whose key is missing raises an error that names it.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        key_id: Optional[str] = None,
        secret: Optional[str] = None,
        *,
        session_key: Optional[str] = None,
        admin_key: Optional[str] = None,
        on_behalf_of: Optional[str] = None,
        timeout: float = _DEFAULT_TIMEOUT_SECONDS,
        retries: int = _DEFAULT_RETRIES,
        max_wait_seconds: float = _DEFAULT_MAX_WAIT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        values = {"base_url": base_url, "key_id": key_id, "secret": secret}
        self._configuration = Configuration({**values, "session_key": session_key, "admin_key": admin_key})
        self._base_url = self._configuration.require("base_url").rstrip("/")
        # A key without its secret is a mistake that should be found before the first call.
        if self._configuration.has("key_id") or self._configuration.has("secret"):
            self._configuration.require("key_id")
            self._configuration.require("secret")
        self._on_behalf_of = on_behalf_of
        self._timeout = timeout
        self._retries = retries
        self._max_wait_seconds = max_wait_seconds
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)
        super().__init__(self)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
        options: Optional[CallOptions] = None,
    ) -> Any:
        """Make a call to the partner API and return its `data`.

        The methods of the resources are typed and create an idempotency key; use this one for operations that this version of
        the package does not have. A POST without an idempotency key is retried only if the server rejected it without any
        effect.
        """
        operation = Operation(
            method.upper(), _absolute(path), "signature", body=body, idempotency_key=idempotency_key
        )
        return self.send(operation, options)

    def list(self, path: str, *, options: Optional[CallOptions] = None) -> "Pages[Any, Any]":
        """Iterate over the items of a list of the partner API. `path` may contain filters and a `limit`, the page size."""

        def fetch(query: Dict[str, Any]) -> Any:
            separator = "&" if "?" in path else "?"
            addition = with_query("", query).replace("?", separator, 1)
            return self.call("GET", path + addition, options=options)

        return Pages(fetch)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
        options: Optional[CallOptions] = None,
    ) -> Response:
        """Send one signed request to the partner API and return the response, whatever its status; no retries."""
        operation = Operation(
            method.upper(), _absolute(path), "signature", body=body, idempotency_key=idempotency_key
        )
        return self._exchange(operation, check_options(options))

    def send(self, operation: Operation, options: Optional[CallOptions] = None) -> Any:
        """Send an operation of a resource, with retries. All attempts have the same idempotency key."""
        call_options = check_options(options)
        if operation.accepts_idempotency_key and operation.idempotency_key is None:
            operation = operation._replace(idempotency_key=str(uuid.uuid4()))
        retryable = operation.method in _IDEMPOTENT_METHODS or operation.idempotency_key is not None

        def attempt() -> Any:
            response = self._exchange(operation, call_options)
            if not 200 <= response.status <= 299:
                raise AttestryError(response.status, response.headers, response.body)
            return response.body if operation.whole_body else response.body["data"]

        return self._with_retries(attempt, retryable, call_options)

    def _with_retries(self, attempt: Callable[[], T], retryable: bool, options: CallOptions) -> T:
        """Retry a call if that is useful and safe.

        A response with `Retry-After` had no effect, so any call can be retried after that time. After other failures, the call
        may have had an effect, so it is retried only if it is `retryable`.
        """
        retry = 0
        while True:
            try:
                return attempt()
            except (AttestryError, AttestryConnectionError) as error:
                delay = _retry_delay(error, retryable, retry)
                max_wait = options.get("max_wait_seconds", self._max_wait_seconds)
                if delay is None or delay > max_wait or retry >= options.get("retries", self._retries):
                    raise
            self._sleep(delay)
            retry += 1

    def _exchange(self, operation: Operation, options: CallOptions) -> Response:
        target = with_query(operation.path, operation.query)
        url = self._base_url + target
        body = b"" if operation.body is None else json.dumps(operation.body, ensure_ascii=False).encode()
        headers = {"accept": "application/json", **options.get("headers", {})}
        if operation.body is not None:
            headers["content-type"] = "application/json"
        headers.update(self._credentials(operation, url, body, options))
        request = urllib.request.Request(url, method=operation.method, headers=headers)
        if operation.body is not None:
            request.data = body
        try:
            with self._opener.open(request, timeout=options.get("timeout", self._timeout)) as response:
                return _read_response(response.status, response)
        except urllib.error.HTTPError as error:
            with error:
                return _read_response(error.code, error)
        except urllib.error.URLError as error:
            raise AttestryConnectionError(self._base_url, error.reason) from error
        except (OSError, http.client.HTTPException) as error:
            raise AttestryConnectionError(self._base_url, error) from error

    def _credentials(
        self, operation: Operation, url: str, body: bytes, options: CallOptions
    ) -> Dict[str, str]:
        """Return the headers that authenticate a request."""
        if operation.auth == "sessionToken":
            return {"x-session-token": operation.session_token or ""}
        if operation.auth in ("sessionKey", "adminKey"):
            name = "session_key" if operation.auth == "sessionKey" else "admin_key"
            return {"x-api-key": self._configuration.require(name)}
        if operation.auth != "signature":
            return {}
        key_id = self._configuration.require("key_id")
        secret = self._configuration.require("secret")
        timestamp = int(time.time())
        on_behalf_of = options.get("on_behalf_of", self._on_behalf_of) or ""
        idempotency_key = operation.idempotency_key or ""
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        headers = {
            "x-api-key": key_id,
            "x-timestamp": str(timestamp),
            "x-signature": sign(
                secret, timestamp, operation.method, target, body, on_behalf_of, idempotency_key
            ),
        }
        if on_behalf_of:
            headers["x-on-behalf-of"] = on_behalf_of
        if idempotency_key:
            headers["idempotency-key"] = idempotency_key
        return headers


def _absolute(path: str) -> str:
    return path if path.startswith("/api/") else _PARTNER_API_PATH + path


def _retry_delay(error: Exception, retryable: bool, retry: int) -> Optional[float]:
    if isinstance(error, AttestryError):
        if error.retry_after is not None:
            return error.retry_after
        if error.status < 500:
            return None
    # Exponential backoff with jitter, so that many clients do not retry at the same moment.
    return _FIRST_RETRY_DELAY_SECONDS * 2**retry * (0.5 + random.random() / 2) if retryable else None


def _read_response(status: int, response: Any) -> Response:
    text = cast(bytes, response.read()).decode("utf-8", "replace")
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        return Response(status, headers, json.loads(text))
    except ValueError:
        return Response(status, headers, text)
