"""For the type checkers: each part of Claude Code against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.claude import config, imports, judge, live, permissions, reverse, transcripts, trust, wire
from onehook.hosts.interface import conforms

conforms(
    wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust,
    permissions=permissions, judge=judge,
)  # fmt: skip
