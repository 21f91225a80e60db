"""Cursor: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.cursor import config, imports, judge, live, permissions, reverse, wire
    from onehook.hosts.interface import conforms

    conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, permissions=permissions, judge=judge)
