"""The HTTP side: it reads bodies up to a limit, sends complete answers, and leaves no request hanging."""

from __future__ import annotations

import gzip
import io
import socket
import sys
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from onehook.prove.model.shape import Reply, error_reply

IDLE_SECONDS = 30.0

Answer = Callable[[str, str, dict[str, str], "bytes | BadBody"], Reply]


class BadBody(Exception):
    """A body that cannot be read, with the HTTP status for it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class LoopbackServer(ThreadingHTTPServer):
    """An HTTP server on 127.0.0.1 whose open connections end when it is closed."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, answer: Answer, max_body: int, problem: Callable[[str], None]) -> None:
        self.answer = answer
        self.max_body = max_body
        self.problem = problem
        self.open_sockets: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open_sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open_sockets.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; report anything else as a problem of the run."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            self.problem(f"a connection failed: {error!r}")

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in list(self.open_sockets):
            self.shutdown_request(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def handle_one_request(self) -> None:
        # A socket that close() closes while a thread waits on it raises an error; that is the end, not a failure.
        try:
            super().handle_one_request()
        except (ConnectionError, ValueError, OSError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, since the requests are kept."""

    def _serve(self) -> None:
        server = cast("LoopbackServer", self.server)
        headers = dict(self.headers.items())
        body: bytes | BadBody
        try:
            raw = read_body(self.rfile, headers, server.max_body)
            body = decompress(raw, _header(headers, "content-encoding"), server.max_body)
        except BadBody as error:
            body = error
            # The rest of the body is unread, so the connection cannot carry another request.
            self.close_connection = True
        self._send(server.answer(self.command, self.path, headers, body))

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the HTTP layer itself, in JSON as well."""
        self.close_connection = True
        self.command = self.command or "GET"
        self.request_version = "HTTP/1.1"
        self._send(error_reply(code, message or explain or "bad request"))

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve


def _header(headers: dict[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip().lower()


def read_body(stream: io.BufferedIOBase, headers: dict[str, str], limit: int) -> bytes:
    """The body, read by its length or in chunks, up to the limit."""
    if "chunked" in _header(headers, "transfer-encoding"):
        return _read_chunks(stream, limit)
    length = _header(headers, "content-length") or "0"
    if not (length.isascii() and length.isdigit()):
        raise BadBody(400, f"Content-Length {length!r} is not a number")
    if int(length) > limit:
        raise BadBody(413, f"the body of {length} bytes is over the limit of {limit}")
    body = stream.read(int(length))
    if len(body) < int(length):
        raise BadBody(400, f"the body ended after {len(body)} of {length} bytes")
    return body


def _read_chunks(stream: io.BufferedIOBase, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        head = stream.readline(100).split(b";")[0].strip()
        try:
            length = int(head, 16)
        except ValueError:
            raise BadBody(400, f"bad chunk length {head[:20]!r}") from None
        size += length
        if length < 0 or size > limit:
            raise BadBody(413, f"the body is over the limit of {limit} bytes")
        parts.append(stream.read(length))
        stream.readline(100)
        if length == 0:
            return b"".join(parts)


def decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """The body before Content-Encoding was applied, up to the limit."""
    if not body or encoding in ("", "identity"):
        return body
    try:
        if encoding == "gzip":
            with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
                plain = stream.read(limit + 1)
        elif encoding == "deflate":
            plain = zlib.decompressobj().decompress(body, limit + 1)
        elif encoding == "zstd":
            plain = _unzstd(body, limit + 1)
        else:
            raise BadBody(415, f"Content-Encoding {encoding!r} is not supported; send gzip, deflate or zstd")
    except (OSError, EOFError, zlib.error) as error:
        raise BadBody(400, f"the {encoding} body cannot be decompressed: {error}") from error
    if len(plain) > limit:
        raise BadBody(413, f"the decompressed body is over the limit of {limit} bytes")
    return plain


def _unzstd(body: bytes, size: int) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise BadBody(415, "a zstd body needs the package zstandard: pip install zstandard") from error
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body), read_across_frames=True) as stream:
            return stream.read(size)
    except zstandard.ZstdError as error:
        raise BadBody(400, f"the zstd body cannot be decompressed: {error}") from error
