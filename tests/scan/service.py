"""Scanners on loopback that implement the vendors' documented APIs, and misbehave on request."""

from __future__ import annotations

import contextlib
import json
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "AKIA" + "Q3EGHTNZ7WLEEXAB"  # in the format of an AWS key, but not a real one


def airs(body):
    """https://pan.dev/prisma-airs/api/airuntimesecurity/scan/scan-sync-request/"""
    (content,) = body["contents"]
    assert set(body["ai_profile"]) & {"profile_name", "profile_id"}
    side, text = next(
        (side, content[side]) for side in ("prompt", "response", "code_prompt", "code_response", "tool_event") if side in content
    )
    if side == "tool_event":
        text = text.get("input", "") + text.get("output", "")
    part = "response" if "response" in side else "prompt"
    answer = {
        "report_id": "R-1", "scan_id": "S-1", "profile_id": "P-1", "profile_name": "dev", "category": "benign", "action": "allow",
        f"{part}_detected": {"dlp": False, "injection": False, "url_cats": False}, "timeout": False, "error": False, "errors": [],
    }  # fmt: skip
    if SECRET in text:
        at = text.index(SECRET)
        answer[f"{part}_detected"]["dlp"] = True
        masked = {
            "data": text.replace(SECRET, "X" * len(SECRET)),
            "pattern_detections": [{"pattern": "AWS", "locations": [[at, at + len(SECRET)]]}],
        }
        answer |= {"category": "malicious", "action": "block", f"{part}_masked_data": masked}
    if "ignore all previous" in text.lower():
        answer[f"{part}_detected"]["injection"] = True
        answer |= {"category": "malicious", "action": "block"}
    return answer


def lakera(body):
    """https://docs.lakera.ai/docs/api/guard"""
    (message,) = body["messages"]
    text = message["content"]
    found = []
    if SECRET in text:
        at = text.index(SECRET)
        found.append({"detector_type": "pii/aws_key", "start": at, "end": at + len(SECRET), "text": SECRET, "labels": [], "message_id": 0})
    attack = "ignore all previous" in text.lower()
    breakdown = [
        {"project_id": "p", "policy_id": "q", "detector_id": "d1", "detector_type": "prompt_attack", "detected": attack, "message_id": 0},
        {
            "project_id": "p",
            "policy_id": "q",
            "detector_id": "d2",
            "detector_type": "pii/aws_key",
            "detected": bool(found),
            "message_id": 0,
        },
    ]
    return {"flagged": attack or bool(found), "payload": found, "breakdown": breakdown, "metadata": {"request_uuid": "U-1"}}


def moderation(body):
    """https://platform.openai.com/docs/api-reference/moderations"""
    violent = "kill" in body["input"]
    scores = {"violence": 0.9 if violent else 0.01, "hate": 0.2}
    return {
        "id": "modr-1",
        "model": body["model"],
        "results": [{"flagged": violent, "categories": {"violence": violent, "hate": False}, "category_scores": scores}],
    }


def judge(body):
    """https://platform.openai.com/docs/api-reference/chat"""
    system, user = body["messages"]
    assert system["role"] == "system" and user["role"] == "user" and body["response_format"] == {"type": "json_object"}
    found = [{"category": "credential", "quote": SECRET}] if SECRET in user["content"] else []
    if "ignore all previous" in user["content"].lower():
        found.append({"category": "prompt_injection", "quote": ""})
    text = json.dumps({"found": found})
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"], "choices": [choice]}


def own(body):
    """A user's own scanner, for the backend `http`."""
    text = body["doc"]["content"]
    hits = [{"rule": "aws", "match": SECRET}] if SECRET in text else []
    return {"request": "O-1", "result": {"hits": hits, "labels": {"attack": 0.9 if "ignore all previous" in text.lower() else 0.1}}}


APIS = {
    "airs": ("/v1/scan/sync/request", "x-pan-token", "KEY", airs),
    "lakera": ("/v2/guard", "authorization", "Bearer KEY", lakera),
    "moderation": ("/moderations", "authorization", "Bearer KEY", moderation),
    "judge": ("/chat/completions", "authorization", "Bearer KEY", judge),
    "http": ("/check", "x-key", "KEY", own),
}
OPTIONS = {
    "airs": {"profile": "dev"},
    "judge": {"model": "m"},
    "http": {
        "headers": {"X-Key": "${key}"},
        "body": {"doc": {"content": "{text}", "kind": "{kind}"}},
        "findings": "result.hits[]",
        "category": "rule",
        "text": "match",
        "id": "request",
    },
}


class Service:
    """One scanner. `script`: what the next requests get instead of an answer, each once; `forever`: what all other requests get.

    A number is a status; "slow", "drip", "cut", "html", "list" and "close" are other kinds of failure.
    """

    def __init__(self, name, delay=0.0, tls=None):
        self.name, self.delay = name, delay
        self.path, self.header, self.key, self.answer = APIS[name]
        self.script, self.forever, self.retry_after = [], None, 0
        self.requests, self.bodies, self.released = [], [], threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                service.serve(self)

            def do_CONNECT(self):
                self.send_error(405)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme, host = ("https", "localhost") if tls else ("http", "127.0.0.1")
        self.url = f"{scheme}://{host}:{self.server.server_port}" + (self.path if name == "http" else "")
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def serve(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.requests.append((request.path, dict(request.headers)))
        self.bodies.append(json.loads(body))
        fate = self.script.pop(0) if self.script else self.forever
        if fate == "slow":
            self.released.wait(30)
        with contextlib.suppress(OSError):
            self.reply(request, fate, json.loads(body))

    def reply(self, request, fate, body):
        time.sleep(self.delay)
        if fate == "close":
            request.close_connection = True
            return
        status, data = 200, b""
        if isinstance(fate, int):
            status, data = fate, json.dumps({"error": {"message": f"your key was {self.key}"}}).encode()
        elif request.path != self.path or request.headers.get(self.header) != self.key:
            status, data = 401, b"{}"
        elif fate == "html":
            data = b"<html>502</html>"
        elif fate == "list":
            data = b"[1, 2]"
        else:
            data = json.dumps(self.answer(body)).encode()
        request.send_response(status)
        if status == 429:
            request.send_header("Retry-After", str(self.retry_after))
        request.send_header("Content-Type", "application/json")
        if fate == "chunked":
            request.send_header("Transfer-Encoding", "chunked")
            data = (
                b"".join(b"%x;x=y\r\n%s\r\n" % (len(data[at : at + 7]), data[at : at + 7]) for at in range(0, len(data), 7)) + b"0\r\n\r\n"
            )
            request.close_connection = True
        else:
            request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        if fate == "cut":
            request.wfile.write(data[: len(data) // 2])
            request.close_connection = True
        elif fate == "drip":
            for byte in data:
                request.wfile.write(bytes([byte]))
                if self.released.wait(0.2):
                    return
        else:
            request.wfile.write(data)


@contextlib.contextmanager
def service(name, **options):
    running = Service(name, **options)
    try:
        yield running
    finally:
        running.close()


def certificate(folder, name="localhost"):
    """A self-signed certificate, and its key."""
    files = (str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-out", files[0], "-keyout", files[1]]
    subprocess.run([*words, *names], check=True, capture_output=True)
    return files
