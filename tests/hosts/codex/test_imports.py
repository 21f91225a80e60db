"""Importing hooks of Codex into a manifest."""

from __future__ import annotations

import json

from tests.setup.importing import imported


def test_both_files_of_codex_are_read(tmp_path):
    repo = tmp_path / "repo"
    (repo / ".codex").mkdir(parents=True)
    handler = {"type": "command", "command": "./one.sh"}
    (repo / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    (repo / ".codex" / "config.toml").write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "./two.sh"\n')
    done = imported(repo, "--from", "codex")
    assert "./one.sh" in done.stderr and "./two.sh" in done.stderr and "2 imported" in done.stdout
