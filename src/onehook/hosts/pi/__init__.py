"""Pi: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.pi import config, live, reverse, transcripts, trust, wire

    conforms(wire=wire, reverse=reverse, config=config, live=live, transcripts=transcripts, trust=trust)
