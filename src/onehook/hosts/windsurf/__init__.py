"""Windsurf, a guest: its hooks are imported, and run on the hosts. One module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms_as_guest
    from onehook.hosts.windsurf import imports, reverse, wire

    conforms_as_guest(wire=wire, reverse=reverse, imports=imports)
