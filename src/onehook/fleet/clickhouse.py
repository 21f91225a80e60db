"""Talks to ClickHouse over HTTP: queries, and rows to insert. The standard library is enough.

clickhouse://USER@HOST:PORT/DATABASE, with ?secure=1 (or clickhouses://) for TLS and ?password_file=FILE.

What is sent is understood by every server since 18.16, the version in Debian: it knows neither parameters of queries nor TTL.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from onehook.core import OnehookError, UsageError

PASSWORD = "ONEHOOK_CLICKHOUSE_PASSWORD"
SCHEMES = {"clickhouse": False, "clickhouses": True}
_OPTIONS = ("secure", "password_file")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BATCH = 4 << 20  # bytes of rows in one request
_SECONDS = 600


class Server(NamedTuple):
    """A database on a server."""

    host: str
    port: int
    database: str = "default"
    user: str = "default"
    password: str = ""
    secure: bool = False

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The rows of a SELECT. It is sent as read-only."""
        with self._sent(query.encode(), {"readonly": "1"}, " FORMAT JSONEachRow") as answer:
            for line in answer:
                yield json.loads(line)

    def run(self, statement: str, **settings: str) -> None:
        """A statement without rows to return."""
        with self._sent(statement.encode(), settings) as answer:
            answer.read()

    def insert(self, table: str, rows: Iterable[bytes]) -> int:
        """Insert rows, each a JSON object on a line; returns their number."""
        count, size, batch = 0, 0, list[bytes]()
        for row in rows:
            count, size = count + 1, size + len(row)
            batch.append(row)
            if size > _BATCH:
                self._insert(table, batch)
                batch, size = [], 0
        if batch:
            self._insert(table, batch)
        return count

    def _insert(self, table: str, rows: list[bytes]) -> None:
        with self._sent(f"INSERT INTO {name(table)} FORMAT JSONEachRow\n".encode() + b"\n".join(rows), {}) as answer:
            answer.read()

    def _sent(self, body: bytes, settings: dict[str, str], ending: str = "") -> Any:
        from urllib.error import HTTPError, URLError
        from urllib.request import ProxyHandler, Request, build_opener

        # Without wait_end_of_query, an error in the middle of the rows arrives as one more row, after status 200.
        asked = urlencode({"database": self.database, "wait_end_of_query": "1", **settings})
        url = f"{'https' if self.secure else 'http'}://{self.host}:{self.port}/?{asked}"
        headers = {"X-ClickHouse-User": self.user, "X-ClickHouse-Key": self.password, "Content-Type": "application/octet-stream"}
        # A proxy is for the outside, and would see the password.
        opener = build_opener(ProxyHandler({}))
        try:
            return opener.open(Request(url, body + ending.encode(), headers), timeout=_SECONDS)
        except HTTPError as error:
            raise OnehookError(f"ClickHouse at {self.place}: {_told(error.read(4000))}") from None
        except (URLError, OSError) as error:
            raise OnehookError(f"ClickHouse at {self.place} does not answer: {getattr(error, 'reason', error)}") from None

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


def _told(answer: bytes) -> str:
    """The message of an answer such as `Code: 60, e.displayText() = DB::Exception: Table d.t doesn't exist., e.what() = ...`."""
    text = " ".join(answer.decode("utf-8", "replace").split())
    found = re.search(r"DB::Exception: (.*?)(?:,? e\.what\(\)| \(version|$)", text)
    return (found[1] if found else text)[:400].rstrip("., ") or "no reason given"


def parse(url: str) -> Server:
    """The server that a URL names. The password is in a variable or a file: a URL can be read in the list of processes."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise UsageError(f"{url!r} is not a ClickHouse address; use clickhouse://user@host:8123/database")
    if parts.password is not None:
        raise UsageError(f"a password in the address is visible to others; set {PASSWORD}, or ?password_file=FILE")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not an option of the address; the options are {' and '.join(_OPTIONS)}")
    secure = SCHEMES[parts.scheme] or options.get("secure", "0") not in ("", "0", "false")
    database = parts.path.strip("/") or "default"
    try:
        port = parts.port or (8443 if secure else 8123)
    except ValueError:
        raise UsageError(f"the port in {url!r} is not a number up to 65535") from None
    host = parts.hostname or "localhost"
    return Server(
        f"[{host}]" if ":" in host else host, port, name(database), unquote(parts.username or "default"),
        _password(options.get("password_file", "")), secure,
    )  # fmt: skip


def _password(path: str) -> str:
    if not path:
        return os.environ.get(PASSWORD, "")
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise UsageError(f"{path} can be read by others; chmod 600 {path}")
            return file.read().rstrip("\r\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def name(text: str) -> str:
    """The name of a database or table, which is inserted into SQL as it is."""
    if not _NAME.fullmatch(text):
        raise UsageError(f"{text!r} is not a valid name for a database or table: use letters, digits and _")
    return text


def literal(value: str) -> str:
    """A string in SQL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
