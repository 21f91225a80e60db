"""The server of the desk's page in a thread, and the requests that a browser or a program sends to it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Machine
from onehook.page.server import Desk

_connections: list[Any] = []  # and their responses, since the response of a stream holds the socket


@contextmanager
def opened(project: Path, **more: Any) -> Iterator[Desk]:
    desk = Desk(Machine.here(project), "ana", **more)
    thread = threading.Thread(target=desk.serve)
    thread.start()
    try:
        yield desk
    finally:
        while _connections:
            _connections.pop().close()
        desk.close()
        thread.join()


class Client:
    """Sends requests as the desk's own page does, unless told otherwise. A header whose value is None is left out."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.host = f"127.0.0.1:{desk.port}"
        self.headers: dict[str, str | None] = {}

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.desk.port, timeout=60)
        _connections.append(connection)
        own = {"Host": self.host, **({"Origin": f"http://{self.host}", "Content-Type": "application/json"} if method == "POST" else {})}
        sent = {**own, **self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in sent and "Transfer-Encoding" not in sent:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        _connections.append(response)
        return response

    def get(self, path: str, **headers: str | None) -> tuple[int, Any]:
        return self._read(self.send("GET", path, **headers))

    def post(self, path: str, value: Any = None, **headers: str | None) -> tuple[int, Any]:
        body = value if isinstance(value, bytes) else json.dumps(value if value is not None else {}).encode()
        return self._read(self.send("POST", f"/api/{path}", body, **headers))

    def enter(self) -> Client:
        """Open the link like a browser."""
        response = self.send("POST", "/api/enter", json.dumps({"token": self.desk.gate.token}).encode())
        assert response.status == 200, response.read()
        self.headers["Cookie"] = response.headers["Set-Cookie"].partition(";")[0]
        return self

    def page(self) -> Client:
        """Load the page: the same browser, with the token of this visit."""
        status, visit = self.post("visit")
        assert status == 200, visit
        other = Client(self.desk)
        other.headers = {**self.headers, "X-Onehook-Page": visit["token"]}
        other.visit = visit
        return other

    visit: dict[str, Any]

    def answer(self, asked: Any, **more: Any) -> tuple[int, Any]:
        return self.post("answer", {"id": asked.id, "digest": asked.digest, "decision": "allow", "scope": "once", **more})

    def _read(self, response: http.client.HTTPResponse) -> tuple[int, Any]:
        data = response.read()
        for _ in range(2):
            _connections.pop().close()
        return response.status, json.loads(data) if response.headers.get_content_type() == "application/json" else data.decode()
