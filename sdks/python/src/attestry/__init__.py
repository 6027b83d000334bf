"""Client of the Attestry APIs: typed resources, signed requests, retries, lists and webhook verification."""

from ._client import AttestryClient, Response
from ._configuration import AttestryConfigurationError
from ._errors import AttestryConnectionError, AttestryError
from ._pages import Pages
from ._signing import lines_to_sign, sign
from ._transport import CallOptions
from ._webhooks import WebhookVerificationError, sign_webhook, verify_webhook

__version__ = "0.2.0"

__all__ = [
    "AttestryClient",
    "AttestryConfigurationError",
    "AttestryConnectionError",
    "AttestryError",
    "CallOptions",
    "Pages",
    "Response",
    "WebhookVerificationError",
    "lines_to_sign",
    "sign",
    "sign_webhook",
    "verify_webhook",
]
