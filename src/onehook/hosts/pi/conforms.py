"""For the type checkers: each part of Pi against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.pi import config, live, reverse, transcripts, trust, wire

conforms(wire=wire, reverse=reverse, config=config, live=live, transcripts=transcripts, trust=trust)
