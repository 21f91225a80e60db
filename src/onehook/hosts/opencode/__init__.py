"""OpenCode: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.opencode import config, live, permissions, reverse, wire

    conforms(wire=wire, reverse=reverse, config=config, live=live, permissions=permissions)
