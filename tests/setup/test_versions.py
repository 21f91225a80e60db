"""The installed release of an agent is read from its files or queried with a time limit, and doctor compares it with the proven ones."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from onehook.hostkit.versions import Fact, between, numbers
from onehook.hosts import having, load
from onehook.setup import versions
from onehook.setup.doctor import examine
from onehook.setup.plan import config_of
from onehook.setup.versions import agent_here, agents_here, program, version_of
from tests.setup.installing import IN_PROJECTS, Place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX programs")

PACKAGES = {host: package for host in having("live") if (package := load(host, "live").TRAITS.package)}
ASKABLE = [host for host in PACKAGES if not load(host, "live").TRAITS.report]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, variables={"PATH": "ROOT/bin:/usr/bin:/bin", "SHELL": "/bin/sh"})


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def npm_agent(place: Place, host: str, version: str, name: str = "@some/agent") -> Path:
    """As installed by `npm install -g`: a link on PATH into a package. The program leaves a mark when it is started."""
    package = place.root / "lib" / "node_modules" / name
    main = script(package / "bin" / "main.js", f"touch {place.root}/started; echo 9.9.9")
    (package / "package.json").write_text(json.dumps({"name": name, "version": version}), encoding="utf-8")
    link = place.root / "bin" / config_of(host).BINARIES[0]
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(main)
    return link


def findings(place: Place, host: str, *, fire: bool = False) -> list[tuple[str, str]]:
    reports = examine(place.machine, [host], fire=fire)
    return [(report.diagnosis.level, f"{report.diagnosis.what} -> {report.diagnosis.fix}") for report in reports]


def about_versions(place: Place, host: str) -> list[tuple[str, str]]:
    return [finding for finding in findings(place, host) if "onehook is proven on" in finding[1]]


# ---- where the version comes from


@pytest.mark.parametrize("name", ["@some/agent", "agent"])
def test_the_version_of_an_npm_package_is_read_and_nothing_is_started(place: Place, name: str) -> None:
    link = npm_agent(place, "codex", "0.150.0", name)
    machine = replace(place.machine, ask_hosts=True)
    assert program("codex", machine) == str(link)
    assert version_of("codex", str(link), machine) == "0.150.0"
    assert not (place.root / "started").exists()


def test_a_version_in_the_path_is_read(place: Place) -> None:
    native = script(place.home / ".local" / "share" / "claude" / "versions" / "2.1.300", "exit 1")
    brewed = script(place.root / "Cellar" / "codex" / "0.151.0" / "bin" / "codex", "exit 1")
    assert version_of("claude", str(native), place.machine) == "2.1.300"
    assert version_of("codex", str(brewed), place.machine) == "0.151.0"


def test_the_version_of_the_runtime_in_a_path_is_not_the_agent_s(place: Place) -> None:
    shim = script(place.root / "installs" / "nodejs" / "22.1.0" / "bin" / "gemini", "echo 0.60.0")
    assert version_of("gemini", str(shim), place.machine) == ""
    assert version_of("gemini", str(shim), replace(place.machine, ask_hosts=True)) == "0.60.0"


def test_an_agent_that_updates_itself_has_the_version_of_its_newest_update(place: Place) -> None:
    link = npm_agent(place, "copilot", "1.0.75")
    for version in ("1.0.80", "1.0.102"):
        (place.home / ".cache" / "copilot" / "pkg" / "linux-x64" / version).mkdir(parents=True)
    assert version_of("copilot", str(link), place.machine) == "1.0.102"


def test_a_program_that_is_not_on_path_is_found_where_its_installer_puts_it(place: Place) -> None:
    assert program("opencode", place.machine) == ""
    found = script(place.home / ".opencode" / "bin" / "opencode", "echo 1.18.20")
    assert program("opencode", place.machine) == str(found)
    assert version_of("opencode", str(found), replace(place.machine, ask_hosts=True)) == "1.18.20"


def test_a_program_is_not_started_unless_agents_may_be_asked(place: Place) -> None:
    link = script(place.root / "bin" / "opencode", f"touch {place.root}/started; echo 1.18.20")
    assert version_of("opencode", str(link), place.machine) == ""
    assert not (place.root / "started").exists()


def test_a_program_of_the_project_is_never_started(place: Place) -> None:
    theirs = script(place.project / "bin" / "opencode", f"touch {place.root}/started; echo 1.18.20")
    link = place.root / "bin" / "opencode"
    link.parent.mkdir()
    link.symlink_to(theirs)
    assert version_of("opencode", str(link), replace(place.machine, ask_hosts=True)) == ""
    assert not (place.root / "started").exists()


def test_a_program_that_does_not_answer_is_ended_with_its_children(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "SECONDS", 2)
    link = script(place.root / "bin" / "opencode", f"sleep 60 & echo $! > {place.root}/pid; wait")
    assert version_of("opencode", str(link), replace(place.machine, ask_hosts=True)) == ""
    child = Path("/proc", (place.root / "pid").read_text().strip(), "cmdline")
    deadline = time.monotonic() + 10
    while child.exists() and child.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not (child.exists() and child.read_bytes())  # gone, or waiting to be reaped


# ---- what doctor says about it


@pytest.mark.parametrize("host", [host for host in ASKABLE if host in IN_PROJECTS])
def test_doctor_warns_about_releases_outside_the_proven_ones(tmp_path: Path, host: str) -> None:
    package = PACKAGES[host]
    for version, level, word in (
        ("0.0.1", "warn", "older"),
        (package.oldest, "ok", ""),
        (package.version, "ok", ""),
        ("999.0", "warn", "newer"),
    ):
        place = Place(tmp_path / version, variables={"PATH": "ROOT/bin:/usr/bin:/bin", "SHELL": "/bin/sh"})
        place.install([host])
        npm_agent(place, host, version)
        ((said, text),) = about_versions(place, host)
        assert said == level and word in text and version in text
        assert f"{package.oldest} to {package.version}" in text
        assert level == "ok" or f"onehook prove --hosts {host}" in text


def test_doctor_says_what_is_known_about_a_release(place: Place) -> None:
    place.install(["copilot"])
    npm_agent(place, "copilot", "1.0.75")
    assert ("note", "`toolArgs` is JSON text instead of an object; onehook reads both -> ") in findings(place, "copilot")


def test_doctor_fails_for_a_release_on_which_no_deny_takes_effect(place: Place) -> None:
    place.install(["droid"])
    npm_agent(place, "droid", "0.117.0")
    assert any(level == "fail" and ".factory/hooks.json" in text and "update the agent" in text for level, text in findings(place, "droid"))


@pytest.mark.parametrize("name", ["settings.json", "hooks/hooks.json"])
def test_a_release_that_skips_one_file_runs_the_hooks_of_another(place: Place, name: str) -> None:
    file = place.project / ".factory" / name
    file.parent.mkdir(parents=True)
    hooks = {"PreToolUse": [{"matcher": "Execute", "hooks": [{"type": "command", "command": "true"}]}]}
    file.write_text(json.dumps({"hooks": hooks} if name == "settings.json" else hooks))
    place.install(["droid"])
    assert "launch.py" in file.read_text()
    npm_agent(place, "droid", "0.117.0")
    assert not [text for level, text in findings(place, "droid") if level == "fail"]


def test_doctor_says_nothing_about_versions_without_a_policy_or_an_agent(place: Place) -> None:
    npm_agent(place, "codex", "0.1.0")
    place.install(["claude"])
    assert not about_versions(place, "codex")  # no policy there
    assert not about_versions(place, "claude")  # no such program


def test_an_agent_whose_version_is_unknown_is_noted(place: Place) -> None:
    place.install(["opencode"])
    script(place.root / "bin" / "opencode", "echo hello")
    ((level, text),) = about_versions(place, "opencode")
    assert level == "note" and "is unknown" in text


def test_the_agents_that_have_a_policy_as_data(place: Place) -> None:
    place.install(["copilot"])
    npm_agent(place, "copilot", "1.0.75")
    (here,) = agents_here(place.machine, ["copilot", "codex"])
    package = PACKAGES["copilot"]
    assert here == agent_here("copilot", place.machine)
    assert here.to_dict() == {
        "host": "copilot",
        "program": str(place.root / "bin" / "copilot"),
        "version": "1.0.75",
        "oldest": package.oldest,
        "newest": package.version,
        "proven": True,
        "known": ["`toolArgs` is JSON text instead of an object; onehook reads both"],
    }


# ---- the data of the hosts


@pytest.mark.parametrize("host", PACKAGES)
def test_the_proven_releases_and_the_facts_of_a_host_are_well_formed(host: str) -> None:
    from onehook.prove.scenarios import by_id

    package = PACKAGES[host]
    assert numbers(package.oldest) < numbers(package.version)
    for fact in load(host, "live").TRAITS.facts:
        assert fact.since or fact.until
        assert not (fact.since and fact.until) or numbers(fact.since) <= numbers(fact.until)
        by_id(fact.rows)


def test_versions_are_compared_by_their_numbers() -> None:
    assert numbers("1.0.102") > numbers("1.0.75")
    assert numbers("0.62.0-nightly.20261101") == (0, 62, 0)
    assert numbers("unknown") == () and not between("unknown", "", "")
    assert between("1.2", "1.2", "1.3") and not between("1.4", "1.2", "1.3") and between("9", "1.2", "")
    assert Fact("x", until="1.0").releases == "1.0 and older" and Fact("x", since="1.0", until="2.0").holds("1.5")
