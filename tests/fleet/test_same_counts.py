"""The same lines in a log and in ClickHouse give the same counts. Runs where a server or the engine is installed (`make fleet`)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from fleet.servers import PASSWORD, PROGRAM, SECRET, WITHOUT_ENGINE, WITHOUT_SERVER, Embedded, has_engine, running

from bench.loglines import Fleet, Folder
from onehook.cli import main
from onehook.core import OnehookError
from onehook.fleet import schema
from onehook.fleet import stats as fleet
from onehook.fleet.clickhouse import parse
from onehook.log.columns import json_rows, quiet_entry
from onehook.log.reader import entries, quiet_events
from onehook.log.scans import counted
from onehook.log.stats import stats
from onehook.logger import stamp

BY = ("rule", "agent", "project", "day", "handler")
LINES, DAYS = 600, 3


def odd_lines(entry):
    """Lines that the generator does not produce."""
    deny = {"kind": "rule", "name": 'it\'s \\ "odd"\t', "said": "deny", "reason": "é"}
    yield {**entry, "agent": "onehook", "event": "LogSwept"}
    yield {
        **entry,
        "would": "deny",
        "approver": "alice",
        "by": [deny, {**deny, "said": "warn"}, {"kind": "handler", "name": "h", "said": "deny"}],
    }
    yield {**entry, "would": "deny", "decision": "none", "error": "it failed", "project": "", "ms": 0}
    yield {**entry, "decision": "ask", "error": "", "by": [], "ms": 1.0}


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The folder of a state, which contains a log."""
    state = tmp_path_factory.mktemp("state")
    made = Fleet(LINES, 1, json.dumps, seed=7, days=DAYS, quiet=1)
    writer = Folder(state / "log")
    for happened in made.machine(0):
        writer.add(*happened)
    last = next(iter(entries(str(state / "log"))))
    for number, entry in enumerate(odd_lines(last)):
        writer.add(time.time(), json.dumps({**entry, "id": f"odd{number}", "time": stamp(time.time())}), "")
    writer.close()
    return state


@pytest.fixture(scope="module", params=["server", "engine"])
def table(request, log, tmp_path_factory):
    """A table with all lines, half of them twice, as at-least-once delivery may produce."""
    if request.param == "server":
        if PROGRAM is None:
            pytest.skip(WITHOUT_SERVER)
        with running(tmp_path_factory.mktemp("server")) as url:
            yield loaded(parse(url), log)
        return
    if not has_engine():
        pytest.skip(WITHOUT_ENGINE)
    yield loaded(Embedded(tmp_path_factory.mktemp("engine")), log)


def loaded(server, log: Path):
    for statement in (schema.decisions(), schema.records()):
        server.run(statement, **schema.SETTINGS)
    folder = str(log / "log")
    found = [*entries(folder), *map(quiet_entry, quiet_events(folder))]
    server.insert(schema.DECISIONS, json_rows(found, "laptop"))
    server.insert(schema.DECISIONS, json_rows(found[::2], "laptop"))
    return server


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("days", [0, 2])
def test_the_counts_are_the_same(table, log, by, days):
    since = stamp(time.time() - days * 86400)[:11] + "10:20:30.444Z" if days else ""
    local = stats(by, since, "", str(log / "log"))
    assert fleet.stats(table, by, since) == local
    assert local["groups"] and (days or local["total"]["events"] == LINES * 2 + 3)


@pytest.mark.parametrize("by", BY)
def test_until_ends_the_time(table, log, by):
    until = stamp(time.time() - 86400)[:11] + "10:20:30.444Z"
    assert fleet.stats(table, by, "", until) == stats(by, "", until, str(log / "log"))


@pytest.mark.parametrize("chosen", [{"agents": ["codex", "droid"]}, {"project": "/home/dev0"}, {"project": "/home/dev0/app"}])
def test_agents_and_projects_can_be_chosen(table, log, chosen):
    assert fleet.stats(table, "agent", **chosen) == stats("agent", folder=str(log / "log"), **chosen)


def test_without_a_row_there_is_nothing_and_no_error(table):
    found = fleet.stats(table, "rule", "2100-01-01T00:00:00.000Z")
    assert found["groups"] == [] and found["total"]["events"] == 0 and found["total"]["p50"] is None


def test_two_machines_may_have_the_same_id_and_one_has_it_once(table, log):
    one = next(iter(entries(str(log / "log"))))
    before = fleet.stats(table, "agent")["total"]["events"]
    for machine in ("desk", "desk", "tower"):
        table.insert(schema.DECISIONS, json_rows([one], machine))
    assert fleet.stats(table, "agent")["total"]["events"] == before + 2


def test_scans_are_counted_as_in_a_log(table, log):
    one = next(iter(entries(str(log / "log"))))
    scan = {"backend": "llama-guard", "action": "block", "requests": 2, "cached": True, "breaker": "closed", "ms": 12.5}
    scanned = [{**scan, "ms": ms, "action": action, "breaker": state} for ms, action, state in SCANS]
    for number, found in enumerate(scanned):
        by = {"kind": "handler", "name": "scan", "said": "deny", "scan": found, **({"observed": True} if number == 1 else {})}
        entry = {**one, "id": f"scan{number}", "n": number + 1, "time": f"2020-01-0{number + 1}T00:00:00.000Z", "by": [by]}
        table.insert(schema.DECISIONS, json_rows([entry], "desk"))
    expected = counted((found, number == 1) for number, found in enumerate(scanned))
    assert fleet.scans(table, until="2020-02-01T00:00:00.000Z") == expected
    assert expected[0]["scans"] == 3 and expected[0]["observed"] == 1 and expected[0]["breaker"] == "open"


SCANS = [(12.5, "block", "closed"), (800.0, "allow", "closed"), (3.0, "error", "open")]


@pytest.mark.skipif(PROGRAM is None, reason=WITHOUT_SERVER)
def test_the_verb_prints_the_same_from_a_server_with_a_password(log, tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(log))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    since = ["--since", stamp(time.time() - DAYS * 86400)[:19]]
    (tmp_path / "server").mkdir()
    with running(tmp_path / "server") as url:
        for _ in range(2):
            sent = CliRunner().invoke(main, ["log", "export", "--all", "--to", url])
            assert sent.output == f"{LINES * 2 + 4:,} rows sent\n"
        address = url.replace("://", "://reader@")
        with pytest.raises(OnehookError, match=r"[Pp]assword"):
            list(parse(address).rows("SELECT 1"))
        monkeypatch.setenv(PASSWORD, SECRET)
        for by in BY:
            for how in ([], ["--json"]):
                words = ["stats", "--by", by, *since, *how]
                assert CliRunner().invoke(main, [*words, "--from", address]).output == CliRunner().invoke(main, words).output
