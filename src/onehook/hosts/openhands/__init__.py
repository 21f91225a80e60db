"""OpenHands CLI: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.openhands import config, imports, live, reverse, transcripts, wire

    conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts)
