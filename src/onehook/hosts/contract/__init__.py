"""The open stdin/stdout contract: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.contract import reverse, wire
    from onehook.hosts.interface import conforms

    conforms(wire=wire, reverse=reverse)
