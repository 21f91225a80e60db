"""onehook hosts: what the support of each host is based on, derived from the available records."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onehook.cli import hosts, main
from onehook.hosts import HOSTS, load, wire_of
from onehook.prove import results
from onehook.setup.plan import configurable
from tests.host_folders import captures


@pytest.fixture
def rows():
    return {row["host"]: row for row in json.loads(CliRunner().invoke(main, ["hosts", "--json"]).stdout)}


def test_every_host_is_listed_with_its_events(rows):
    assert list(rows) == list(HOSTS)
    for host, row in rows.items():
        assert set(row["events"]) == {event.event for event in wire_of(host).EVENTS.values()}
        assert row["installable"] == (host in configurable())


def test_a_proof_gives_version_and_date(rows):
    document = results.read()
    proven = {row["host"] for row in document["results"] if row["verdict"] == "proven"} & set(HOSTS)
    assert proven
    for host in proven:
        assert (rows[host]["support"], rows[host]["versions"], rows[host]["date"]) == (
            "proven",
            [document["agents"][host]],
            document["date"],
        )


def test_without_a_proof_recorded_payloads_count_and_else_documentation(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "COMMITTED", tmp_path / "none.json")
    found = {row.host: row for row in hosts.known_hosts()}
    for host in HOSTS:
        captured = load(host, "config").TRAITS.captured if host in configurable() else ()
        assert found[host].support == ("captured" if captured else "documented")
        assert found[host].versions == captured
        assert found[host].date == ""


@pytest.mark.parametrize("host", configurable())
def test_a_host_claims_exactly_the_versions_whose_payloads_are_recorded(host):
    files = {path.stem for path in captures(host)}
    versions = {next(part for part in stem.split("-") if part[0].isdigit()) for stem in files}
    assert set(load(host, "config").TRAITS.captured) == versions


def test_the_table_names_every_host_and_says_what_the_words_mean():
    text = CliRunner().invoke(main, ["hosts"]).stdout
    assert all(host in text for host in HOSTS)
    assert "proven: checked on the real agent" in text
