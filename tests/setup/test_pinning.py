"""`install --pin`: a policy runs only as it was pinned, whatever was changed and however it fails; `onehook trust` pins it again."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from harness import HOSTS, cold_fire, fire, launcher, process, reason_of, tool_payload

from onehook.cli import main
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.setup.pinning import keep_copy, listed, pin_of
from onehook.system import digest, state_folder
from tests.setup.installing import IN_PROJECTS

POLICY = """from onehook import Hooks, deny
from helper import word
from parts.more import words
{top}
hooks = Hooks({options})

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    {body}
    return deny(f"no {{word}}") if event.command.startswith("rm") else None
"""
HOST = "claude"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "my project"
    files = {
        "hooks/policy.py": POLICY.format(top="", options="", body=""),
        "hooks/helper.py": 'word = "rm"\n',
        "hooks/parts/__init__.py": "",
        "hooks/parts/more.py": "words = []\n",
        "rules/onehook.toml": 'extends = "more/base.toml"\n[permissions]\ndeny = ["Bash(rm:*)"]\n',
        "rules/more/base.toml": 'packs = ["git"]\n',
        "program/onehook.toml": '[[hook]]\nevents = ["PreToolUse"]\ntools = ["Bash"]\nrun = ["./guard.sh"]\nspeaks = "claude"\n',
        "program/guard.sh": "#!/bin/sh\ngrep -q '\"rm' && { echo no >&2; exit 2; }; exit 0\n",
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "program/guard.sh").chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return project


def pinned(policy: Path) -> str:
    """Pin a policy as install does; returns the pin."""
    pin = pin_of(policy)
    folder = Path(state_folder()) / "pins"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / pin).write_bytes(listed(policy))
    keep_copy(policy, pin)
    return pin


def asked(policy: Path, pin: str, command: str = "ls", host: str = HOST, *more: str, cold: bool = False):
    return fire(policy, tool_payload(host, command), "--host", host, "--pin", pin, *more, cold=cold)


def is_denied(result, host: str = HOST) -> bool:
    return load(host, "reverse").answer(sample("PreToolUse", "Bash"), result.stdout, result.stderr, result.exit_code).decision == "deny"


PARTS = [
    ("hooks/policy.py", "hooks/policy.py"),
    ("hooks/policy.py", "hooks/helper.py"),
    ("hooks/policy.py", "hooks/parts/__init__.py"),
    ("hooks/policy.py", "hooks/parts/more.py"),
    ("rules/onehook.toml", "rules/onehook.toml"),
    ("rules/onehook.toml", "rules/more/base.toml"),
    ("program/onehook.toml", "program/onehook.toml"),
    ("program/onehook.toml", "program/guard.sh"),
]


@pytest.mark.parametrize("policy, part", PARTS)
def test_a_change_of_any_part_denies_until_it_is_taken_back(project, policy, part):
    path = project / part
    pin, before = pinned(project / policy), path.read_bytes()
    assert not is_denied(asked(project / policy, pin)) and is_denied(asked(project / policy, pin, "rm x"))
    path.write_bytes(before + b"\n# harmless\n")
    reason = reason_of(asked(project / policy, pin), HOST)
    assert f"{path} was changed after it was pinned" in reason and "onehook trust" in reason
    path.unlink()
    assert "cannot be read" in reason_of(asked(project / policy, pin), HOST)
    path.write_bytes(before)
    path.chmod(0o755)
    assert not is_denied(asked(project / policy, pin))


@pytest.mark.parametrize("host", HOSTS)
def test_it_denies_on_every_agent_and_leaves_other_events_alone(project, host):
    policy = project / "hooks/policy.py"
    pin = pinned(policy)
    policy.write_text("from onehook import Hooks\nhooks = Hooks()\n", encoding="utf-8")
    assert "was changed after it was pinned" in reason_of(asked(policy, pin, host=host), host)
    result = fire(policy, load(host, "reverse").payload(sample("Stop", session_id="s")), "--host", host, "--pin", pin)
    assert result.exit_code == load(host).TRAITS.error_exit and "was changed" in result.stderr


def test_the_list_is_held_to_the_pin(project):
    policy = project / "hooks/policy.py"
    pin = pinned(policy)
    path = Path(state_folder()) / "pins" / pin
    policy.write_text("from onehook import Hooks\nhooks = Hooks()\n", encoding="utf-8")
    path.write_bytes(listed(policy))
    assert "list of pinned files was changed" in reason_of(asked(policy, pin), HOST)
    path.unlink()
    assert "list of pinned files cannot be read" in reason_of(asked(policy, pin), HOST)
    other = project / "rules/onehook.toml"
    assert "was pinned and cannot be read" in reason_of(asked(policy, pinned(other)), HOST)


def test_a_module_that_was_not_pinned_is_not_loaded(project):
    """An optional module that was added later, including imports in a handler and in a package."""
    attack = "open('loaded.txt', 'w').write('x')\n"
    optional = "try:\n    import optional\nexcept ImportError:\n    optional = None\n"
    policy = project / "hooks/policy.py"
    for name, top, body in (
        ("optional.py", optional, ""),
        ("optional.py", "", "import optional"),
        ("parts/optional.py", optional.replace("import optional", "from parts import optional"), ""),
    ):
        policy.write_text(POLICY.format(top=top, options="", body=body), encoding="utf-8")
        pin = pinned(policy)
        (project / "hooks" / name).write_text(attack, encoding="utf-8")
        assert "was not pinned" in reason_of(asked(policy, pin), HOST)
        (project / "hooks" / name).unlink()
    assert not (project / "loaded.txt").exists()


@pytest.mark.parametrize("part", ["helper", "parts/more"])
def test_compiled_code_beside_a_module_is_not_taken(project, tmp_path, part):
    policy, module = project / "hooks/policy.py", project / "hooks" / f"{part}.py"
    pin, text, status = pinned(policy), module.read_text(encoding="utf-8"), module.stat()
    forged = text.replace("rm", "ha").replace("[]", "()")
    assert len(forged) == len(text)
    module.write_text(forged + "", encoding="utf-8")
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))
    py_compile.compile(str(module), doraise=True)
    module.write_text(text, encoding="utf-8")
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))
    policy.write_text(policy.read_text(encoding="utf-8"), encoding="utf-8")
    result = asked(policy, pin, "rm x")
    assert reason_of(result, HOST) == "no rm"
    if part == "helper":  # without a pin it is loaded: this is what the pin prevents
        assert reason_of(fire(policy, tool_payload(HOST, "rm x"), "--host", HOST), HOST) == "no ha"


def test_observe_and_a_pause_hold_for_it_too(project):
    from onehook import pause

    policy = project / "hooks/policy.py"
    pin = pinned(policy)
    (project / "hooks/helper.py").write_text('word = "x"\n', encoding="utf-8")
    result = asked(policy, pin, "ls", HOST, "--mode", "observe")
    assert not is_denied(result) and "would deny" in result.stderr
    pause.add("", 60, "")
    assert not is_denied(asked(policy, pin))


def test_without_a_pin_nothing_of_it_is_loaded(project):
    policy = project / "hooks/policy.py"
    body = "import sys; sys.stderr.write('MODULES ' + ' '.join(sys.modules))"
    policy.write_text(POLICY.format(top="", options="", body=body), encoding="utf-8")
    plain = cold_fire(policy, tool_payload(HOST, "rm"), "--host", HOST).stderr.split()
    assert "onehook.pins" not in plain
    more = set(asked(policy, pinned(policy), "rm", cold=True).stderr.split()) - set(plain)
    assert "onehook.pins" in more and not more & {"hashlib", "_hashlib", "json", "re"}


# --- the verbs


def onehook(*words: str, **more) -> Result:
    return CliRunner().invoke(main, list(words), **more)


def written(project: Path) -> str:
    return (project / ".claude" / "settings.json").read_text(encoding="utf-8")


def test_install_pins_keeps_the_pin_and_takes_it_out_again(project):
    policy = project / "hooks/policy.py"
    assert onehook("install", str(policy), "--hosts", "claude,codex,opencode", "--pin", "--yes").exit_code == 0
    assert f"--pin {pin_of(policy)}" in written(project)
    before = written(project)
    assert onehook("install", str(policy), "--hosts", "claude", "--yes").exit_code == 0 and written(project) == before
    assert json.loads(onehook("status", "--json").stdout)["installed"][0]["pinned"] is True
    assert onehook("install", str(policy), "--hosts", "claude", "--no-pin", "--yes").exit_code == 0 and "--pin" not in written(project)
    assert onehook("uninstall").exit_code == 0
    assert not list(project.glob(".c*")) and not list(project.glob(".opencode"))


def test_trust_shows_the_change_and_pins_it_in_every_config(project, monkeypatch):
    policy = project / "hooks/policy.py"
    assert onehook("install", str(policy), "--hosts", ",".join(IN_PROJECTS), "--pin", "--trust", "--yes").exit_code == 0
    assert "as it was pinned" in onehook("trust", str(policy)).output
    (project / "hooks/helper.py").write_text('word = "RM"\n', encoding="utf-8")
    assert "was changed after it was pinned; `onehook trust`" in onehook("status").output.replace("\n", "")
    assert "every action is denied" in onehook("doctor", "--no-fire", "--hosts", "claude").output
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDECODE", "1")
        refused = onehook("trust", "--yes")
        assert refused.exit_code == 1 and "only a person" in refused.output and pin_of(policy) not in written(project)
        again = onehook("install", str(policy), "--hosts", "claude", "--yes")
        assert again.exit_code == 1 and "only a person can change what is pinned" in again.output
        assert onehook("install", str(policy), "--hosts", "claude", "--no-pin", "--yes").exit_code == 1
    result = onehook("trust", "--yes")
    assert result.exit_code == 0 and '-word = "rm"' in result.output and '+word = "RM"' in result.output
    texts = [
        path.read_text(encoding="utf-8") for path in project.rglob("*") if path.is_file() and any(p.startswith(".") for p in path.parts)
    ]
    assert sum(f"{pin_of(policy)}" in text for text in texts) >= len(IN_PROJECTS)
    findings = json.loads(onehook("doctor", "--no-fire", "--json", "--hosts", "codex").stdout)["findings"]
    assert not [one for one in findings if one["level"] == "fail"], "Codex trusts the new command as it did the old one"
    assert onehook("uninstall").exit_code == 0 and not (project / ".claude").exists()


def test_a_new_file_that_the_policy_loads_has_to_be_trusted(project):
    policy = project / "hooks/policy.py"
    onehook("install", str(policy), "--hosts", "claude", "--pin", "--yes")
    (project / "hooks/extra.py").write_text("x = 1\n", encoding="utf-8")
    with policy.open("a", encoding="utf-8") as file:
        file.write("import extra\n")
    output = onehook("trust", "--yes").output
    assert f"{project / 'hooks/extra.py'} is new" in output and f"{policy} has changed" in output and "+x = 1" in output


def test_a_pinned_clone_runs_as_it_was_committed(project, tmp_path):
    policy = project / "hooks/policy.py"
    done = onehook("install", str(policy), "--hosts", "claude", "--portable", "--pin", "--yes")
    assert done.exit_code == 0, done.output
    clone = tmp_path / "a clone"
    shutil.copytree(project, clone)
    shutil.rmtree(Path(state_folder()))
    pin = written(project).partition("--pin ")[2][:64]
    runs = launcher(clone / "hooks/policy.py", "--host", HOST, "--pin", pin, python=sys.executable, launch=str(clone / ".onehook/launch"))
    assert reason_of(process(runs, tool_payload(HOST, "rm x")), HOST) == "no rm"
    (clone / "hooks/helper.py").write_text('word = "x"\n', encoding="utf-8")
    assert "was changed after it was pinned" in reason_of(process(runs, tool_payload(HOST)), HOST)
    assert onehook("uninstall").exit_code == 0 and not (project / ".onehook").exists()


def test_the_list_is_one_that_sha256sum_reads(project):
    lines = listed(project / "hooks/policy.py").decode().splitlines()
    names = [line.partition("  ")[2] for line in lines]
    assert names[0] == "policy.py" and set(names) == {"policy.py", "helper.py", "parts/__init__.py", "parts/more.py"}
    assert lines[0].startswith(digest((project / "hooks/policy.py").read_bytes()))
