"""Cline: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.cline import config, imports, live, reverse, transcripts, wire
    from onehook.hosts.interface import conforms

    conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts)
