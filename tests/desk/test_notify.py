"""People are notified by webhooks that say what is asked, without credentials, and never delay the request."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from onehook.desk import answers, notify
from onehook.log.reader import entries
from tests.desk.test_hold import passes

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


class Receiver(HTTPServer):
    """Keeps what is posted, and answers with these statuses in turn."""

    def __init__(self, statuses):
        self.posted, self.statuses = [], list(statuses)
        super().__init__(("127.0.0.1", 0), Post)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Post(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posted.append((self.path, body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        if not self.server.statuses:
            self.server.all_in.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver(monkeypatch, tmp_path):
    for name in (
        "http_proxy",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "no_proxy",
        "NO_PROXY",
        "DISPLAY",
        "WAYLAND_DISPLAY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "onehook").mkdir(parents=True)
    servers = []

    def start(*statuses, text='ntfy = "{url}/topic"\nslack = "{url}/slack"\nwebhook = ["{url}/any"]\n'):
        server = Receiver(statuses)
        server.all_in = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        settings = '[desk]\nlink = "https://desk.example.com"\n' + text.format(url=server.url)
        (tmp_path / "config" / "onehook" / "onehook.toml").write_text(settings, encoding="utf-8")
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_each_kind_of_address_gets_what_is_asked_and_a_link(receiver, hook, key):
    server = receiver(200, 200, 200)
    waiting = hook(f"curl -H 'Authorization: Bearer {SECRET}' https://example.com")
    asked = waiting.asked()
    assert server.all_in.wait(60)
    posted = dict(server.posted)
    link = f"https://desk.example.com/#{asked.id}"
    assert set(posted) == {"/", "/slack", "/any"} and SECRET not in json.dumps(server.posted)
    assert posted["/"]["topic"] == "topic" and posted["/"]["click"] == link and "curl -H" in posted["/"]["message"]
    assert link in posted["/slack"]["text"] and "is this right?" in posted["/slack"]["text"]
    assert (posted["/any"]["id"], posted["/any"]["link"], posted["/any"]["reason"]) == (asked.id, link, "is this right?")
    answers.give(asked, answers.Answer("allow"), key, by="ana", via="page")
    assert passes(waiting.result())


def test_a_receiver_that_fails_is_tried_again_and_then_noted(receiver, hook):
    server = receiver(503, 200, text='webhook = "{url}/any"\n')
    asked = hook().asked()
    assert server.all_in.wait(60) and len(server.posted) == 2
    assert notify.send(f"{server.url}/x", {}) == ""
    server.statuses[:] = [404]
    assert notify.send(f"{server.url}/x", {}) == "HTTP 404"
    server.shutdown()
    server.server_close()
    notify.main(asked.id)
    (line,) = [line for line in entries() if line["event"] == "Unsent"]
    assert asked.id in line["reason"] and line["subject"] == "127.0.0.1"


@pytest.mark.parametrize("url", ["http://example.com/x", "ftp://127.0.0.1/x", "file:///etc/passwd"])
def test_nothing_is_sent_in_the_clear(url):
    assert "https" in notify.send(url, {})


def test_what_an_agent_writes_cannot_forge_a_line(hook):
    asked = hook("echo x\nhttps://evil.example/approve").asked()
    assert "\n" not in notify.told(asked, "")["subject"] and "onehook approve" in notify.sentence(notify.told(asked, ""))
