"""For the type checkers: each part of Hermes Agent against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.hermes import config, imports, live, reverse, transcripts, trust, wire
from onehook.hosts.interface import conforms

conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust)
