"""Tests of retries, lists, errors and configuration, against a server with prepared replies."""

import json
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from unittest import mock

from attestry import AttestryClient, AttestryConfigurationError, AttestryConnectionError, AttestryError

RATE_LIMITED = {"success": False, "error": {"code": "RATE_LIMITED", "message": "Too many calls.", "details": []}}
VARIABLES = ("ATTESTRY_URL", "ATTESTRY_KEY_ID", "ATTESTRY_SECRET", "ATTESTRY_SESSION_KEY", "ADMIN_API_KEY")


class Handler(BaseHTTPRequestHandler):
    def _reply(self):
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.calls.append((self.command, self.path, headers, self.rfile.read(length).decode()))
        replies = self.server.replies
        status, headers, body = replies[min(len(self.server.calls), len(replies)) - 1]
        if status == 0:
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        content = json.dumps(body).encode()
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = _reply

    def log_message(self, *arguments):
        pass


def reply(status=200, headers=None, data=None, body=None):
    return status, headers or {}, {"success": True, "data": data} if body is None else body


class ClientTest(unittest.TestCase):
    def setUp(self):
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        patcher = mock.patch.dict(os.environ, environment, clear=True)
        patcher.start()
        self.addCleanup(patcher.stop)

    def start(self, *replies, **options):
        server = HTTPServer(("127.0.0.1", 0), Handler)
        server.replies, server.calls = replies, []
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.waits = []
        settings = {"key_id": "VFN_TEST_X", "secret": "VFN_SK_X", "sleep": self.waits.append, **options}
        return AttestryClient(self.url + "/", **settings), server.calls

    def test_unknown_option_raises_an_error_before_the_call(self):
        client, calls = self.start(reply(data={}))
        mistakes = {
            "timout": "'timout'. Did you mean 'timeout'?",
            "idempotency_key": "Pass it as an argument of the method",
            "colour": "The options of a call are on_behalf_of, headers, timeout, retries, max_wait_seconds.",
        }
        for name, expected in mistakes.items():
            for call in (client.credits.get, lambda options: client.request("GET", "/credits", options=options)):
                with self.assertRaises(AttestryConfigurationError) as raised:
                    call(options={name: 5})
                self.assertIn(expected, str(raised.exception))
        self.assertEqual(calls, [])
        client.credits.get(options={"timeout": 5, "retries": 0, "max_wait_seconds": 1, "headers": {}, "on_behalf_of": "r-1"})
        self.assertEqual(len(calls), 1)

    def test_write_sends_the_same_idempotency_key_in_every_attempt(self):
        broken, unavailable = reply(0), reply(502, body="proxy")
        client, calls = self.start(broken, unavailable, reply(data={"workflow_id": "WF_1"}))
        self.assertEqual(client.workflows.create({"name": "Site वेल्डर"}), {"workflow_id": "WF_1"})
        keys = {headers["idempotency-key"] for _, _, headers, _ in calls}
        self.assertEqual((len(calls), len(keys)), (3, 1))
        self.assertEqual(json.loads(calls[0][3]), {"name": "Site वेल्डर"})
        self.assertEqual(len(self.waits), 2)

        client, calls = self.start(reply(data={}))
        client.workflows.create({"name": "x"}, idempotency_key="mine", options={"on_behalf_of": "a@example.com"})
        self.assertEqual(calls[0][2]["idempotency-key"], "mine")
        self.assertEqual(calls[0][2]["x-on-behalf-of"], "a@example.com")

    def test_rate_limited_call_is_retried_after_the_requested_time(self):
        limited = reply(429, {"retry-after": "7"}, body=RATE_LIMITED)
        client, calls = self.start(limited, reply(data={"skills": []}))
        client.skills.look_up({"skill_ids": ["sk_1"]})
        self.assertEqual((len(calls), self.waits), (2, [7.0]))
        client, calls = self.start(reply(429, {"retry-after": "61"}, body=RATE_LIMITED))
        with self.assertRaises(AttestryError) as raised:
            client.credits.get()
        self.assertEqual((raised.exception.code, raised.exception.retry_after, len(calls)), ("RATE_LIMITED", 61, 1))

    def test_rejected_call_is_not_retried(self):
        details = [{"path": "name", "message": "is required"}]
        error = {"code": "VALIDATION_FAILED", "message": "See details.", "details": details, "doc_url": "/docs/x"}
        rejected = reply(400, {"x-request-id": "r-1"}, body={"success": False, "error": error})
        client, calls = self.start(rejected)
        with self.assertRaises(AttestryError) as raised:
            client.workflows.create({"name": ""})
        caught = raised.exception
        self.assertEqual((caught.status, caught.code, caught.details), (400, "VALIDATION_FAILED", details))
        self.assertEqual((caught.request_id, caught.doc_url, len(calls)), ("r-1", "/docs/x", 1))
        self.assertIn("name: is required", str(caught))
        client, calls = self.start(reply(502, body="proxy"))
        with self.assertRaises(AttestryError):
            client.call("POST", "/workflows", {})
        self.assertEqual(len(calls), 1)

    def test_lists_fetch_pages_as_needed(self):
        client, calls = self.start(
            reply(data={"items": [1, 2], "next_cursor": "a b"}), reply(data={"items": [3], "next_cursor": None})
        )
        self.assertEqual(list(client.mandates.list(status="ready", limit=2)), [1, 2, 3])
        paths = [path for _, path, _, _ in calls]
        self.assertEqual(paths[0], "/api/v1/partner/mandates?status=ready&limit=2")
        self.assertEqual(paths[1], "/api/v1/partner/mandates?status=ready&limit=2&cursor=a%20b")
        client, calls = self.start(
            reply(body={"data": ["a", "b"], "page": 1, "limit": 2, "count": 3}),
            reply(body={"data": ["c"], "page": 2, "limit": 2, "count": 3}),
        )
        self.assertEqual(list(client.catalogue.search_skills(keyword="weld")), ["a", "b", "c"])
        self.assertEqual([path for _, path, _, _ in calls][1], "/api/skills/search?keyword=weld&page=2")
        self.assertNotIn("x-api-key", calls[0][2])
        client, calls = self.start(reply(data={"items": [1], "next_cursor": "more"}))
        self.assertEqual(next(iter(client.list("/mandates?limit=1"))), 1)
        self.assertEqual(client.mandates.list().first_page()["next_cursor"], "more")
        self.assertEqual(len(calls), 2)

    def test_other_apis_send_their_own_keys(self):
        client, calls = self.start(reply(data={}), session_key="VSK_TEST_X")
        client.sessions.open({"externalStudentId": "s-1", "name": "S", "email": "s@example.com"})
        client.assessments.generate("vst_1")
        self.assertEqual(calls[0][2]["x-api-key"], "VSK_TEST_X")
        self.assertEqual(calls[1][2]["x-session-token"], "vst_1")
        self.assertNotIn("x-signature", calls[0][2])

    def test_configuration_errors_name_the_value_and_its_source(self):
        for arguments, text in (
            ({}, "base_url is missing.*ATTESTRY_URL"),
            ({"base_url": "example.com"}, "base_url .* must be an http or https URL"),
            ({"base_url": "http://x", "key_id": "VFN_TEST_X"}, "secret is missing.*ATTESTRY_SECRET"),
            ({"base_url": "http://x", "key_id": "VFN_TEST_…", "secret": "s"}, "key_id contains \"…\""),
            ({"base_url": "http://x", "key_id": "VSK_TEST_X", "secret": "s"}, "key_id .* must be a key ID"),
            ({"base_url": "http://x", "session_key": "VFN_TEST_X"}, "session_key .* must be a session key"),
        ):
            with self.subTest(text), self.assertRaisesRegex(AttestryConfigurationError, text):
                AttestryClient(**arguments)
        with self.assertRaisesRegex(AttestryConfigurationError, "session_key is missing.*ATTESTRY_SESSION_KEY"):
            AttestryClient("http://x").verifications.get("SV_1")
        with self.assertRaisesRegex(AttestryConfigurationError, "mandate_id must be a non-empty string"):
            AttestryClient("http://x").mandates.get("")
        os.environ.update(ATTESTRY_URL="http://y", ATTESTRY_KEY_ID="VFN_TEST_X", ATTESTRY_SECRET="VFN_SK_X")
        AttestryClient()

    def test_unreachable_server_is_a_connection_error(self):
        client = AttestryClient("http://127.0.0.1:1", "VFN_TEST_X", "VFN_SK_X", retries=0)
        with self.assertRaisesRegex(AttestryConnectionError, "No response from http://127.0.0.1:1 .*running"):
            client.shifts.list().first_page()


if __name__ == "__main__":
    unittest.main()
