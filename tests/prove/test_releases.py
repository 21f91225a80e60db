"""Several releases of an agent: how they are selected and installed, and how their differences are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from onehook.cli import main
from onehook.core import UsageError
from onehook.hostkit.live import Package
from onehook.hosts import load, wire_of
from onehook.prove import registries
from onehook.prove.agents import agents_of, install, pins, releases
from onehook.prove.expectations import NO_EVENT, NOT_HONOURED, WORKS, expectation
from onehook.prove.registries import AgentError, installed, own_node, python_for
from onehook.prove.report import release_lines
from onehook.prove.results import compared
from onehook.prove.scenarios import CORE, SCENARIOS, by_id

COPILOT = load("copilot", "live").TRAITS.package
assert COPILOT is not None
Npm = Callable[[str], Path]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    """Puts an npm on PATH that runs the script and records its calls."""

    def put(text: str) -> Path:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{text}\n', encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        monkeypatch.setenv("ONEHOOK_AGENTS", str(tmp_path / "cache"))
        return tmp_path / "calls"

    return put


def onehook(*words: str) -> Result:
    return CliRunner().invoke(main, ["prove", *words])


# ---- which releases


def test_the_words_name_a_release_of_each_agent(npm: Npm) -> None:
    calls = npm("echo 1.0.200")
    found = releases(["copilot"], ["old", "pinned", "newest", "1.0.80"])
    assert [pin.version for pin in found] == [COPILOT.oldest, COPILOT.version, "1.0.200", "1.0.80"]
    assert calls.read_text() == f"view {COPILOT.package} version\n"


def test_a_release_that_is_named_twice_is_one_release(npm: Npm) -> None:
    npm(f"echo {COPILOT.version}")
    assert [pin.version for pin in releases(["copilot"], ["pinned", "newest", COPILOT.version])] == [COPILOT.version]


def test_every_agent_has_an_old_release_beside_the_pinned_one() -> None:
    old, pinned = releases(list(pins()), ["old"]), releases(list(pins()), ["pinned"])
    assert [pin.host for pin in old] == [pin.host for pin in pinned] == list(pins())
    assert not {(pin.host, pin.version) for pin in old} & {(pin.host, pin.version) for pin in pinned}


@pytest.mark.parametrize("words", [["oldest"], ["pinned", "x.1"], []])
def test_an_unknown_word_is_refused_with_the_known_ones(words: list[str]) -> None:
    with pytest.raises(UsageError, match="use old, pinned, newest or a version such as"):
        releases(["copilot"], words)


def test_a_version_belongs_to_one_agent() -> None:
    with pytest.raises(UsageError, match=r"--hosts copilot --versions 1\.0\.75"):
        releases(["copilot", "codex"], ["1.0.75"])


# ---- installing them


def test_a_release_is_installed_into_a_folder_of_its_own(npm: Npm, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (pin,) = releases(["copilot"], ["1.0.80"])
    calls = npm(f"mkdir -p {pin.program(cache).parent} && touch {pin.program(cache)}")
    assert agents_of([pin], cache) == []
    install(pin, cache, lambda text: None)
    assert f"--prefix {cache}/copilot-1.0.80 @github/copilot@1.0.80" in calls.read_text()
    assert [(agent.host, agent.version) for agent in agents_of([pin], cache)] == [("copilot", "1.0.80")]


def test_without_npm_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ONEHOOK_AGENTS", str(tmp_path / "cache"))
    done = onehook("--hosts", "copilot", "--versions", "newest")
    assert done.exit_code == 1 and "npm is not on PATH; install Node.js" in done.output


@pytest.mark.parametrize("text", ["npm error code ETARGET", "npm error 404 No match found for version 9.9.9"])
def test_a_version_that_does_not_exist_is_reported_with_how_to_list_them(npm: Npm, tmp_path: Path, text: str) -> None:
    npm(f"echo '{text}' >&2; exit 1")
    done = onehook("--hosts", "copilot", "--versions", "9.9.9")
    assert done.exit_code == 1
    assert "there is no such release; `npm view @github/copilot versions` lists them" in done.output
    assert not list((tmp_path / "cache").iterdir())


def test_an_agent_that_cannot_be_installed_does_not_keep_the_others_from_being_run(
    npm: Npm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pin,) = releases(["copilot"], ["pinned"])
    made = f"mkdir -p {pin.program(tmp_path / 'cache').parent} && touch {pin.program(tmp_path / 'cache')}"
    npm(f"case \"$*\" in *copilot*) {made};; *) echo 'no such package' >&2; exit 1;; esac")
    monkeypatch.setattr("onehook.prove.conduct.conduct", lambda jobs, *_: [])
    done = onehook("--hosts", "qwen,copilot", "--versions", "pinned", "--only", "deny")
    assert done.exit_code == 1 and "Error: @qwen-code/qwen-code@" in done.output and "no such package" in done.output
    assert pin.ready(tmp_path / "cache") and "could not be installed" in done.output.splitlines()[-2]


MISSING = "npm error notarget No matching version found for {}."
TIMES = '{"1.0.80": "2026-09-27T11:09:25.681+00:00", "1.0.81": "2026-10-02T00:00:00Z"}'


def test_a_dependency_that_the_registry_lacks_is_taken_as_of_the_release(npm: Npm, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (pin,) = releases(["copilot"], ["1.0.80"])
    made = f"mkdir -p {pin.program(cache).parent} && touch {pin.program(cache)}"
    missing = MISSING.format("ai@7.0.170")
    calls = npm(f"case \"$*\" in view*) echo '{TIMES}';; *--before*) {made};; *) echo '{missing}' >&2; exit 1;; esac")
    install(pin, cache, lambda text: None)
    assert pin.ready(cache)
    assert "--before 2026-09-28 @github/copilot@1.0.80" in calls.read_text()


def test_a_dependency_that_never_was_there_is_named(npm: Npm, tmp_path: Path) -> None:
    npm(f"case \"$*\" in view*) echo '{TIMES}';; *) echo '{MISSING.format('ai@7.0.170')}' >&2; exit 1;; esac")
    done = onehook("--hosts", "copilot", "--versions", "1.0.80")
    assert done.exit_code == 1
    assert "it depends on ai@7.0.170, which the registry does not have" in done.output
    assert not list((tmp_path / "cache").iterdir())


def test_the_release_itself_is_not_taken_for_a_dependency(npm: Npm) -> None:
    npm(f"echo '{MISSING.format('@github/copilot@9.9.9')}' >&2; exit 1")
    assert "there is no such release" in onehook("--hosts", "copilot", "--versions", "9.9.9").output


def test_listing_the_agents_installs_nothing(npm: Npm, tmp_path: Path) -> None:
    calls = npm("exit 1")
    done = onehook("--hosts", "copilot", "--versions", "old", "--list")
    assert done.exit_code == 0 and "stop-guard" in done.output
    assert not calls.exists()


def test_what_npm_says_about_another_failure_is_shown(npm: Npm) -> None:
    npm("echo 'the registry is on fire' >&2; exit 1")
    assert "the registry is on fire" in onehook("--hosts", "copilot", "--versions", "newest").output


def test_an_npm_that_does_not_finish_is_an_error(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm("exec sleep 20")
    monkeypatch.setattr(registries, "INSTALL_SECONDS", 0.5)
    with pytest.raises(AgentError, match="npm did not finish"):
        releases(["copilot"], ["newest"])


def test_an_agent_that_needs_a_newer_node_gets_one_of_its_own(npm: Npm, tmp_path: Path) -> None:
    calls = npm("")
    package = Package("an-agent", "2.0.0", "1.0.0", ".bin/agent", disk_mb=1, node="22.22.0")
    installed(package, "2.0.0", tmp_path / "agent")
    folder = own_node(package, tmp_path / "agent")
    assert folder is not None
    name = folder.parent.name
    assert name.startswith("node-") and calls.read_text().endswith(f" {name}@22.22.0 an-agent@2.0.0\n")


def test_an_agent_that_needs_a_python_that_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    package = Package("an-agent", "2.0.0", "1.0.0", "agent", disk_mb=1, registry="pypi", python="3.99")
    with pytest.raises(AgentError, match=r"needs Python 3\.99, and no python3\.99 was found"):
        python_for(package)


def test_an_interpreter_on_path_that_does_not_run_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken, real = tmp_path / "bin" / "python3.99", tmp_path / "versions" / "3.99.1" / "bin" / "python"
    for path, text in ((broken, "exit 127"), (real, "exit 0")):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent), prepend=":")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    package = Package("an-agent", "2.0.0", "1.0.0", "agent", disk_mb=1, registry="pypi", python="3.99")
    assert python_for(package) == str(real)


def test_releases_are_not_compared_with_the_committed_results() -> None:
    done = onehook("--versions", "old", "--diff")
    assert done.exit_code == 2 and "--versions compares releases with each other" in done.output


# ---- what differs


def row(version: str, scenario: str, verdict: str, **more: str) -> dict[str, str]:
    return {"host": "qwen", "version": version, "scenario": scenario, "verdict": verdict, **more}


DOCUMENT = {
    "onehook": "0",
    "date": "today",
    "agents": {"qwen": "0.24.4"},
    "results": [
        row("0.21.2", "deny", "proven"),
        row("0.21.2", "stop-continued", "not honoured", detail="it is true at once"),
        row("0.24.4", "deny", "proven"),
        row("0.24.4", "stop-continued", "proven"),
    ],
}


def test_the_differences_between_releases_as_data_and_as_lines() -> None:
    document = compared(DOCUMENT)
    assert document["releases"] == {"qwen": ["0.21.2", "0.24.4"]} and "agents" not in document
    (differs,) = document["differs"]
    assert differs["scenario"] == "stop-continued" and differs["verdicts"] == {"0.21.2": "not honoured", "0.24.4": "proven"}
    assert [(fact["host"], fact["version"]) for fact in document["known"]] == [("qwen", "0.21.2")]
    lines = release_lines(document)
    assert lines[:2] == [
        "Differences between the releases:",
        "qwen stop-continued: 0.21.2 not honoured, 0.24.4 proven (it is true at once)",
    ]
    assert lines[2].startswith("Known: qwen 0.21.2: `stop_hook_active`")
    assert json.dumps(document)


def test_releases_that_behave_the_same() -> None:
    assert release_lines(compared({**DOCUMENT, "results": DOCUMENT["results"][::2]}))[0] == "No differences between the releases."


def test_a_single_release_is_not_compared() -> None:
    assert release_lines(compared({**DOCUMENT, "results": DOCUMENT["results"][2:]})) == []


# ---- what is expected of them


def test_a_known_difference_is_expected_on_the_releases_that_have_it() -> None:
    (stop,) = by_id(["stop-continued"])
    assert expectation("qwen", stop, "", "0.21.2")[0] == NOT_HONOURED
    assert "`stop_hook_active`" in expectation("qwen", stop, "", "0.21.2")[1]
    assert expectation("qwen", stop, "", "0.24.4")[0] == WORKS
    assert expectation("qwen", by_id(["deny"])[0], "", "0.21.2")[0] == WORKS


def test_entries_of_another_agent_are_expected_to_work_only_where_they_are_run() -> None:
    (borrowed,) = by_id(["borrowed"])
    reading = {host for host in pins() if "claude" in wire_of(host).TRAITS.reads_config_of}
    assert {host for host in pins() if expectation(host, borrowed)[0] != NO_EVENT} == reading
    assert {"copilot", "cursor"} < reading


def test_the_core_scenarios_are_scenarios_and_have_a_name() -> None:
    assert [scenario.id for scenario in by_id(["core"])] == list(CORE)
    assert set(CORE) < {scenario.id for scenario in SCENARIOS}
    assert [scenario.id for scenario in by_id(["deny", "core"])] == list(CORE)
    with pytest.raises(UsageError, match="known scenarios: core, deny"):
        by_id(["nothing"])
