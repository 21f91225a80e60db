"""Which agents have to be proven again, and how the cells of a run are merged into the committed results."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from onehook import hosts
from onehook.cli.prove import _jobs
from onehook.hosts import HOSTS, wire_of
from onehook.prove import results
from onehook.prove.scenarios import CORE, SCENARIOS
from onehook.prove.stage import Agent

FIRST, SECOND = HOSTS[:2]


def row(host: str, scenario: str, verdict: str, version: str = "1", mode: str = "") -> dict[str, Any]:
    return {"host": host, "mode": mode, "version": version, "scenario": scenario, "verdict": verdict}


def document(*rows: dict[str, Any], adapters: dict[str, str] | None = None) -> dict[str, Any]:
    agents = {one["host"]: one["version"] for one in rows}
    return {"agents": agents, "adapters": adapters or dict.fromkeys(agents, "new"), "results": list(rows)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the agents' folders that can be changed."""
    copy = tmp_path / "hosts"
    shutil.copytree(Path(hosts.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(hosts, "__file__", str(copy / "__init__.py"))
    return copy


def test_an_adapter_is_another_one_when_a_file_of_its_own_changes(folder: Path) -> None:
    before = results.adapter_hash(FIRST)
    (folder / SECOND / "wire.py").write_text("")
    assert results.adapter_hash(FIRST) == before
    (folder / FIRST / "config.py").write_text("")
    changed = results.adapter_hash(FIRST)
    assert changed != before
    (folder / FIRST / "new.json").write_text("{}")
    assert results.adapter_hash(FIRST) != changed


def test_an_adapter_that_is_built_on_another_changes_with_it(folder: Path) -> None:
    built = next(host for host in HOSTS if wire_of(host).TRAITS.built_on)
    before = results.adapter_hash(built)
    (folder / wire_of(built).TRAITS.built_on / "wire.py").write_text("")
    assert results.adapter_hash(built) != before


WRITTEN = '''"""A module."""
A = "# not a comment"  # one


def f():
    """A function.

    With details.
    """
    return """no docstring"""
'''


def test_comments_and_docstrings_do_not_count_and_all_else_does() -> None:
    code = results.code_of(WRITTEN)
    assert code == 'A = "# not a comment"\ndef f():\n    return """no docstring"""'
    assert results.code_of(WRITTEN.replace("# one", "# two").replace("With details", "With\n\n    more")) == code
    assert results.code_of(WRITTEN.replace("no docstring", "another string")) != code


def test_compiled_files_do_not_count(folder: Path) -> None:
    before = results.adapter_hash(FIRST)
    (folder / FIRST / "__pycache__").mkdir()
    (folder / FIRST / "__pycache__" / "wire.pyc").write_bytes(b"x")
    assert results.adapter_hash(FIRST) == before


def test_all_is_proven_on_a_changed_agent_and_the_core_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    committed = {"adapters": {FIRST: "as it was", SECOND: results.adapter_hash(SECOND)}}
    monkeypatch.setattr(results, "read", lambda: committed)
    agents = [Agent(host, Path("/bin/true"), "1") for host in (FIRST, SECOND)]
    jobs = [(agent.host, one.id) for agent, one in _jobs(agents, list(SCENARIOS), changed=True)]
    assert {id for host, id in jobs if host == FIRST} == {one.id for one in SCENARIOS}
    assert {id for host, id in jobs if host == SECOND} == set(CORE)
    assert len(_jobs(agents, list(SCENARIOS), changed=False)) == 2 * len(SCENARIOS)


def test_new_cells_replace_old_ones_and_the_rest_stays() -> None:
    before = document(
        row(FIRST, "deny", "proven"), row(FIRST, "ask", "proven"), row(SECOND, "deny", "proven"), adapters={FIRST: "old", SECOND: "old"}
    )
    after = results.merged(before, document(row(FIRST, "ask", "MISS", "2")))
    assert [(one["host"], one["scenario"], one["verdict"]) for one in after["results"]] == [
        (FIRST, "deny", "proven"),
        (FIRST, "ask", "MISS"),
        (SECOND, "deny", "proven"),
    ]
    assert after["agents"] == {FIRST: "2", SECOND: "1"}
    assert after["adapters"] == {FIRST: "old", SECOND: "old"}  # one of its cells is from an earlier run


def test_an_adapter_of_which_every_cell_was_run_counts_as_proven_as_it_is() -> None:
    before = document(row(FIRST, "deny", "proven"), row(FIRST, "deny", "proven", mode="b"), adapters={FIRST: "old"})
    part = document(row(FIRST, "deny", "proven"))
    whole = document(row(FIRST, "deny", "proven"), row(FIRST, "deny", "proven", mode="b"), row(FIRST, "new", "proven"))
    assert results.merged(before, part)["adapters"] == {FIRST: "old"}
    assert results.merged(before, whole)["adapters"] == {FIRST: "new"}


def test_the_committed_results_say_which_adapters_they_are_of() -> None:
    committed = results.read()
    assert set(committed["adapters"]) == set(committed["agents"])
