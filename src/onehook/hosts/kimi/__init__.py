"""Kimi Code: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.kimi import config, imports, live, permissions, reverse, transcripts, wire

    conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, permissions=permissions, transcripts=transcripts)
