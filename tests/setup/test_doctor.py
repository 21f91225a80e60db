"""Every check of doctor, where it reports something and where it does not; it fails exactly when a deny would not take effect."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import Diagnosis, Found, Machine
from onehook.hosts import optional
from onehook.setup import entry_checks, probe
from onehook.setup.command import LAUNCHER, interpreter
from onehook.setup.doctor import examine
from onehook.setup.installed import ConfigFile, config_files, rows
from onehook.setup.plan import config_of, configurable
from onehook.setup.runtime import runtime_files
from tests.host_folders import facts
from tests.setup.installing import IN_PROJECTS, POLICY, Place, change_runtime, file_of

HOSTS = ["claude", "cursor", "codex"]  # as examples
FILES = {host: file_of(host) for host in HOSTS}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")


@pytest.fixture(scope="module")
def _said() -> dict[Any, Any]:
    return {}


@pytest.fixture(autouse=True)
def _no_start_twice(monkeypatch: pytest.MonkeyPatch, _said: dict[Any, Any]) -> None:
    """The same command on the same files has the same result, and starting an interpreter is most of what these tests cost."""

    def once(function: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any) -> Any:
            words = (function, key(*arguments))
            if words not in _said:
                _said[words] = function(*arguments)
            return _said[words]

        return asked

    monkeypatch.setattr(probe, "run_probe", once(probe.run_probe, what_a_probe_depends_on))
    monkeypatch.setattr(entry_checks, "describe", once(entry_checks.describe, what_a_description_depends_on))


def what_a_probe_depends_on(file: ConfigFile, found: Found, machine: Machine, answer: str) -> Any:
    """Everything on this machine except the file with the entry, which only agents that look for entries of their own read."""
    without = None if optional(file.host, "own_entries") else file.place.path
    return file.host, found.event, found.command, answer, tuple(machine.variables.items()), contents(machine.home.parent, without)


def what_a_description_depends_on(policy: str, python: str) -> Any:
    """A policy is described in an empty folder, and may import what is in its own folder."""
    return policy, python or interpreter(), contents(Path(policy).parent, None, "*.py")


def contents(folder: Path, without: Path | None, pattern: str = "*") -> Any:
    files = (path for path in folder.rglob(pattern) if path != without and not {"state", "__pycache__"} & {*path.parts})
    return tuple((str(path), hashlib.sha256(path.read_bytes()).digest()) for path in sorted(files) if path.is_file())


@pytest.fixture(scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder that every `place` is in, and its content after the install."""
    root, kept = tmp_path_factory.mktemp("installed") / "root", tmp_path_factory.mktemp("kept") / "root"
    Place(root).install(HOSTS, trust=True)
    shutil.copytree(root, kept, symlinks=True)
    return root, kept


@pytest.fixture
def place(_installed: tuple[Path, Path]) -> Place:
    """Installed for all, and trusted. It has the same path as in the previous test, so that results from there can be used again."""
    root, kept = _installed
    shutil.rmtree(root)
    shutil.copytree(kept, root, symlinks=True)
    return Place(root, variables={"SHELL": "/bin/sh"})


@pytest.fixture
def same_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder with the same path as in the previous test: a policy that has not moved is described once.

    The portable runtime stays, with what it has compiled, as in a project that already has the hooks of another agent.
    """
    folder, kept = tmp_path_factory.getbasetemp() / "doctor", tmp_path_factory.getbasetemp() / "runtime-of-doctor"
    for runtime in folder.glob("*/.onehook"):
        runtime.rename(kept)
    shutil.rmtree(folder, ignore_errors=True)
    project = folder / "a project"
    project.mkdir(parents=True)
    if kept.is_dir():
        kept.rename(project / ".onehook")
    return folder


def diagnoses(place: Place, *hosts: str, fire: bool = False) -> list[Diagnosis]:
    return [report.diagnosis for report in examine(place.machine, list(hosts) or HOSTS, fire=fire)]


def told(place: Place, level: str, *hosts: str, fire: bool = False) -> str:
    return "\n".join(f"{f.what} -> {f.fix}" for f in diagnoses(place, *hosts, fire=fire) if f.level == level)


def edit(place: Place, host: str, change: Callable[[Any], None]) -> None:
    file = place.project / file_of(host)
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def replace_in(place: Place, host: str, old: str, new: str) -> None:
    file = place.project / FILES[host]
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_good_install_has_nothing_to_fix_and_runs_on_every_host(place: Place) -> None:
    levels = {diagnosis.level for diagnosis in diagnoses(place, fire=True)}
    assert levels <= {"ok", "note"}
    for host in HOSTS:
        assert "a test event, run through the agent's shell without your handlers" in told(place, "ok", host, fire=True)
        assert "valid; installed for" in told(place, "ok", host)


def test_a_policy_of_several_hosts_is_loaded_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, ...]] = []
    describe = entry_checks.describe
    monkeypatch.setattr(entry_checks, "describe", lambda *words: loaded.append(words) or describe(*words))
    diagnoses(place, fire=True)
    assert len(loaded) == len(set(loaded)) == 1


@pytest.mark.parametrize("portable", [False, True], ids=["absolute", "portable"])
@pytest.mark.parametrize("fail_closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("host", IN_PROJECTS)
def test_every_host_is_fired(same_folder: Path, host: str, portable: bool, fail_closed: bool) -> None:
    place = Place(same_folder, "a project", variables={"SHELL": "/bin/sh", "PATH": os.environ["PATH"]})
    place.install([host], portable=portable, fail_closed=fail_closed)
    assert "denied and allowed as expected" in told(place, "ok", host, fire=True)


def test_nothing_installed_at_all_is_a_failure(tmp_path: Path) -> None:
    assert "no policy is installed" in told(Place(tmp_path), "fail")


def test_where_nothing_is_installed_little_is_loaded(tmp_path: Path) -> None:
    """Agents that are not installed must not slow doctor down: the checks of our entries are loaded only where there are some."""
    code = "import runpy, sys\ntry:\n    runpy.run_module('onehook', run_name='__main__')\nfinally:\n    print('LOADED', *sys.modules)"
    variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code, "doctor"], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
    loaded = done.stdout.partition("LOADED ")[2].split()
    assert "onehook.setup.doctor" in loaded and "onehook.hosts.claude.config" in loaded, done.stderr
    late = ("onehook.lint", "onehook.testing", "onehook.hosts.claude.live", "onehook.setup.entry_checks", "tarfile")
    assert [name for name in loaded if name.startswith(late)] == []


def test_a_host_that_is_here_without_a_policy_is_a_warning_only(place: Place) -> None:
    place.uninstall(["cursor"])
    (place.project / ".cursor").mkdir()
    assert "but no policy is installed" in told(place, "warn", "claude", "cursor")
    assert "onehook install POLICY --hosts cursor" in told(place, "warn", "claude", "cursor")
    assert told(place, "fail", "claude", "cursor") == ""


def test_a_host_that_is_not_here_is_a_note(place: Place) -> None:
    place.uninstall(["cursor"])
    assert "not found on this machine" in told(place, "note", "claude", "cursor")


@pytest.mark.parametrize(("host", "change", "text"), [(host, *row) for host in IN_PROJECTS for row in facts(host).REJECTED])
def test_a_file_that_the_host_rejects_fails(place: Place, host: str, change: Callable[[Any], None], text: str) -> None:
    place.install([host], trust=True)
    edit(place, host, change)
    assert text in told(place, "fail", host)


def test_a_file_that_cannot_be_read_is_named_with_the_place(place: Place) -> None:
    (place.project / FILES["codex"]).write_text('{"hooks": ')
    assert "codex/hooks.json: line 1, column 11" in told(place, "warn", "claude", "codex")
    assert "no policy is installed" in told(place, "fail", "codex")


def test_tools_that_cannot_be_checked_are_noted_where_a_policy_is_installed(place: Place) -> None:
    listed = {(host, tool) for host in configurable() for tool in config_of(host).TRAITS.unguarded}
    assert {("codex", "write_stdin"), ("cursor", "WriteShellStdin")} <= listed
    assert "write_stdin cannot be checked: Codex runs no hook" in told(place, "note", "codex")
    assert "WriteShellStdin cannot be checked" in told(place, "note", "cursor")
    assert "cannot be checked" not in told(place, "note", "claude")
    (place.project / FILES["codex"]).unlink()
    assert "cannot be checked" not in told(place, "note", "codex")


# The format of the first file in a project.
FORMATS = {host: config_of(host).places(Machine(Path("/h"), Path("/p")))[0].format for host in IN_PROJECTS}
PLAIN_JSON = [host for host in IN_PROJECTS if FORMATS[host] == "json"]


@pytest.mark.parametrize("note", ["// mine", "/* mine */", '"mine": [1,],'])
@pytest.mark.parametrize("host", PLAIN_JSON)
def test_a_plain_json_file_with_a_comment_or_a_trailing_comma_hides_our_hooks_from_the_host(tmp_path: Path, host: str, note: str) -> None:
    place = Place(tmp_path)
    place.install([host])
    file = config_of(host).places(place.machine)[0].path
    text = file.read_text()
    file.write_text(text.replace("{", "{ " + note + "\n", 1))
    assert "runs no hooks from such a file, including onehook's -> vi " in told(place, "fail", host)
    file.write_text(text)
    assert "runs no hooks from such a file" not in told(place, "fail", host)


@pytest.mark.parametrize(("host", "then"), [(host, facts(host).TRAILING_COMMA) for host in IN_PROJECTS if facts(host).TRAILING_COMMA])
def test_a_trailing_comma_fails_where_comments_are_allowed(tmp_path: Path, host: str, then: str) -> None:
    place = Place(tmp_path)
    place.install([host])
    file = config_of(host).places(place.machine)[0].path
    text = file.read_text()
    file.write_text(text.replace("{", '{ // ,}\n "a": ",]", /* ,] */\n', 1))
    assert "after the last element" not in told(place, "fail", host)
    file.write_text(text.replace("{", '{\n "a": [1, // one\n],', 1))
    assert f"line 2: a comma after the last element; {then}" in told(place, "fail", host)


def test_a_url_in_cursors_file_fails(place: Place) -> None:
    edit(place, "cursor", lambda data: data["hooks"]["stop"].append({"command": "curl http://x"}))
    assert "takes // or /* in 'curl http://x' for a comment" in told(place, "fail", "cursor")


@pytest.mark.parametrize("event", ["Stop", "PostToolUse"])
def test_events_that_are_missing_are_noted_and_a_missing_gate_fails(place: Place, event: str) -> None:
    place.install(["claude"], events=[event])
    assert "not installed for SessionStart, PreToolUse" in told(place, "note", "claude")
    text = told(place, "fail", "claude", fire=True)
    assert "no_destruction never runs: the policy is not installed for PreToolUse -> onehook install" in text


@pytest.mark.parametrize(
    ("handlers", "text"),
    [
        ("", "has no handlers, so it denies nothing"),
        ('@hooks.on("SessionStart")\ndef start(event): pass', "handles only SessionStart, and a deny does not prevent anything there"),
        ('@hooks.on("PreToolUse", host="cursor")\ndef other(event): pass', "handles only PreToolUse"),
    ],
    ids=["none", "no gate", "another agent"],
)
def test_a_policy_that_cannot_deny_is_not_ok(place: Place, handlers: str, text: str) -> None:
    place.policy.write_text(f"from onehook import Hooks\nhooks = Hooks()\n{handlers}\n")
    assert text in told(place, "fail", "claude", fire=True)
    other = place.project / "other.py"
    other.write_text(POLICY)
    place.install(["claude"], policy=other)
    assert told(place, "fail", "claude", fire=True) == "" and text in told(place, "note", "claude", fire=True)


@pytest.mark.parametrize("host", IN_PROJECTS)
def test_a_matcher_is_judged_as_the_host_does(same_folder: Path, host: str) -> None:
    place = Place(same_folder, variables={"SHELL": "/bin/sh"})
    for matcher, seen in (("Bash", True), ("Bash|Write", True), ("Write", False), ("MCP", False), ("Bsh", False)):
        place.install([host], matchers={"": matcher})
        found = diagnoses(place, host, fire=True)
        left_out = any("which leaves out Bash: no_destruction never sees it" in f.what for f in found if f.level == "fail")
        seen = seen or (matcher == "MCP" and not facts(host).MCP_BY_NAME)
        assert left_out is not seen, (matcher, found)
        written = next(f.matcher for file in config_files(place.machine, [host]) for f in file.ours if f.matcher)
        assert any(f"({written})" in f.what for f in found if f.level == "ok")
        assert any(written in row.matchers.values() for row in rows(place.machine))
    place.policy.write_text(POLICY.replace('tool="Bash"', 'tool="mcp__github__*"'))
    assert "which leaves out mcp__github__*" in told(place, "fail", host, fire=True)
    place.install([host], matchers={"": "MCP"})
    assert "leaves out" not in told(place, "fail", host, fire=True)


def test_a_matcher_that_a_handler_for_every_tool_does_not_need_is_noted(place: Place) -> None:
    place.policy.write_text(POLICY.replace(', tool="Bash"', ""))
    place.install(["claude"], matchers={"": "Bash"})
    assert told(place, "fail", "claude", fire=True) == ""
    assert "has the matcher 'Bash|PowerShell|Monitor', which leaves out Read, Write" in told(place, "note", "claude", fire=True)


# ---- what doctor does not run


@pytest.mark.parametrize(
    "command",
    [
        "touch {made}; python3 -I -S /x/onehook/launch.py /p.py --host claude --event PreToolUse",
        "touch {made} # onehook/launch.py",
        "{evil} -I -S {launcher} {policy} --host claude --host cursor --event PreToolUse",
        "{python} -I -S {evil_launcher} {policy} --host claude --host cursor --event PreToolUse",
        "{python} -I -S {launcher} {policy} --host claude --host cursor --event $(touch${{IFS}}{made})",
        'python3 -I -S "$CLAUDE_PROJECT_DIR"/.onehook/launch "$CLAUDE_PROJECT_DIR"/policy.py '
        "--host claude --host cursor --event PreToolUse",
    ],
    ids=["prefix", "comment", "interpreter", "launcher", "argument", "runtime"],
)
def test_a_command_that_install_would_not_write_is_never_run(tmp_path: Path, command: str) -> None:
    place, made = Place(tmp_path, variables={"SHELL": "/bin/sh", "PATH": os.environ["PATH"]}), tmp_path / "made"
    evil = place.project / "python"
    evil.write_text(f"#!/bin/sh\ntouch {made}\n")
    evil.chmod(0o755)
    for launcher in (place.project / ".onehook" / "launch", place.project / "onehook" / "launch.py"):
        launcher.parent.mkdir()
        launcher.write_text(f"open({str(made)!r}, 'w')\n")
    (place.project / ".onehook" / "runtime.tar.gz").write_bytes(runtime_files()["runtime.tar.gz"])
    text = command.format(
        made=made, evil=evil, python=os.path.abspath(sys.executable), launcher=LAUNCHER, policy=place.policy,
        evil_launcher=place.project / "onehook/launch.py",
    )  # fmt: skip
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": text}]}
    (place.project / ".claude").mkdir()
    (place.project / FILES["claude"]).write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    found = diagnoses(place, "claude", fire=True)
    assert not made.exists()
    assert any("not run" in diagnosis.what for diagnosis in found)
    assert any(diagnosis.level == "fail" for diagnosis in found)


def test_an_entry_for_another_name_of_our_interpreter_is_run(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("python", "python3"):
        (tmp_path / name).symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    place.install(["claude"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    assert "was not run" not in told(place, "fail", "claude", fire=True)


# ---- what only works here


def test_a_changed_runtime_is_not_run(place: Place) -> None:
    place.variables["PATH"] = os.environ["PATH"]
    place.install(["claude"], portable=True)
    assert told(place, "fail", "claude", fire=True) == ""
    changes: dict[str, Callable[[], object]] = {
        "launch": lambda: (place.project / ".onehook" / "launch").write_text("print('{}')\n"),
        "runtime.tar.gz": lambda: change_runtime(place.project, "onehook/core.py", lambda source: source + b"# mine\n"),
    }
    for name, change in changes.items():
        change()
        text = told(place, "fail", "claude", fire=True)
        assert f"was changed after it was installed: {name} -> onehook install" in text
        assert "which does not match this version of onehook, so it was not run" in text
        place.install(["claude"], portable=True)
        assert told(place, "fail", "claude", fire=True) == ""


def test_imports_that_the_interpreter_lacks_are_reported(place: Place) -> None:
    place.policy.write_text(POLICY + "\n    import not_there_at_all\n    try:\n        import optional_one\n    except ImportError: pass\n")
    text = told(place, "fail", "claude", fire=True)
    assert f"line 9 of {place.policy} imports not_there_at_all, which" in text and "optional_one" not in text
    place.policy.write_text(POLICY + "\n    import json, os.path, beside, pytest\n")
    (place.project / "beside.py").write_text("")
    assert told(place, "fail", "claude", fire=True) == ""


def test_third_party_imports_are_a_warning_for_a_portable_policy(place: Place) -> None:
    python = place.root / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    place.variables["PATH"] = f"{python.parent}:{os.environ['PATH']}"
    place.install(["claude"], portable=True)
    place.policy.write_text("import pytest\n" + POLICY)
    assert "imports pytest, which is not part of Python" in told(place, "warn", "claude", fire=True)


def test_paths_of_this_machine_in_a_tracked_file_are_a_warning(place: Place) -> None:
    assert "git tracks" not in told(place, "warn", "claude")
    git = ["git", "-C", str(place.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    assert "git tracks" not in told(place, "warn", "claude")
    subprocess.run([*git, "add", "-f", FILES["claude"]], check=True)
    assert "git tracks this file, and it names " in told(place, "warn", "claude")
    place.install(["claude"], portable=True)
    assert "git tracks" not in told(place, "warn", "claude")


@pytest.mark.parametrize("host", HOSTS)
def test_a_missing_policy_fails(place: Place, host: str) -> None:
    place.policy.unlink()
    assert f"the policy {place.policy} does not exist -> onehook uninstall {place.policy}" in told(place, "fail", host)
    assert "it did not deny" in told(place, "fail", host, fire=True)


def test_a_missing_interpreter_and_launcher_fail(place: Place) -> None:
    replace_in(place, "claude", os.path.abspath(sys.executable), "/gone/python")
    replace_in(place, "cursor", "onehook/launch.py", "gone/onehook/launch.py")
    assert "the interpreter /gone/python does not exist -> onehook install" in told(place, "fail", "claude")
    assert "gone/onehook/launch.py does not exist -> onehook install" in told(place, "fail", "cursor")
    for host in ("claude", "cursor"):
        assert "differs from what this version of onehook writes, so it was not run" in told(place, "fail", host, fire=True)


def test_another_onehook_is_noted(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "onehook"
    other.mkdir()
    (other / "launch.py").write_text("")
    written = next(word for word in (place.project / FILES["claude"]).read_text().split() if word.endswith("/launch.py"))
    replace_in(place, "claude", written, str(other / "launch.py"))
    assert "run another installation of onehook" in told(place, "note", "claude")


def test_a_shim_is_a_warning(place: Place, tmp_path: Path) -> None:
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "python").symlink_to(sys.executable)
    assert "shim" not in told(place, "warn", "claude")
    replace_in(place, "claude", os.path.abspath(sys.executable), str(tmp_path / "shims" / "python"))
    assert "is a shim, which slows down every event" in told(place, "warn", "claude")


# ---- firing


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("options", "text"), [("", "it did not deny"), ('fail="closed"', "everything is denied")])
def test_a_policy_that_breaks_fails(place: Place, host: str, options: str, text: str) -> None:
    place.policy.write_text(POLICY.replace("Hooks()", f"Hooks({options})") + "\nraise RuntimeError('broken')\n")
    found = told(place, "fail", host, fire=True)
    assert text in found and "broken" in found


def test_a_policy_that_denies_everything_is_still_probed_right(place: Place) -> None:
    place.policy.write_text(POLICY.replace('if "rm -rf" in event.command', "if True"))
    assert told(place, "fail", fire=True) == ""


def test_a_login_shell_that_prints_is_a_warning(place: Place) -> None:
    (place.home / ".profile").write_text("echo welcome\n")
    assert "so some agents cannot read it: 'welcome'" in told(place, "warn", "cursor", fire=True)
    assert told(place, "warn", "claude", fire=True) == ""


def test_a_shell_that_does_not_exist_fails_for_the_host_that_uses_it(place: Place) -> None:
    place.variables["SHELL"] = "/gone/fish"
    assert "/gone/fish" in told(place, "fail", "cursor", fire=True)
    assert told(place, "fail", "claude", fire=True) == ""


def test_a_slow_policy_is_noted(place: Place) -> None:
    place.policy.write_text("import time; time.sleep(3)\n" + POLICY)
    assert "times a bare interpreter: caused by the imports of the policy" in told(place, "note", "claude", fire=True)


def test_pth_files_that_slow_the_interpreter_down_are_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = place.root / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    place.install(["claude"])
    assert ".pth" not in told(place, "note", "claude", fire=True)
    folder = next(environment.glob("lib/python*/site-packages"))
    (folder / "slow.pth").write_text("import time; time.sleep(0.6)\n")
    probe._start_of.cache_clear()
    assert "slow.pth make this interpreter" in told(place, "note", "claude", fire=True)


# ---- switched off, not trusted


@pytest.mark.parametrize("name", ["home/.claude/settings.json", "project/.claude/settings.local.json", FILES["claude"]])
def test_switched_off_hooks_fail_in_whatever_file_it_stands(place: Place, name: str) -> None:
    file = place.root / name if not name.startswith(".") else place.project / name
    file.parent.mkdir(exist_ok=True)
    data = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**data, "disableAllHooks": True}))
    assert f"disableAllHooks is on in {file}" in told(place, "fail", "claude")


def test_managed_hooks_only_fails_outside_of_the_managed_file(place: Place) -> None:
    managed = place.root / "system/etc/claude-code/managed-settings.json"
    managed.parent.mkdir(parents=True)
    managed.write_text('{"allowManagedHooksOnly": true}')
    assert "allowManagedHooksOnly" in told(place, "fail", "claude")
    place.install(["claude"], "enterprise")
    place.uninstall(["claude"], scopes=("project",))
    assert told(place, "fail", "claude") == ""


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"])
def test_a_variable_that_switches_hooks_off_fails(place: Place, variable: str) -> None:
    place.variables[variable] = "1"
    assert f"{variable} disables hooks -> unset {variable}" in told(place, "fail", "claude")


def test_the_trust_of_claude_is_a_note(place: Place) -> None:
    assert "does not trust" not in told(place, "note", "claude")
    (place.home / ".claude.json").unlink()
    assert "Claude Code does not trust this folder" in told(place, "note", "claude")


def test_codex_without_trust_fails(place: Place) -> None:
    config = place.home / ".codex" / "config.toml"
    trusted, key = config.read_text(), f'[hooks.state."{place.project}/.codex/hooks.json:stop:0:0"]'
    again = f"onehook install {place.policy} --hosts codex --scope project --trust"
    config.write_text(trusted[: trusted.index("[hooks.state")])
    found = told(place, "fail", "codex")
    assert "Codex CLI does not trust the SessionStart hook, the PreToolUse hook" in found and again in found
    config.write_text(trusted[trusted.index("[hooks.state") :])
    assert "Codex CLI does not trust this project: it silently skips the hooks" in told(place, "fail", "codex")
    config.write_text(f"{trusted}\n[features]\nhooks = false\n")
    assert "switched off in [features]" in told(place, "fail", "codex")
    config.write_text(trusted.replace(key, f"{key}\nenabled = false"))
    assert "the Stop hook is switched off in Codex" in told(place, "fail", "codex")


def test_installing_again_as_doctor_says_keeps_fail_closed(place: Place) -> None:
    place.install(HOSTS, fail_closed=True)
    (place.home / ".codex" / "config.toml").unlink()
    assert "--scope project --fail-closed --trust" in told(place, "fail", "codex")


def test_status_tells_of_hooks_that_the_agent_skips(place: Place) -> None:
    def noted(host: str) -> str:
        (note,) = [row.note for row in rows(place.machine) if row.host == host]
        return note

    assert noted("codex") == ""
    (place.home / ".codex" / "config.toml").unlink()
    assert "does not trust this project" in noted("codex") and "--trust" in noted("codex")
    (place.home / ".claude.json").unlink()
    assert noted("claude") == ""


# ---- several places


def test_user_and_project_both_is_a_warning_with_the_command_that_fixes_it(place: Place) -> None:
    assert "twice" not in told(place, "warn")
    place.install(["cursor"], "user")
    text = told(place, "warn", "cursor")
    assert "events are handled twice -> onehook uninstall --hosts cursor --scope user" in text
    place.uninstall(["cursor"], scopes=("user",))
    assert "twice" not in told(place, "warn", "cursor")


def test_claude_runs_the_same_command_once_whatever_files_it_stands_in(tmp_path: Path) -> None:
    place = Place(tmp_path)
    outside = tmp_path / "elsewhere.py"
    outside.write_text(POLICY)
    for scope in ("user", "project"):
        place.install(["claude"], scope, policy=outside)
    assert "twice" not in told(place, "warn", "claude")


def test_different_commands_for_claude_and_cursor_are_handled_twice(place: Place) -> None:
    assert "also runs" not in told(place, "warn")
    place.install(["claude"], timeout=3)
    text = told(place, "warn")
    assert "Cursor also runs the entries of Claude Code, and they differ for SessionStart" in text
    assert f"onehook install {place.policy} --hosts claude,cursor" in text


def test_copilot_beside_claude_is_no_matter_unless_they_differ(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude", "copilot"])
    assert "also runs" not in told(place, "warn", "claude", "copilot")
    other = place.project / "other.py"
    other.write_text(place.policy.read_text())
    place.install(["copilot"], policy=other)
    assert "also runs" not in told(place, "warn", "claude", "copilot")
    place.uninstall(["copilot"], policy=place.policy)
    assert "Copilot CLI also runs the entries of Claude Code, and they differ for SessionStart" in told(place, "warn", "claude", "copilot")


def test_copilot_does_not_read_what_claude_has_for_the_user(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(["claude"], "user")
    place.install(["copilot"], "user")
    assert "also runs" not in told(place, "warn", "claude", "copilot")


def test_hooks_of_others_on_the_same_events_are_noted(place: Place) -> None:
    assert "other hooks" not in told(place, "note")
    edit(place, "cursor", lambda data: data["hooks"]["preToolUse"].append({"command": "guard-dog"}))
    edit(place, "cursor", lambda data: data["hooks"].update(afterFileEdit=[{"command": "fmt"}]))
    assert "other hooks also handle preToolUse: guard-dog" in told(place, "note", "cursor")


def test_the_portable_runtime_is_checked(place: Place) -> None:
    place.install(["claude"], portable=True)
    assert told(place, "warn", "claude") == told(place, "fail", "claude") == ""
    change_runtime(place.project, "onehook/version.py", lambda _: b'VERSION = "0.0.1"\n')
    assert "is 0.0.1, the installed onehook is" in told(place, "warn", "claude") and "--portable" in told(place, "warn", "claude")
    (place.project / ".onehook/launch").unlink()
    assert "the runtime in .onehook/ is missing" in told(place, "fail", "claude")
    place.variables["PATH"] = "/nowhere"
    assert "python3 is not on PATH" in told(place, "fail", "claude")
