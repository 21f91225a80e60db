"""For the type checkers: each part of OpenHands CLI against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.openhands import config, imports, live, reverse, transcripts, wire

conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts)
