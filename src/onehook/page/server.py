"""The server of the page: HTTP on loopback, from the standard library. What it answers is static files, JSON, and one stream of events.

GET  /  /desk.css  /desk.js         the page: the same for everyone, and without any data
POST /api/enter                     {token}: the token of the link becomes a cookie
POST /api/visit                     a page is opened: its token, for the header X-Onehook-Page of every change
GET  /api/events?visit=ID           the requests, again whenever they change, and decisions as they are made
GET  /api/figures?since=7d          /api/policies, /api/health
POST /api/unlock, /api/lock         {pin, minutes}
POST /api/exception                 what would be written
POST /api/answer                    {id, digest, decision, scope, words, command, exception}
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from onehook.core import OnehookError
from onehook.desk import answers, exceptions, pin
from onehook.desk.answers import Answer, Asked
from onehook.desk.requests import DeskError
from onehook.hostkit.config import Machine
from onehook.page import views
from onehook.page.board import Board
from onehook.page.gate import KEPT_FOR, Gate, Refused, Visit
from onehook.report.page import asset
from onehook.version import VERSION

ADDRESS = "127.0.0.1"
LARGEST = 256 * 1024  # bytes of a request
_MOST = 32  # connections at once
_BEAT = 15.0  # seconds between two signs of life on a stream
_SINCE = ("24h", "7d", "30d")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
Given = dict[str, Any]


class Desk:
    """What all connections share: the server, who has access, and what happens."""

    def __init__(self, machine: Machine, by: str, port: int = 0, names: tuple[str, ...] = ()) -> None:
        self.machine, self.by = machine, by
        self.gate = Gate(names)
        self.board = Board()
        self.connections = threading.BoundedSemaphore(_MOST)
        self.examining = threading.Lock()  # doctor runs once at a time
        self._server = _Server((ADDRESS, port), self)
        self.port = int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}/"

    @property
    def link(self) -> str:
        """After the #, which a browser never sends: the page itself passes the token on."""
        return f"{self.url}#token={self.gate.token}"

    def serve(self) -> None:
        """Until close(), or an exception such as KeyboardInterrupt."""
        self.board.start()
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self.board.stop()
            self._server.server_close()

    def close(self) -> None:
        self.board.stop()
        self._server.shutdown()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # On Windows, SO_REUSEADDR would let another process take our port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, address: tuple[str, int], desk: Desk) -> None:
        super().__init__(address, lambda *given: _Connection(desk, *given))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that disconnects is not an error."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "onehook", ""
    timeout = 30  # seconds in which a client has to send its request

    def __init__(self, desk: Desk, *given: Any) -> None:
        self.desk = desk
        super().__init__(*given)

    def handle(self) -> None:
        if not self.desk.connections.acquire(blocking=False):
            with contextlib.suppress(OSError):
                self.request.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        try:
            with contextlib.suppress(ConnectionError, TimeoutError):
                super().handle()
        finally:
            self.desk.connections.release()

    def do_GET(self) -> None:
        self._answered({**_FILES, **_READS}, changes=False)

    def do_POST(self) -> None:
        self._answered(_CHANGES, changes=True)

    def _answered(self, routes: dict[str, Callable[[_Connection], None]], changes: bool) -> None:
        try:
            self.desk.gate.check_address(self.headers, changes)
            path = urlsplit(self.path).path
            if path not in routes:
                raise Refused(404, "not found")
            if path not in _FILES and path != "/api/enter":
                self.desk.gate.check_cookie(self._cookie())
            routes[path](self)
        except Refused as refused:
            self.close_connection = True  # what it has sent may not have been read
            self.json({"error": str(refused)}, refused.status)
        except (OnehookError, OSError) as error:
            if isinstance(error, (ConnectionError, TimeoutError)):
                raise
            self.json({"error": str(error)}, 409)

    # --- what is sent ---------------------------------------------------------------------------------------------------------------

    def start(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def whole(self, data: bytes, kind: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        closing = {"Connection": "close"} if self.close_connection else {}
        self.start(status, f"{kind}; charset=utf-8", {"Content-Length": str(len(data)), **closing, **(headers or {})})
        self.wfile.write(data)

    def json(self, value: Given, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.whole(json.dumps(value).encode("ascii"), "application/json", status, headers)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library itself refuses, such as another method or an overlong line."""
        self.close_connection = True
        self.json({"error": message or HTTPStatus(code).phrase}, code)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is not a log."""

    # --- what was sent --------------------------------------------------------------------------------------------------------------

    def _cookie(self) -> str:
        pairs = (pair.strip().partition("=") for pair in self.headers.get("Cookie", "").split(";"))
        return next((value for name, _, value in pairs if name == self.cookie_name), "")

    @property
    def cookie_name(self) -> str:
        return f"onehook-desk-{self.desk.port}"

    def visit(self) -> Visit:
        return self.desk.gate.visit_of(self.headers.get("X-Onehook-Page", ""))

    def query(self, name: str) -> str:
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def given(self, **kinds: type) -> Given:
        """The JSON object of the request, with these names and kinds of values; each is optional."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or "Transfer-Encoding" in self.headers:
            raise Refused(411, "the Content-Length is missing")
        if int(length) > LARGEST:
            raise Refused(413, f"the body is larger than {LARGEST // 1024} kB")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "the body is not JSON")
        try:
            value = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(value, dict) or any(name not in kinds or type(one) is not kinds[name] for name, one in value.items()):
            raise Refused(400, f"the body must be an object with {', '.join(kinds)}")
        return {name: value.get(name, kind()) for name, kind in kinds.items()}


# --- what can be asked ----------------------------------------------------------------------------------------------------------------


def _page(on: _Connection) -> None:
    on.whole(_own("desk.html"), "text/html")


def _style(on: _Connection) -> None:
    on.whole(asset("look.css").encode() + _own("desk.css"), "text/css")


def _script(on: _Connection) -> None:
    on.whole(asset("kit.js").encode() + _own("desk.js"), "text/javascript")


def _icon(on: _Connection) -> None:
    on.whole(_own("icon.svg"), "image/svg+xml")


def _own(name: str) -> bytes:
    return (files("onehook.page") / "assets" / name).read_bytes()


def _enter(on: _Connection) -> None:
    cookie = on.desk.gate.enter(on.given(token=str)["token"])
    on.json({}, headers={"Set-Cookie": f"{on.cookie_name}={cookie}; Path=/api; HttpOnly; SameSite=Strict"})


def _visit(on: _Connection) -> None:
    on.given()
    visit = on.desk.gate.visit()
    told = {"id": visit.id, "token": visit.token, "welcome": visit.welcome}
    on.json({**told, "kept_for": KEPT_FOR, "version": VERSION, "by": on.desk.by, "home": str(on.desk.machine.home)})


def _events(on: _Connection) -> None:
    """The stream, as server-sent events. Its end is the end of the connection."""
    welcome = on.desk.gate.welcome(on.query("visit"))
    on.close_connection = True
    on.start(200, "text/event-stream", {"Connection": "close"})
    on.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _send(on, "welcome", {"welcome": welcome})
    version = number = -1
    while not on.desk.board.stopped:
        version, requests, number, decisions = on.desk.board.news(version, number, _BEAT)
        on.desk.gate.forget()
        _send(on, "beat", {"now": time.time(), "pin": pin.is_set()})
        if requests is not None:
            _send(on, "requests", {"requests": requests})
        if decisions:
            _send(on, "decisions", {"decisions": decisions})


def _send(on: _Connection, event: str, value: Given) -> None:
    on.wfile.write(f"event: {event}\ndata: {json.dumps(value)}\n\n".encode("ascii"))


def _figures(on: _Connection) -> None:
    since = on.query("since")
    if since not in _SINCE:
        raise Refused(400, f"since must be one of {', '.join(_SINCE)}")
    on.json(views.figures(since))


def _policies(on: _Connection) -> None:
    on.json(views.policies(on.desk.machine))


def _health(on: _Connection) -> None:
    with on.desk.examining:
        on.json(views.health(on.desk.machine))


def _unlock(on: _Connection) -> None:
    visit, given = on.visit(), on.given(pin=str, minutes=int)
    if given["minutes"] not in KEPT_FOR:
        raise Refused(400, f"minutes must be one of {', '.join(map(str, KEPT_FOR))}")
    try:
        visit.open(pin.unlock(given["pin"]), given["minutes"])
    except (pin.WrongPin, pin.TooManyTries) as error:
        visit.lock()
        raise Refused(429 if isinstance(error, pin.TooManyTries) else 403, str(error)) from None
    on.json({"seconds": visit.seconds})


def _lock(on: _Connection) -> None:
    visit, _ = on.visit(), on.given()
    visit.lock()
    on.json({"seconds": 0})


def _exception(on: _Connection) -> None:
    on.visit()
    given = on.given(id=str, digest=str, rule=str, command=str, path=str, until=str, reason=str)
    draft = _draft(_as_seen(given), given)
    on.json({"file": str(draft.path), "added": draft.added})


def _draft(asked: Asked, given: Given) -> exceptions.Draft:
    named = {name: str(given.get(name) or "") for name in ("command", "path", "until", "reason")}
    return exceptions.draft(asked, str(given.get("rule") or ""), **named)


def _as_seen(given: Given) -> Asked:
    """The request, if it is still what the person was shown."""
    asked = answers.one(given["id"])
    if asked.id != given["id"] or asked.digest != given["digest"]:
        raise DeskError("this request has changed since you opened it: review it again")
    return asked


def _answer(on: _Connection) -> None:
    """Only with the key of this page: without a PIN, nothing can be answered here."""
    visit = on.visit()
    given = on.given(id=str, digest=str, decision=str, scope=str, words=str, command=str, exception=dict)
    if given["decision"] not in ("allow", "deny") or given["scope"] not in answers.SCOPES:
        raise Refused(400, "decision must be allow or deny, and scope must be once or session")
    key = visit.key_now()
    if key is None:
        raise Refused(423, "the PIN is needed")
    asked = _as_seen(given)
    written = _excepted(asked, given) if given["exception"] else ""
    changed = {"command": given["command"]} if given["command"] else None
    answer = Answer(given["decision"], given["scope"], given["words"], changed)
    try:
        said = answers.give(asked, answer, key, by=on.desk.by, via="page")
    except DeskError as error:
        raise DeskError(f"{error}{written}") from None
    finally:
        if visit.once:
            visit.lock()
    on.json({"said": f"{said}{written}", "seconds": visit.seconds})


def _excepted(asked: Asked, given: Given) -> str:
    """Write the exception that was shown, if it is still the same."""
    draft = _draft(asked, given["exception"])
    if draft.added != given["exception"].get("added") or given["decision"] != "allow":
        raise DeskError("what would be written differs from what you were shown: review it again")
    if not asked.open:
        raise DeskError(f"request {asked.id} is {asked.state}; nothing was written")
    exceptions.write(draft)
    return f"; {draft.path} contains the exception"


Route = Callable[[_Connection], None]
_FILES: dict[str, Route] = {"/": _page, "/desk.css": _style, "/desk.js": _script, "/icon.svg": _icon}
_READS: dict[str, Route] = {"/api/events": _events, "/api/figures": _figures, "/api/policies": _policies, "/api/health": _health}
_CHANGES: dict[str, Route] = {
    "/api/enter": _enter, "/api/visit": _visit, "/api/unlock": _unlock, "/api/lock": _lock, "/api/exception": _exception,
    "/api/answer": _answer,
}  # fmt: skip
