"""Tests of signing and webhook verification with the vectors that all SDKs share."""

import json
import unittest
from pathlib import Path

from attestry import (
    AttestryConfigurationError,
    WebhookVerificationError,
    lines_to_sign,
    sign,
    sign_webhook,
    verify_webhook,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors.json").read_text(encoding="utf-8"))
REASONS = {"header": "header is missing", "timestamp": "webhook-timestamp header", "signature": "No signature"}


class VectorTest(unittest.TestCase):
    def test_requests(self):
        self.assertGreaterEqual(len(VECTORS["requests"]), 10)
        for vector in VECTORS["requests"]:
            with self.subTest(vector["name"]):
                parts = (
                    vector["timestamp"],
                    vector["method"],
                    vector["target"],
                    vector["body"].encode(),
                    vector["on_behalf_of"],
                    vector["idempotency_key"],
                )
                self.assertEqual(lines_to_sign(*parts), vector["lines"])
                self.assertEqual(sign(vector["secret"], *parts), vector["signature"])

    def test_webhooks(self):
        self.assertGreaterEqual(len(VECTORS["webhooks"]), 20)
        for vector in VECTORS["webhooks"]:
            with self.subTest(vector["name"]):
                arguments = (vector["body"].encode(), vector["headers"], vector["secret"])
                if vector["valid"]:
                    event = verify_webhook(*arguments, now=vector["now"])
                    self.assertEqual(event, json.loads(vector["body"]))
                else:
                    with self.assertRaisesRegex(WebhookVerificationError, REASONS[vector["reason"]]):
                        verify_webhook(*arguments, now=vector["now"])

    def test_signed_webhook_can_be_verified(self):
        secret = VECTORS["webhooks"][0]["secret"]
        headers = sign_webhook('{"type":"webhook.test"}', id="EV_1", secret=secret)
        self.assertEqual(verify_webhook('{"type":"webhook.test"}', headers, secret), {"type": "webhook.test"})

    def test_unusable_webhook_secrets(self):
        headers = VECTORS["webhooks"][0]["headers"]
        now = VECTORS["webhooks"][0]["now"]
        for secret in ("", "whsec_", "whsec_%%"):
            with self.assertRaises(AttestryConfigurationError):
                verify_webhook("{}", headers, secret, now=now)


if __name__ == "__main__":
    unittest.main()
