"""For the type checkers: each part of Qwen Code against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.qwen import config, imports, judge, live, permissions, reverse, transcripts, trust, wire

conforms(
    wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust,
    permissions=permissions, judge=judge,
)  # fmt: skip
