"""A Claude Code hook whose answer only Claude Code can act on, run there through a manifest: it takes effect as without onehook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from onehook.prove.agents import cache_folder, pinned_agents
from onehook.prove.evidence import Evidence
from onehook.prove.scenarios import SECRET, by_id
from onehook.prove.verdicts import MISS, PROVEN, Prover

AGENTS = pinned_agents(["claude"], cache_folder())
(READ,) = by_id(["deny-read"])
REDACTION = """#!/bin/sh
echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"type": "text", "file": {
  "filePath": "secret.txt", "content": "redacted-by-the-hook-5512", "numLines": 1, "startLine": 1, "totalLines": 1}}}}'
"""
MANIFEST = """[[hook]]
events = ["PostToolUse"]
tools = ["Read"]
run = ["./redact.sh"]
speaks = "claude"
"""


def redacted(evidence: Evidence) -> bool:
    return evidence.acted and not evidence.model_was_told(SECRET) and evidence.model_was_told("redacted-by-the-hook-5512")


SCENARIO = replace(
    READ, event="PostToolUse", effect="", response=None, policy=MANIFEST, policy_name="onehook.toml", seen=redacted,
    files={**READ.files, ".hooks/redact.sh": REDACTION},
)  # fmt: skip


@pytest.mark.skipif(not AGENTS, reason="Claude Code is not in the cache: onehook prove --install")
def test_a_result_is_redacted_through_a_manifest(tmp_path: Path) -> None:
    (agent,) = AGENTS
    assert Prover(tmp_path).prove(agent, SCENARIO).verdict == PROVEN
    silent = replace(SCENARIO, files={**SCENARIO.files, ".hooks/redact.sh": "#!/bin/sh\n"})
    assert Prover(tmp_path / "silent").prove(agent, silent).verdict == MISS
