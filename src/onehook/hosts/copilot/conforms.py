"""For the type checkers: each part of GitHub Copilot CLI against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.copilot import config, imports, live, own_entries, permissions, reverse, transcripts, trust, wire
from onehook.hosts.interface import conforms

conforms(
    wire=wire,
    reverse=reverse,
    config=config,
    live=live,
    imports=imports,
    transcripts=transcripts,
    trust=trust,
    own_entries=own_entries,
    permissions=permissions,
)
