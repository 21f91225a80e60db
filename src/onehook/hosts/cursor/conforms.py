"""For the type checkers: each part of Cursor against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.cursor import config, imports, judge, live, permissions, reverse, wire
from onehook.hosts.interface import conforms

conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, permissions=permissions, judge=judge)
