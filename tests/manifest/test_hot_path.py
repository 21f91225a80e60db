"""A manifest is read for every event: which modules that imports."""

from __future__ import annotations

import itertools

import pytest
from harness import ANY, HOSTS, launcher, process, reason_of, spread, tool_payload

from onehook.setup.runtime import runtime_files
from tests.manifest.kit import NATIVE, guard, manifest_of
from tests.test_hot_path import BANNED, INTERPRETERS, imported


@spread(list(NATIVE), ["ls", "rm -rf x"], names="dialect, command, host")
def test_a_program_is_run_without_anything_from_the_ban_list(tmp_path, dialect, host, command):
    path = manifest_of(tmp_path, guard(dialect))
    modules = imported(launcher(path, "--host", host), tool_payload(host, command))
    assert {"onehook.manifest.load", "onehook.manifest.programs"} <= modules
    assert modules.isdisjoint({*BANNED, "tomllib", "onehook.manifest.programs_windows"})


def test_only_the_dialects_that_are_spoken_are_loaded(tmp_path):
    path = manifest_of(tmp_path, guard("contract"), guard("cursor").replace("beforeShellExecution", "Stop"))
    modules = imported(launcher(path, "--host", ANY), tool_payload(ANY))
    assert "onehook.hosts.contract.reverse" in modules
    assert not {"onehook.hosts.cursor.reverse", "onehook.hosts.cursor.wire", "onehook.hosts.claude.reverse"} & modules


def test_an_event_that_no_program_wants_starts_nothing(tmp_path):
    path = manifest_of(tmp_path, guard("contract").replace("PreToolUse", "Stop"))
    modules = imported(launcher(path, "--host", ANY), tool_payload(ANY))
    assert not {"select", "onehook.hostkit.reverse"} & modules


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=[f"python{version}" for version in INTERPRETERS])
@pytest.mark.parametrize("dialect", NATIVE)
def test_every_interpreter_runs_programs(tmp_path, python, dialect):
    path = manifest_of(tmp_path, guard(dialect))
    result = process(launcher(path, "--host", ANY, python=python), tool_payload(ANY, "rm -rf x"))
    assert reason_of(result, ANY) == NATIVE[dialect][2]


def test_the_runtime_that_is_put_into_a_repository_runs_a_manifest(tmp_path):
    (tmp_path / ".onehook").mkdir()
    for name, content in runtime_files().items():
        (tmp_path / ".onehook" / name).write_bytes(content)
    launch = str(tmp_path / ".onehook" / "launch")
    for dialect, host in zip(itertools.cycle(NATIVE), HOSTS):
        path = manifest_of(tmp_path / "hooks", guard(dialect))
        result = process(launcher(path, "--host", host, launch=launch), tool_payload(host, "rm -rf x"))
        assert reason_of(result, host) == NATIVE[dialect][2]
