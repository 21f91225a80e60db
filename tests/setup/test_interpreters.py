"""install --python, and packages that a policy declares: what runs a policy is selected, checked and created when it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import process, reason_of, tool_payload

from onehook.cli import main
from onehook.core import UsageError
from onehook.setup import interpreters
from onehook.setup.command import read
from onehook.setup.interpreters import Needs, environment, folder_of, found_python, needs_of, python_in
from tests.test_hot_path import INTERPRETERS

POLICY = """{block}from onehook import Hooks, deny
import {module}
hooks = Hooks(fail="closed", timeout=7)

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    return deny("blocked by " + {module}.__name__) if "rm" in event.command else None

@hooks.on("SessionEnd")
def end(event): pass
"""
OTHER = next((path for version, path in INTERPRETERS.items() if version == "3.9"), None)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.chdir(folder)
    return folder


def onehook(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result.output


def write_policy(project: Path, module: str = "json", block: str = "") -> Path:
    path = project / "policy.py"
    path.write_text(POLICY.format(module=module, block=block))
    return path


def wheel(folder: Path, name: str) -> Path:
    """A package that can be installed without a network."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(f"{name}.py", "")
        made.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        made.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def block_of(path: Path) -> str:
    return f'# /// script\n# requires-python = ">=3.9"\n# dependencies = ["{path.name.split("-")[0]} @ {path.as_uri()}"]\n# ///\n'


def command_in(project: Path) -> str:
    hooks = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]
    assert "SessionEnd" in hooks  # the events of the policy are known, whatever loads it
    return str(hooks["PreToolUse"][0]["hooks"][0]["command"])


def answer_of(project: Path) -> str:
    argv = ["/bin/sh", "-c", command_in(project)]
    return str(reason_of(process(argv, tool_payload("claude", "rm x"), {"CLAUDE_PROJECT_DIR": str(project)}), "claude"))


def findings(level: str) -> str:
    result = CliRunner().invoke(main, ["doctor", "--hosts", "claude", "--json"])
    return "\n".join(f["what"] + " -> " + f["fix"] for f in json.loads(result.stdout)["findings"] if f["level"] == level)


# ---- which one


def test_a_version_and_a_path_and_a_virtual_environment_name_an_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.77").symlink_to(sys.executable)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert found_python("3.77") == str(tmp_path / "bin" / "python3.77")  # not its target, which would select other packages
    assert found_python(str(tmp_path)) == found_python("python") == str(tmp_path / "bin" / "python")


@pytest.mark.parametrize(
    ("named", "text"),
    [("3.99", "no Python 3.99 was found"), ("/nowhere/python", "is not an interpreter"), ("/bin/sh", "is not a Python")],
)
def test_what_is_not_an_interpreter_is_refused(project: Path, named: str, text: str) -> None:
    write_policy(project)
    assert text in onehook("install", "policy.py", "--python", named, code=2)
    assert not (project / ".claude" / "settings.json").exists()


def test_a_python_that_is_too_old_is_refused(project: Path, tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho 3 8 /lib\n")
    old.chmod(0o755)
    write_policy(project)
    assert "is Python 3.8; a policy needs 3.9 or newer" in onehook("install", "policy.py", "--python", str(old), code=2)
    write_policy(project, block='# /// script\n# requires-python = ">=3.99"\n# ///\n')
    assert "the policy requires Python >=3.99" in onehook("install", "policy.py", code=2)


@pytest.mark.skipif(OTHER is None, reason="there is no Python 3.9")
def test_another_interpreter_runs_the_policy_and_doctor_runs_it_too(project: Path) -> None:
    write_policy(project)
    output = onehook("install", "policy.py", "--python", str(OTHER))
    assert f"run by         {OTHER}" in output
    assert command_in(project).startswith(f"{OTHER} -I -S ") and "--fail closed --timeout 7" in command_in(project)
    assert answer_of(project) == "blocked by json"
    assert findings("fail") == ""
    assert f"run by {OTHER}" in findings("ok") and "denied and allowed as expected" in findings("ok")
    (row,) = json.loads(onehook("status", "--json"))["installed"]
    assert row["python"] == OTHER
    before = (project / ".claude" / "settings.json").read_bytes()
    onehook("install", "policy.py", "--python", str(OTHER))
    assert (project / ".claude" / "settings.json").read_bytes() == before
    onehook("install", "policy.py")
    assert command_in(project).startswith(os.path.abspath(sys.executable))
    onehook("uninstall")
    assert not (project / ".claude" / "settings.json").exists()


def test_a_module_that_it_lacks_is_refused_where_it_is_imported_in_a_handler_too(project: Path) -> None:
    write_policy(project)
    with (project / "policy.py").open("a") as file:
        file.write("\ndef later(): import not_there_at_all\n")
    output = onehook("install", "policy.py", "--python", sys.executable, code=2)
    assert "imports not_there_at_all, which" in output and "# /// script" in output


def test_doctor_does_not_run_an_interpreter_that_install_was_not_given(project: Path, tmp_path: Path) -> None:
    """A config file in a clone may name any program, with a launcher that exists here."""
    made = tmp_path / "made"
    evil = tmp_path / "python"
    evil.write_text(f"#!/bin/sh\ntouch {made}\n")
    evil.chmod(0o755)
    write_policy(project)
    onehook("install", "policy.py", "--python", sys.executable)
    settings = project / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(os.path.abspath(sys.executable), str(evil)))
    assert "differs from what this version of onehook writes, so it was not run" in findings("fail")
    assert not made.exists()


def test_a_runtime_that_was_changed_is_not_run(project: Path, tmp_path: Path) -> None:
    write_policy(project)
    onehook("install", "policy.py", "--python", sys.executable)
    launcher = tmp_path / "state" / "runtime" / "onehook" / "launch"
    launcher.write_text(f"open({str(tmp_path / 'made')!r}, 'w')\n")
    assert "was changed after it was installed: launch" in findings("fail") and not (tmp_path / "made").exists()
    onehook("install", "policy.py", "--python", sys.executable)
    assert findings("fail") == ""


# ---- packages


def test_a_policy_declares_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "policy.py"
    path.write_text(
        '"""x"""\n# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "pydantic>=2",\n#   "rich",\n# ]\n# ///\n'
    )
    assert needs_of(path) == Needs(("pydantic>=2", "rich"), ">=3.11")
    path.write_text("# /// other\n# a = 1\n# ///\n")
    assert needs_of(path) == Needs()
    path.write_text("# /// script\n# dependencies = 3\n# ///\n")
    with pytest.raises(UsageError, match="a list of strings"):
        needs_of(path)


def test_declared_packages_are_installed_with_the_policy_and_never_at_an_event(project: Path, tmp_path: Path) -> None:
    path = wheel(tmp_path, "declared_one")
    write_policy(project, "declared_one", block_of(path))
    output = onehook("install", "policy.py")
    written = read(command_in(project))
    assert (
        written and written.interpreter.startswith(str(tmp_path / "state" / "envs")) and f"run by         {written.interpreter}" in output
    )
    path.unlink()  # events do not need it
    assert list((tmp_path / "state" / "runtime" / "onehook" / "__pycache__").glob("start-*"))  # so the first event is as fast as the next
    assert answer_of(project) == "blocked by declared_one"
    assert findings("fail") == "" and "with declared_one @ file:" in findings("ok")
    (row,) = json.loads(onehook("status", "--json"))["installed"]
    assert row["packages"] == [f"declared_one @ {path.as_uri()}"]
    environment_of = Path(written.interpreter).parent.parent
    made = (environment_of / "pyvenv.cfg").stat().st_mtime_ns
    onehook("install", "policy.py")  # the same packages, so the same environment
    assert (environment_of / "pyvenv.cfg").stat().st_mtime_ns == made
    shutil.rmtree(environment_of)
    assert "the environment with the packages of the policy is gone" in findings("fail")
    assert "the interpreter is gone" in json.loads(onehook("status", "--json"))["installed"][0]["note"]


def test_packages_that_cannot_be_installed_are_refused_and_leave_nothing(project: Path, tmp_path: Path) -> None:
    write_policy(project, "gone_one", block_of(tmp_path / "gone_one-1.0-py3-none-any.whl"))
    assert "the packages of the policy (gone_one @ file:" in onehook("install", "policy.py", code=2)
    assert list((tmp_path / "state" / "envs").iterdir()) == [] and not (project / ".claude" / "settings.json").exists()


def test_other_packages_and_another_interpreter_are_another_environment(tmp_path: Path) -> None:
    one, two = Needs(("a", "b")), Needs(("b", "a"))
    assert folder_of(tmp_path, "/usr/bin/python3", one) == folder_of(tmp_path, "/usr/bin/python3", two)
    assert folder_of(tmp_path, "/usr/bin/python3", one) != folder_of(tmp_path, "/opt/python3", one)
    assert folder_of(tmp_path, "/usr/bin/python3", one) != folder_of(tmp_path, "/usr/bin/python3", Needs(("a",)))


def test_an_environment_that_was_not_finished_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    needs = Needs(("x",))
    half = Path(python_in(folder_of(tmp_path, sys.executable, needs)))
    half.parent.mkdir(parents=True)
    half.symlink_to(sys.executable)

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(argv)
        half.parent.mkdir(parents=True, exist_ok=True)
        half.unlink(missing_ok=True)
        half.symlink_to(sys.executable)
        return subprocess.CompletedProcess(argv, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert environment(tmp_path, sys.executable, needs) == str(half) and ran
    ran.clear()
    environment(tmp_path, sys.executable, needs)
    assert not ran


@pytest.mark.parametrize(("version", "old"), [("9.0.3", True), ("22.2.2", True), ("22.3", False), ("23.0.1", False), ("26.1.dev0", False)])
def test_pip_can_install_elsewhere_since_22_3(monkeypatch: pytest.MonkeyPatch, version: str, old: bool) -> None:
    monkeypatch.setitem(sys.modules, "pip", types.SimpleNamespace(__version__=version))
    with pytest.raises(SystemExit) as ended:
        exec(interpreters.OLD_PIP, {})
    assert bool(ended.value.code) is old


def test_where_it_can_the_environment_gets_no_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    make, install = interpreters._steps(sys.executable, tmp_path / "env", "made", Needs(("x",)))
    assert make == (sys.executable, "-I", "-m", "venv", "--without-pip", str(tmp_path / "env"))
    assert install[:6] == (sys.executable, "-I", "-m", "pip", "--python", "made")


def test_where_pip_cannot_install_elsewhere_the_environment_gets_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the command lines: with a real pip before 22.3, this takes nine seconds."""
    old = tmp_path / "python"
    old.write_text('#!/bin/sh\ncase "$*" in *pip.__version__*) exit 1;; esac\n')
    old.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    make, install = interpreters._steps(str(old), tmp_path / "env", "made", Needs(("x",)))
    assert make == (str(old), "-I", "-m", "venv", str(tmp_path / "env"))
    assert install == ("made", "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "x")


@pytest.mark.parametrize("arguments", [("--portable",), ("--for", "team")])
def test_what_a_clone_does_not_have_is_refused_for_the_team(project: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write_policy(project, "declared_one", block_of(wheel(tmp_path, "declared_one")))
    assert "the policy declares packages (declared_one" in onehook("install", "policy.py", *arguments, code=2)
    write_policy(project)
    assert "--python names an interpreter of this machine" in onehook("install", "policy.py", *arguments, "--python", "3", code=2)
