"""For the type checkers: each part of Kimi Code against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.kimi import config, imports, live, permissions, reverse, transcripts, wire

conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, permissions=permissions, transcripts=transcripts)
