"""For the type checkers: each part of Cline against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.cline import config, imports, live, reverse, transcripts, wire
from onehook.hosts.interface import conforms

conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts)
