"""Importing hooks of Cursor into a manifest, together with hooks of Codex."""

from __future__ import annotations

import json

import pytest

from onehook.policy import load_policy
from tests.setup.importing import onehook

HERE = 'cd "$CURSOR_PROJECT_DIR" || exit 1; '


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    return folder


def test_a_hook_of_cursors_user_starts_where_cursor_starts_it(repo):
    folder = repo.parent / ".cursor"
    folder.mkdir()
    (folder / "hooks.json").write_text(json.dumps({"version": 1, "hooks": {"stop": [{"command": "./d.sh"}]}}))
    assert onehook(repo, "import", "--from", "cursor", "--scope", "user").returncode == 0
    (registration,) = load_policy(str(repo / "onehook.toml")).registrations
    assert registration.handler.run == 'cd "$HOME"/.cursor || exit 1; ./d.sh'


def test_cursor_and_codex_hooks_are_imported_too(repo):
    (repo / ".cursor").mkdir()
    entries = {
        "beforeShellExecution": [
            {"command": "./a.sh", "matcher": "curl|wget", "failClosed": True, "timeout": 3}, {"command": "./b.sh", "matcher": "x(?=y)"},
        ],
        "preToolUse": [{"command": "./c.sh", "matcher": "Shell|MCP:.*"}, {"type": "prompt", "prompt": "ok?"}],
        "stop": [{"command": "./d.sh", "loop_limit": 3}],
        "afterFileEdit": [{"command": "./e.sh", "matcher": "Nothing"}],
    }  # fmt: skip
    (repo / ".cursor" / "hooks.json").write_text(json.dumps({"version": 1, "hooks": entries}))
    (repo / ".codex").mkdir()
    (repo / ".codex" / "config.toml").write_text(
        '[[hooks.PreToolUse]]\nmatcher = "Write"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "./f.sh"\ntimeout = 9\n'
    )
    done = onehook(repo, "import", "--from", "cursor,codex", "--take-over")
    assert done.returncode == 0, done.stderr
    found = {r.handler.run: (r.event, r.handler.native_event, r.tools, r.handler.commands, r.handler.timeout, r.handler.fail)
             for r in load_policy(str(repo / "onehook.toml")).registrations}  # fmt: skip
    assert found == {
        f"{HERE}./a.sh": ("PreToolUse", "beforeShellExecution", ("Bash",), ["*curl*", "*wget*"], 3, "closed"),
        f"{HERE}./c.sh": ("PreToolUse", "", ("Bash", "MCP"), [], 60, "open"),
        f"{HERE}./d.sh": ("Stop", "", (), [], 60, "open"),
        "./f.sh": ("PreToolUse", "", ("Edit", "Write", "Delete"), [], 9, "open"),
    }
    for text in (
        "./b.sh: its matcher 'x(?=y)'",
        "ok?: a model decides; name one",
        "./e.sh: its matcher 'Nothing' never",
    ):
        assert text in done.stderr
    assert sorted(json.loads((repo / ".cursor" / "hooks.json").read_text())["hooks"]) == [
        "afterFileEdit",
        "beforeShellExecution",
        "preToolUse",
    ]
    assert "f.sh" not in (repo / ".codex" / "config.toml").read_text()
