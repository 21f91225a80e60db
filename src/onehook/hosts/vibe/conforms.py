"""For the type checkers: each part of Mistral Vibe against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.vibe import config, imports, live, permissions, reverse, transcripts, trust, wire

conforms(
    wire=wire, reverse=reverse, config=config, live=live, imports=imports, trust=trust, permissions=permissions, transcripts=transcripts
)
