"""Signatures of requests to the partner API."""

import hashlib
import hmac


def lines_to_sign(
    timestamp: int,
    method: str,
    target: str,
    body: bytes = b"",
    on_behalf_of: str = "",
    idempotency_key: str = "",
) -> str:
    """Return the string that is signed for a partner request: seven lines.

    `target` is the path with the query exactly as sent, such as `/api/v1/partner/skills?limit=10`, and `body` the request body
    exactly as sent.
    """
    digest = hashlib.sha256(body).hexdigest()
    return "\n".join(["VFN1", str(timestamp), method.upper(), target, on_behalf_of, idempotency_key, digest])


def sign(
    secret: str,
    timestamp: int,
    method: str,
    target: str,
    body: bytes = b"",
    on_behalf_of: str = "",
    idempotency_key: str = "",
) -> str:
    """Return the value of the `x-signature` header."""
    lines = lines_to_sign(timestamp, method, target, body, on_behalf_of, idempotency_key)
    return "v1=" + hmac.new(secret.encode(), lines.encode(), hashlib.sha256).hexdigest()
