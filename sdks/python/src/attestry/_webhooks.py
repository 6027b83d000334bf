"""Signatures of webhooks."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Dict, Mapping, Optional, Union, cast

from ._configuration import AttestryConfigurationError
from .types import WebhookEvent

DEFAULT_TOLERANCE_SECONDS = 300


class WebhookVerificationError(Exception):
    """A delivery is not authentic or too old."""


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Verify that a delivery was signed with the endpoint's secret (`whsec_…`) and is recent, and return its event.

    `body` must be the request body exactly as received: verification fails if it was parsed and serialised again. `tolerance` is
    the maximum difference in seconds between the timestamp of the delivery and the current time.
    """
    received = {name.lower(): value for name, value in headers.items()}
    delivery_id = received.get("webhook-id")
    timestamp = received.get("webhook-timestamp")
    signatures = received.get("webhook-signature")
    if not delivery_id or not timestamp or not signatures:
        raise WebhookVerificationError("The webhook-id, webhook-timestamp or webhook-signature header is missing")
    current_time = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]+", timestamp) or abs(current_time - int(timestamp)) > tolerance:
        raise WebhookVerificationError(
            f"The webhook-timestamp header differs from the current time by more than {tolerance} s"
        )
    content = body.encode() if isinstance(body, str) else body
    expected = _signature(delivery_id, timestamp, content, secret).encode()
    # For a day after a rotation, deliveries carry two signatures, one for each secret; one valid one is enough.
    matches = [hmac.compare_digest(expected, signature.encode()) for signature in signatures.split(" ")]
    if not any(matches):
        raise WebhookVerificationError(
            "No signature in the webhook-signature header matches the secret and the body"
        )
    return cast(WebhookEvent, json.loads(content))


def sign_webhook(
    body: Union[bytes, str], *, id: str, secret: str, timestamp: Optional[int] = None
) -> Dict[str, str]:
    """Return the headers of a delivery, for tests of a receiver."""
    sent_at = str(int(time.time()) if timestamp is None else timestamp)
    content = body.encode() if isinstance(body, str) else body
    return {
        "webhook-id": id,
        "webhook-timestamp": sent_at,
        "webhook-signature": _signature(id, sent_at, content, secret),
    }


def _signature(delivery_id: str, timestamp: str, body: bytes, secret: str) -> str:
    message = f"{delivery_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(_hmac_key(secret), message, hashlib.sha256).digest()).decode()


def _hmac_key(secret: str) -> bytes:
    if not secret:
        raise AttestryConfigurationError(
            "The webhook secret is missing: pass the secret (whsec_…) that was returned when you created the endpoint or "
            "rotated its secret."
        )
    encoded = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise AttestryConfigurationError("A webhook secret is whsec_ followed by base64.")
    return key
