"""How Kilo is started for a proof: as OpenCode is, under its own names. Seen working with 7.7.9."""

from __future__ import annotations

from onehook.hostkit.live import Package, Traits, call
from onehook.hostkit.versions import Fact
from onehook.hosts.opencode.live import MODES, Program, compaction, edit, mcp, read, shell, subagent, subagent_end, write

__all__ = ["MODES", "TRAITS", "compaction", "edit", "mcp", "mcp_server", "prepare", "read", "shell", "subagent", "subagent_end", "write"]

_PROGRAM = Program("kilo")
prepare, mcp_server = _PROGRAM.prepare, _PROGRAM.mcp_server
# A run takes 20 s of processor time, ten times as long as most agents.
TRAITS = Traits(
    Package("@kilocode/cli-linux-x64", "7.7.9", "7.7.2", "@kilocode/cli-linux-x64/bin/kilo", disk_mb=228),
    facts=(
        Fact(
            "`kilo run` does not take the prompt that continues a session, so the session ends although a hook denied the stop",
            since="7.7.2",
            rows=("stop-continued", "stop-guard"),
        ),
    ),
    background=call("background_process", "command", action="start", description="run a command"),
    failing="edit",
    disable=_PROGRAM.disable,
)
