"""ClickHouse for tests: the server, an ordinary process on loopback with its own folder, and the engine as a package (chdb)."""

from __future__ import annotations

import importlib.util
import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

from onehook.core import OnehookError
from onehook.fleet.clickhouse import PASSWORD, Server, parse

PROGRAM = shutil.which("clickhouse-server") or shutil.which("clickhouse-server", path="/usr/sbin:/usr/local/sbin")
WITHOUT_SERVER = "clickhouse-server is not installed (Debian: apt-get install clickhouse-server; `make fleet` runs these tests)"
WITHOUT_ENGINE = "chdb is not installed (534 MB; `make fleet` installs it)"
SECRET = "it's \\ secret"
CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<mark_cache_size>67108864</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
</yandex>"""
USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></{name}>"""
USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
<users>{users}</users><quotas><default></default></quotas></yandex>"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(folder):
    """A server; yields its address."""
    http = free_port()
    users = USER.format(name="default", password="") + USER.format(name="reader", password=SECRET)
    (folder / "users.xml").write_text(USERS.format(users=users))
    (folder / "config.xml").write_text(CONFIG.format(folder=folder, http=http, tcp=free_port()))
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen([PROGRAM, f"--config-file={folder}/config.xml"], stdout=out, stderr=out, cwd=folder)
    try:
        url = f"clickhouse://127.0.0.1:{http}"
        answering(parse(url), process, folder)
        yield url
    finally:
        process.terminate()
        process.wait()


def answering(server, process, folder):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return list(server.rows("SELECT 1 AS one"))
        except OnehookError:
            time.sleep(0.1)
    raise AssertionError((folder / "out").read_text() + (folder / "errors").read_text())


class Embedded(Server):
    """The engine in this process. It has no HTTP interface: these tests are about the SQL."""

    def __new__(cls, folder):
        self = super().__new__(cls, "", 0)
        from chdb.session import Session

        cls.session = Session(str(folder))
        return self

    def rows(self, query):
        yield from map(json.loads, str(self.session.query(query, "JSONEachRow")).splitlines())

    def run(self, statement, **settings):
        self.session.query(statement)

    def _insert(self, table, rows):
        self.session.query(f"INSERT INTO {table} FORMAT JSONEachRow\n" + b"\n".join(rows).decode())


def has_engine():
    return importlib.util.find_spec("chdb") is not None


__all__ = ["PASSWORD", "PROGRAM", "SECRET", "WITHOUT_ENGINE", "WITHOUT_SERVER", "Embedded", "has_engine", "running"]
