"""The address of a server, the values put into SQL, and what is sent. No server is needed."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from onehook.core import OnehookError, UsageError
from onehook.fleet import schema
from onehook.fleet.clickhouse import PASSWORD, Server, literal, name, parse
from onehook.fleet.stats import COUNTS, query, where
from onehook.log.columns import COLUMNS
from onehook.log.stats import Group

BY = ("rule", "agent", "project", "day", "handler")


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("clickhouse://db.example", Server("db.example", 8123)),
        ("clickhouse://me@db.example:9123/fleet", Server("db.example", 9123, "fleet", "me")),
        ("clickhouse://a%40b@db.example/", Server("db.example", 8123, user="a@b")),
        ("clickhouses://db.example", Server("db.example", 8443, secure=True)),
        ("clickhouse://db.example?secure=1", Server("db.example", 8443, secure=True)),
        ("clickhouse://[::1]:8123", Server("[::1]", 8123)),
    ],
)
def test_an_address_names_the_server(url, server):
    assert parse(url) == server


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://db.example", "is not a ClickHouse address"),
        ("clickhouse://me:secret@db.example", "a password in the address is visible to others"),
        ("clickhouse://db.example/a`b", "is not a valid name for a database"),
        ("clickhouse://db.example/a/b", "is not a valid name for a database"),
        ("clickhouse://db.example:99999", "is not a number up to 65535"),
        ("clickhouse://db.example?tls=1", "'tls' is not an option"),
        ("clickhouse://db.example?password_file=/does/not/exist", "cannot be read: No such file"),
    ],
)
def test_a_wrong_address_is_refused_and_a_password_in_it_not_repeated(url, told):
    with pytest.raises(UsageError, match=told) as caught:
        parse(url)
    assert "secret" not in str(caught.value)


def test_the_password_is_in_the_environment_or_in_a_file_of_the_users_own(monkeypatch, tmp_path):
    monkeypatch.setenv(PASSWORD, "from the environment")
    assert parse("clickhouse://db.example").password == "from the environment"
    file = tmp_path / "password"
    file.write_text("from a file\n")
    file.chmod(0o600)
    assert parse(f"clickhouse://db.example?password_file={file}").password == "from a file"
    file.chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others; chmod 600"):
        parse(f"clickhouse://db.example?password_file={file}")


def test_a_string_cannot_leave_its_quotes():
    assert literal("it's") == r"'it\'s'" and literal("\\' OR 1=1 --") == r"'\\\' OR 1=1 --'"
    with pytest.raises(UsageError):
        name("decisions; DROP TABLE decisions")


def test_the_shipped_schema_is_the_one_that_the_columns_give():
    assert schema.FILE.read_text(encoding="utf-8") == schema.sql(), "run: python -m onehook.fleet.schema"
    assert [line.split()[0] for line in schema.decisions().splitlines()[1 : len(COLUMNS) + 1]] == [column.name for column in COLUMNS]


@pytest.mark.parametrize("by", BY)
def test_a_query_counts_what_is_counted_locally(by):
    text = query(by, where("2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z", ["codex"], "/it's"))
    assert list(COUNTS) == list(Group.FIELDS) and all(f" AS {field}" in text for field in Group.FIELDS)
    assert "day >= toDate('2026-11-01')" in text and "time < '2026-11-02T00:00:00.000Z'" in text and "FINAL" in text
    assert "agent IN ('codex')" in text and r"startsWith(concat(project, '/'), '/it\'s/')" in text


class Recorder(BaseHTTPRequestHandler):
    """Records the queries, and answers as ClickHouse does."""

    asked: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []
    status, answer = 200, b'{"events": "3"}\n'

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, dict(self.headers), body))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def recorder(monkeypatch):
    handler = type("Handler", (Recorder,), {"asked": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv(PASSWORD, "secret")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    yield handler, parse(f"clickhouse://me@127.0.0.1:{server.server_port}/fleet")
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_query_is_sent_as_one_that_changes_nothing_and_the_password_only_in_a_header(recorder):
    handler, server = recorder
    assert list(server.rows("SELECT 1")) == [{"events": "3"}]
    ((path, headers, body),) = handler.asked
    assert parse_qs(urlsplit(path).query) == {"database": ["fleet"], "wait_end_of_query": ["1"], "readonly": ["1"]}
    assert body == b"SELECT 1 FORMAT JSONEachRow" and "secret" not in path
    sent = {name.lower(): value for name, value in headers.items()}
    assert sent["x-clickhouse-user"] == "me" and sent["x-clickhouse-key"] == "secret"


def test_rows_are_inserted_in_batches(recorder, monkeypatch):
    handler, server = recorder
    monkeypatch.setattr("onehook.fleet.clickhouse._BATCH", 10)
    assert server.insert("t", [b'{"a":1}'] * 5) == 5
    assert [body.count(b'{"a":1}') for _, _, body in handler.asked] == [2, 2, 1]
    assert all(body.startswith(b"INSERT INTO t FORMAT JSONEachRow\n") for _, _, body in handler.asked)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"Code: 60, e.displayText() = DB::Exception: Table d.t doesn't exist., e.what() = DB::Exception\n", "Table d.t doesn't exist"),
        (b"Code: 516. DB::Exception: me: Authentication failed. (AUTHENTICATION_FAILED) (version 26.9)", "me: Authentication failed"),
        (b"", "no reason given"),
    ],
)
def test_what_the_server_says_of_an_error_is_told(recorder, answer, told):
    handler, server = recorder
    handler.status, handler.answer = 500, answer
    with pytest.raises(OnehookError, match=f"ClickHouse at 127.0.0.1:[0-9]+: {told}"):
        list(server.rows("SELECT 1"))


def test_a_server_that_is_not_there_is_an_error():
    with pytest.raises(OnehookError, match="does not answer"):
        list(parse("clickhouse://127.0.0.1:1").rows("SELECT 1"))
