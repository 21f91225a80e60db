"""For the type checkers: each part of Kilo against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms
from onehook.hosts.kilo import config, live, permissions, reverse, wire

conforms(wire=wire, reverse=reverse, config=config, live=live, permissions=permissions)
