"""What is installed for the whole machine (--layer managed): the files of a user or a project can only add to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import ANY, HOSTS, fire, honours, reason_of, spread, tool_payload

from onehook import pause
from onehook.rules.load import load_rules

MANAGED = 'packs = ["git"]\n\n[permissions]\ndeny = ["Bash(shutdown:*)"]\nask = ["Bash(reboot:*)"]\n'
# What somebody who wants to bypass it may write into their own file.
ATTEMPTS = {
    "off": '[levels]\n"git" = "off"\n',
    "allowed": '[permissions]\nallow = ["Bash(shutdown:*)", "Bash(git reset:*)", "Bash(reboot:*)"]\n',
    "exception": '[[exception]]\nrule = "git.reset-hard"\ncommand = "git reset --hard"\nreason = "mine"\n',
    "options": 'mode = "observe"\nself_protect = false\nfail = "open"\npausable = true\nask_fallback = "allow"\ntimeout = 0.1\n',
    "not TOML": "this is not TOML",
    "a wrong key": "pakcs = []\n",
    "a missing file": 'extends = "gone.toml"\n',
    "nested too deeply": "a = " + "[" * 100_000,
}


@pytest.fixture
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "onehook").mkdir(parents=True)
    path = tmp_path / "machine" / "rules.toml"
    path.parent.mkdir()
    path.write_text(MANAGED)
    return path


def users(tmp_path: Path) -> Path:
    return tmp_path / "config" / "onehook" / "onehook.toml"


def asked(policy: Path, command: str, host: str = ANY, *more: str):
    return fire(policy, tool_payload(host, command), "--host", host, "--layer", "managed", *more)


@spread(ATTEMPTS, names="text, host")
def test_a_users_file_takes_nothing_away(managed: Path, tmp_path: Path, text: str, host: str) -> None:
    users(tmp_path).write_text(text)
    pause.add("", 60, "")
    assert "Bash(shutdown:*)" in reason_of(asked(managed, "shutdown now", host), host)


@pytest.mark.parametrize("text", ATTEMPTS.values(), ids=ATTEMPTS)
def test_nor_from_packs_asks_and_self_protection(managed: Path, tmp_path: Path, text: str) -> None:
    users(tmp_path).write_text(text)
    assert "git.reset-hard" in reason_of(asked(managed, "git reset --hard"), ANY)
    assert "part of the policy" in reason_of(asked(managed, f"echo > {managed}"), ANY)
    unable = next(host for host in HOSTS if not honours(host, "PreToolUse", "ask"))
    assert "reboot" in reason_of(asked(managed, "reboot", unable), unable)  # an ask on an agent that cannot ask


def test_what_a_users_file_adds_applies(managed: Path, tmp_path: Path) -> None:
    users(tmp_path).write_text('[permissions]\ndeny = ["Bash(make:*)"]\n')
    assert "Bash(make:*)" in reason_of(asked(managed, "make all"), ANY)
    assert "Bash(shutdown:*)" in reason_of(asked(managed, "shutdown now"), ANY)


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs and no /dev/zero")
@pytest.mark.parametrize("kind", ["fifo", "endless", "folder", "large"])
def test_a_users_file_that_cannot_be_read_holds_nothing_up(managed: Path, tmp_path: Path, kind: str) -> None:
    path = users(tmp_path)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("#" * (1 << 20))
    result = asked(managed, "shutdown now")
    assert "Bash(shutdown:*)" in reason_of(result, ANY)
    assert "only the machine's rules apply" in result.stderr


def test_a_machines_file_that_is_broken_is_an_error_and_no_excuse(managed: Path) -> None:
    managed.write_text("this is not TOML")
    assert "is not TOML" in asked(managed, "ls").stderr
    assert "is not TOML" in reason_of(asked(managed, "ls", ANY, "--fail", "closed"), ANY)


def test_rules_that_root_has_compiled_serve_everybody(managed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users cannot write to the cache of what is installed for the machine, and each has their own home."""
    monkeypatch.setattr("onehook.rules.load.cache_folder", lambda: str(tmp_path / "cache"))
    load_rules(str(managed), {"layer": "managed"})
    (compiled,) = (tmp_path / "cache").iterdir()
    assert compiled.stat().st_mode & 0o777 == 0o644 and (tmp_path / "cache").stat().st_mode & 0o777 == 0o755
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))
    monkeypatch.setattr("onehook.rules.compile.compile_layers", lambda layers: pytest.fail("compiled again"))
    load_rules(str(managed), {"layer": "managed"})
