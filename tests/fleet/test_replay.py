"""Replaying events from a table, or across a cluster, gives the same results as a local replay."""

from __future__ import annotations

import importlib.util
import json

import pytest
from click.testing import CliRunner
from fleet.servers import PROGRAM, WITHOUT_SERVER, running
from harness import HOSTS, fire, policy_text, tool_payload

from onehook.cli import main
from tests.replaying import in_forks

WITHOUT_DASK = "distributed is not installed (pip install 'onehook[dask]'; `make fleet` installs it)"
HANDLER = "return deny('no rm') if event.command.startswith('rm') else None"
COMMANDS = ("ls", "rm a", "rm -r b", "git status", "rm c")


@pytest.fixture
def policies(tmp_path):
    paths = tmp_path / "new.py", tmp_path / "old.py"
    for path, handler in zip(paths, (HANDLER, HANDLER.replace("'rm'", "'rm -r'")), strict=True):
        path.write_text(policy_text(handler), encoding="utf-8")
    return [str(path) for path in paths]


@pytest.fixture
def recorded(tmp_path, policies):
    """The folder with recorded sessions of several agents."""
    folder = tmp_path / "recorded"
    for host in HOSTS[:3]:
        for command in COMMANDS:
            fire(policies[0], tool_payload(host, command), "--host", host, env={"ONEHOOK_RECORD": str(folder)})
    return folder


def replayed(*words, forks=True):
    with in_forks(forks):
        result = CliRunner().invoke(main, ["replay", *map(str, words), "--json"])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    for row in rows:
        for verdict in (row, row.get("before", {}), row.get("after", {})):
            verdict.pop("ms", None)
    *found, last = rows
    return found, last["summary"]


def ways(policies):
    return ([policies[0]], ["--all", policies[0]], [policies[0], "--against", policies[1]])


@pytest.mark.skipif(PROGRAM is None, reason=WITHOUT_SERVER)
def test_recordings_in_a_table_are_replayed_like_the_files(recorded, policies, tmp_path):
    (tmp_path / "server").mkdir()
    with running(tmp_path / "server") as url:
        for _ in range(2):  # a second time adds nothing
            sent = CliRunner().invoke(main, ["record", "--output", str(recorded), "--to", url])
            assert sent.output == f"{3 * len(COMMANDS)} events sent\n"
        for number, words in enumerate(ways(policies)):  # the first with real workers
            local, there = replayed(recorded, *words), replayed("--from", url, *words, forks=bool(number))
            for rows, _ in (local, there):
                rows.sort(key=json.dumps)
                for row in rows:  # files are numbered in order of their names, recordings by time
                    for verdict in (row, row.get("before", {}), row.get("after", {})):
                        verdict.pop("at", None)
            assert sorted(map(json.dumps, there[0])) == sorted(map(json.dumps, local[0])) and there[1] == local[1]
            assert there[0]


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason=WITHOUT_DASK)
@pytest.mark.filterwarnings("default")
def test_two_workers_of_a_cluster_show_what_local_processes_show(recorded, policies):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1") as cluster:
        for words in ways(policies):
            local = replayed(recorded, *words)
            assert replayed(recorded, *words, "--workers", cluster.scheduler_address) == local
            assert local[0]


def test_one_process_shows_what_three_show(recorded, policies):
    for words in ways(policies):
        found = replayed(recorded, *words, "--workers", "1")
        assert found == replayed(recorded, *words, "--workers", "3") and found[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--workers", "many"], "--workers must be a number, or the address of a Dask scheduler"),
        (["--from", "http://db.example"], "is not a ClickHouse address"),
    ],
)
def test_wrong_words_are_refused(policies, recorded, words, told):
    logs = [] if "--from" in words else [recorded]
    result = CliRunner().invoke(main, ["replay", *map(str, logs), policies[0], *words])
    assert result.exit_code == 2 and told in result.output
