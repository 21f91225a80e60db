"""For the type checkers: each part of Windsurf against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.interface import conforms_as_guest
from onehook.hosts.windsurf import imports, reverse, wire

conforms_as_guest(wire=wire, reverse=reverse, imports=imports)
