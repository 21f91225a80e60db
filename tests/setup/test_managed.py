"""--scope enterprise: users of the machine must not be able to change anything that runs."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.hostkit.config import Machine
from onehook.setup import managed
from onehook.setup.managed import changeable
from onehook.setup.plan import config_of, configurable
from onehook.textedit.document import Document
from onehook.textedit.text import value_at
from tests.setup.installing import POLICY

ROOT_ONLY = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can make files of root's")
FOLDER, FILE, LINK = stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK


def machine(platform: str = "linux", root: Path = Path("/")) -> Machine:
    return Machine(Path("/root"), Path("/srv/project"), {}, platform, root)


def status(kinds: dict[str, tuple[int, int, int]]):  # type: ignore[no-untyped-def]
    """An lstat for fake files: path -> mode, owner, group; all others are folders owned by root."""

    def lstat(path: str) -> os.stat_result:
        mode, uid, gid = kinds.get(path, (FOLDER | 0o755, 0, 0))
        return os.stat_result((mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))

    return lstat


@pytest.mark.parametrize(
    ("kinds", "culprit"),
    [
        ({}, ""),
        ({"/x/y/policy.py": (FILE | 0o644, 0, 0)}, ""),
        ({"/x/y/policy.py": (FILE | 0o644, 1000, 0)}, "/x/y/policy.py"),
        ({"/x/y/policy.py": (FILE | 0o664, 0, 1000)}, "/x/y/policy.py"),
        ({"/x/y/policy.py": (FILE | 0o664, 0, 0)}, ""),
        ({"/x/y/policy.py": (FILE | 0o646, 0, 0)}, "/x/y/policy.py"),
        ({"/x": (FOLDER | 0o755, 1000, 1000)}, "/x"),
        ({"/x": (FOLDER | 0o777, 0, 0)}, "/x"),
        ({"/x": (FOLDER | stat.S_ISVTX | 0o777, 0, 0)}, ""),
        ({"/x/y": (LINK | 0o777, 0, 0)}, ""),
    ],
)
def test_every_part_of_a_path_must_be_roots(kinds: dict[str, tuple[int, int, int]], culprit: str) -> None:
    assert changeable("/x/y/policy.py", machine(), status(kinds)) == culprit


def test_on_windows_only_folders_that_users_cannot_write_to_count() -> None:
    assert changeable("C:\\Program Files\\Python\\python.exe", machine("win32")) == ""
    for path in ("C:\\Users\\ana\\python.exe", "C:\\ProgramData\\onehook\\policy.py", "D:\\policy.py"):
        assert changeable(path, machine("win32")) == path


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", "opt/onehook"), ("darwin", "Library/Application Support/onehook"), ("win32", "Program Files/onehook")],
)
def test_each_system_has_a_folder_for_it(tmp_path: Path, platform: str, folder: str) -> None:
    assert managed.folder_of(machine(platform, tmp_path)) == tmp_path / folder


# ---- as root


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine below a folder that only root can change, with a policy in it."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "policy.py").write_text(POLICY)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(project)
    here = Machine(tmp_path / "home", project, dict(os.environ), "linux", tmp_path / "system")
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls, project=None: here))
    return tmp_path


def onehook(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result.output


def install(system: Path, *arguments: str, code: int = 0) -> str:
    return onehook("install", str(system / "etc" / "policy.py"), "--scope", "enterprise", "--hosts", "claude", *arguments, code=code)


def command_in(system: Path) -> str:
    path = system / "system" / "etc" / "claude-code" / "managed-settings.json"
    return str(json.loads(path.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"])


@ROOT_ONLY
def test_the_runtime_is_copied_to_where_users_cannot_change_it(system: Path) -> None:
    install(system)
    copied = system / "system" / "opt" / "onehook" / "runtime" / "onehook"
    assert str(copied / "launch") in command_in(system)
    cached = b"".join(path.read_bytes() for path in (copied / "__pycache__").glob("*.pyc"))  # users cannot write it, so install does
    assert b"onehook.runner" in cached and b"onehook.hosts.claude.wire" in cached
    assert list((copied / "__pycache__").glob("policy-*"))
    found = json.loads(CliRunner().invoke(main, ["doctor", "--hosts", "claude", "--json"]).stdout)["findings"]
    assert [one["what"] for one in found if one["level"] in ("fail", "warn")] == []
    assert any("denied and allowed as expected" in one["what"] for one in found)
    (system / "system" / "etc" / "claude-code" / "managed-settings.json").rename(system / "kept.json")
    onehook("uninstall")  # the machine's files are not looked at
    assert (copied / "launch").is_file()
    (system / "kept.json").rename(system / "system" / "etc" / "claude-code" / "managed-settings.json")
    onehook("uninstall", "--scope", "enterprise")
    assert not (system / "system" / "opt").exists() or not any((system / "system" / "opt").rglob("*"))


@ROOT_ONLY
def test_another_user_can_run_it_and_change_nothing_of_it(system: Path) -> None:
    setpriv = shutil.which("setpriv")
    if not setpriv:
        pytest.skip("setpriv is not installed")
    install(system)
    for folder in [system, *system.parents]:
        if folder.stat().st_mode & 0o005 != 0o005 and folder.owner() == "root" and "pytest" in str(folder):
            folder.chmod(0o755)
    nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
    python, launcher, policy = (word.strip("'") for word in [command_in(system).split()[0], *command_in(system).split()[3:5]])
    if subprocess.run([*nobody, python, "-I", "-c", "pass"], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} is not for everybody")
    payload = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "session_id": "s"})
    argv = [*nobody, python, "-I", "-S", launcher, policy, "--host", "claude", "--event", "PreToolUse"]
    done = subprocess.run(argv, input=payload, capture_output=True, text=True, check=False, env={"HOME": "/nonexistent"})
    assert done.returncode == 2 and "rm -rf is blocked" in done.stdout, done
    for path in (python, launcher, policy, str(Path(launcher).with_name("runtime.tar.gz"))):
        for attempt in (f"echo x >> '{path}'", f"mv '{path}' '{path}.x'", f"rm -f '{path}'"):
            subprocess.run([*nobody, "/bin/sh", "-c", attempt], capture_output=True, check=False)
        assert os.path.exists(path)
    assert subprocess.run(argv, input=payload, capture_output=True, text=True, check=False).returncode == 2


@ROOT_ONLY
@pytest.mark.parametrize("what", ["python", "config", "config's folder", "folder of copies"])
def test_what_users_can_change_is_refused_with_what_to_do(system: Path, what: str) -> None:
    python = system / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    config = system / "system" / "etc" / "claude-code" / "managed-settings.json"
    copies = system / "system" / "opt" / "onehook"
    for folder in (config.parent, copies):
        folder.mkdir(parents=True)
    config.write_text("{}")
    target = {"python": python, "config": config, "config's folder": config.parent, "folder of copies": copies}[what]
    os.chown(target, 1000, 1000)
    os.chown(system / "etc" / "policy.py", 1000, 1000)
    output = " ".join(install(system, *(["--python", str(python)] if what == "python" else []), code=2).split())
    assert "can be changed by users other than root" in output and str(target) in output
    assert ("chown root: " in output) is (what != "python") and ("--python" in output) is (what == "python")
    assert config.read_text() == "{}" and not list(copies.iterdir())


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@ROOT_ONLY
def test_a_policy_of_a_user_is_copied_with_all_that_it_imports_and_uninstall_gives_everything_back(system: Path) -> None:
    policy = system / "etc" / "policy.py"
    (policy.parent / "lib").mkdir()
    (policy.parent / "lib" / "__init__.py").write_text("")
    (policy.parent / "lib" / "words.py").write_text("BAD = 'rm -rf'\n")
    (policy.parent / "unrelated.py").write_text("")
    policy.write_text(POLICY.replace('"rm -rf" in', "BAD in").replace("from onehook", "from lib.words import BAD\nfrom onehook", 1))
    os.chown(policy.parent, 1000, 1000)
    config = system / "system" / "etc" / "claude-code" / "managed-settings.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"permissions": {"deny": []}}\n')
    before = tree(system / "system")
    os.umask(0o077)  # the umask of root's shell; what is installed must be readable by everyone
    said = install(system)
    copy = system / "system" / "opt" / "onehook" / "policies" / "policy"
    assert f"is copied to {copy / 'policy.py'}" in said and str(copy / "policy.py") in command_in(system)
    assert {path.relative_to(copy).as_posix() for path in copy.rglob("*.py")} == {"policy.py", "lib/__init__.py", "lib/words.py"}
    assert all(path.stat().st_mode & 0o005 == (5 if path.is_dir() else 4) and path.owner() == "root" for path in copy.rglob("*"))
    assert "--pin" in command_in(system) and "all are as installed" in onehook("verify")
    assert json.loads(onehook("status", "--json"))["installed"][0]["source"] == str(policy)

    (policy.parent / "lib" / "words.py").write_text("BAD = 'shutdown'\n")
    assert f"{policy} has changed since it was copied; install it again" in onehook("status")
    assert "all are as installed" in onehook("verify")  # the copy is what runs
    assert "--scope enterprise replaces the copy" in onehook("trust", str(policy), code=1)
    policy.write_text(POLICY)
    install(system)
    assert [path.relative_to(copy).as_posix() for path in copy.rglob("*.py")] == ["policy.py"]  # what it no longer loads is removed
    assert (copy / "policy.py").read_text() == POLICY and "all are as installed" in onehook("verify")

    (copy / "policy.py").write_text(POLICY + "# by somebody\n")
    assert f"{copy / 'policy.py'} was changed after it was pinned" in onehook("verify", code=1)
    assert "+# by somebody" in onehook("trust", "--yes", str(policy))
    assert "all are as installed" in onehook("verify")

    onehook("uninstall", str(policy), "--scope", "enterprise")
    assert tree(system / "system") == before | {str(system / "system" / "opt"): None}


@ROOT_ONLY
def test_a_rules_file_is_copied_with_what_it_extends_and_starts(system: Path) -> None:
    folder = system / "home" / "rules" / "shop"
    folder.mkdir(parents=True)
    hooks = [("PreToolUse", '["/bin/sh", "bin/check.sh"]'), ("Stop", '["./end.sh"]')]
    tables = "".join(f'[[hook]]\nspeaks = "claude"\nevents = ["{event}"]\nrun = {run}\n' for event, run in hooks)
    (folder / "onehook.toml").write_text(f'extends = "../base.toml"\n{tables}')
    (folder.parent / "base.toml").write_text('[permissions]\ndeny = ["Bash(shutdown:*)"]\n')
    (folder / "bin").mkdir()
    (folder / "bin" / "check.sh").write_text("exit 0\n")
    (folder / "end.sh").write_text("#!/bin/sh\nexit 0\n")
    (folder / "end.sh").chmod(0o700)
    os.chown(folder.parent, 1000, 1000)
    arguments = ("install", str(folder / "onehook.toml"), "--scope", "enterprise", "--hosts", "claude")
    onehook(*arguments)
    copy = system / "system" / "opt" / "onehook" / "policies" / "onehook"
    files = {path.relative_to(copy).as_posix(): path.stat().st_mode & 0o777 for path in copy.rglob("*") if path.is_file()}
    assert files.pop("copied.json")
    assert files == {"base.toml": 0o644, "shop/onehook.toml": 0o644, "shop/bin/check.sh": 0o644, "shop/end.sh": 0o755}
    assert "all are as installed" in onehook("verify")
    cached = system / "system" / "opt" / "onehook" / "runtime" / "onehook" / "__pycache__" / "rules"
    assert [path.stat().st_mode & 0o777 for path in cached.iterdir()] == [0o644]  # compiled, and readable by everyone
    config = system / "system" / "etc" / "claude-code" / "managed-settings.json"
    assert set(json.loads(config.read_text())["hooks"]) == {"PreToolUse", "Stop", "ConfigChange"}  # it cannot be paused: no SessionStart
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "shutdown now"}, "session_id": "s"}
    argv = ["/bin/sh", "-c", command_in(system)]
    done = subprocess.run(argv, input=json.dumps(payload), capture_output=True, text=True, check=False)
    assert "shutdown" in done.stdout and done.returncode == 2, done

    program = folder / "theirs.sh"  # with an absolute path, so that a copy would still start the user's file
    program.write_text("exit 0\n")
    (folder / "onehook.toml").write_text(f'[[hook]]\nspeaks = "claude"\nevents = ["PreToolUse"]\nrun = ["/bin/sh", "{program}"]\n')
    output = " ".join(onehook(*arguments, code=2).split())
    assert f"{program} can be changed by users other than root" in output and "by its path relative to the policy" in output
    (folder / "onehook.toml").write_text('extends = "gone.toml"\n')
    assert "does not exist" in onehook(*arguments, code=1)


@ROOT_ONLY
def test_a_copy_that_lacks_what_the_policy_reads_is_refused(system: Path) -> None:
    policy = system / "etc" / "policy.py"
    (policy.parent / "words.txt").write_text("x")
    policy.write_text("import pathlib\npathlib.Path(__file__).with_name('words.txt').read_text()\n" + POLICY)
    os.chown(policy, 1000, 1000)
    output = " ".join(install(system, code=1).split())
    assert "the copy does not load" in output and "words.txt" in output and "folder owned by root" in output
    assert not (system / "system").exists()
    os.chown(policy, 0, 0)  # in a folder owned by root it stays in place
    install(system)
    assert str(policy) in command_in(system) and not (system / "system" / "opt" / "onehook" / "policies").exists()


@ROOT_ONLY
def test_two_policies_of_one_name_are_not_mixed_up(system: Path) -> None:
    os.chown(system / "etc" / "policy.py", 1000, 1000)
    install(system)
    other = system / "project" / "policy.py"
    other.write_text(POLICY)
    os.chown(other, 1000, 1000)
    output = " ".join(onehook("install", str(other), "--scope", "enterprise", "--hosts", "claude", code=2).split())
    assert f"{system / 'etc' / 'policy.py'} is already installed under this name" in output and "onehook uninstall" in output


@ROOT_ONLY
@pytest.mark.parametrize("host", [host for host in configurable() if config_of(host).TRAITS.held])
def test_what_keeps_a_users_settings_from_switching_the_hooks_off_is_written_and_taken_back(system: Path, host: str) -> None:
    held = config_of(host).TRAITS.held
    here = Machine.here()
    (place,) = [place for place in config_of(host).places(here) if place.scope == "enterprise"]
    assert held
    file = held.file(here)
    value = str(place.path) if held.value is None else held.value
    file.path.parent.mkdir(parents=True)
    file.path.write_text("# ours\n" if file.format == "toml" else '{\n  // ours\n  "x": 1\n}\n')
    before = tree(system / "system")
    onehook("install", str(system / "etc" / "policy.py"), "--scope", "enterprise", "--hosts", host)
    there = value_at(Document(file.path, file.format).data(), held.path)
    assert there == ([value] if held.value is None else value)
    assert file.path.stat().st_mode & 0o004  # readable by everyone
    assert "all are as installed" in onehook("verify")
    said = file.path.read_text()
    file.path.write_text(said.replace(json.dumps(value), json.dumps(not value if held.value is not None else "other")))
    assert f"what install wrote to {file.path} is missing" in onehook("verify", code=1)
    levels = [
        one["level"] for one in json.loads(CliRunner().invoke(main, ["doctor", "--hosts", host, "--json", "--no-fire"]).stdout)["findings"]
    ]
    assert held.level in levels
    file.path.write_text(said)
    onehook("uninstall", "--scope", "enterprise")
    assert tree(system / "system") == before | {str(system / "system" / "opt"): None}


@ROOT_ONLY
def test_status_and_rules_show_the_layers_and_what_each_of_them_sets(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(system / "config"))
    theirs, mine = system / "home" / "machine.toml", system / "config" / "onehook" / "onehook.toml"
    files = {theirs: '[levels]\n"git.push-force" = "deny"\n', mine: '[permissions]\ndeny = ["Bash(make:*)"]\n'}
    for path, text in files.items():
        path.parent.mkdir(parents=True)
        path.write_text(text)
    os.chown(theirs, 1000, 1000)
    onehook("install", str(theirs), "--scope", "enterprise", "--hosts", "claude")
    rules = {rule["id"]: rule["says"] for rule in json.loads(onehook("rules", "--json"))}  # without a rules file in the project
    assert [says["layer"] for says in rules["git.push-force"]] == ["managed"]
    (system / "project" / "onehook.toml").write_text('[levels]\n"git.push-force" = "warn"\n"git.reset-hard" = "deny"\n')
    onehook("install", "onehook.toml", "--hosts", "claude,codex")

    layers = json.loads(onehook("status", "--json"))["layers"]
    copied = str(system / "system" / "opt" / "onehook" / "policies" / "machine" / "machine.toml")
    project = str(system / "project" / "onehook.toml")
    assert [(one["layer"], one["file"], one["hosts"]) for one in layers] == [
        ("managed", copied, ["claude"]),
        ("user", str(mine), []),
        ("project", project, ["claude", "codex"]),
    ]
    assert {"git.push-force", "policies.self_protect"} == set(layers[0]["rules"])
    assert "Bash(make:*)" in layers[1]["rules"] and "git.reset-hard" in layers[2]["rules"]
    shown = onehook("status")
    assert "a file cannot weaken the ones above it" in shown and "in addition to every rules file" in shown
    rules = {rule["id"]: rule["says"] for rule in json.loads(onehook("rules", "--json"))}
    assert [(says["layer"], says["level"]) for says in rules["git.push-force"]] == [("managed", "deny"), ("project", "warn")]
    assert [says["layer"] for says in rules["git.reset-hard"]] == ["project"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no root")
def test_without_root_it_says_which_command_works(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["/home/ana/bin/onehook", "install", "my policy.py", "--scope", "enterprise"])
    for output in (install(system, code=2), onehook("uninstall", "--scope", "enterprise", code=2)):
        assert "sudo /home/ana/bin/onehook install 'my policy.py' --scope enterprise" in " ".join(output.split())


@ROOT_ONLY
def test_an_interpreter_of_the_users_is_replaced_by_the_systems(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = system / "venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "python").symlink_to(sys.executable)
    os.chown(venv, 1000, 1000)
    monkeypatch.setattr(sys, "executable", str(venv / "python"))
    monkeypatch.setattr(managed, "_PYTHONS", ("/nowhere/python3", os.path.realpath(sys.executable)))
    install(system)
    assert command_in(system).startswith(os.path.realpath(venv / "python"))
    monkeypatch.setattr(managed, "_PYTHONS", ())
    assert "choose one that cannot be, with --python" in install(system, code=2)


@ROOT_ONLY
def test_doctor_says_when_it_has_come_into_reach(system: Path) -> None:
    install(system)
    os.chown(system / "etc" / "policy.py", 1000, 1000)
    found = json.loads(CliRunner().invoke(main, ["doctor", "--hosts", "claude", "--json", "--no-fire"]).stdout)["findings"]
    assert any("policy.py can be changed by users other than root" in one["what"] for one in found if one["level"] == "warn")
