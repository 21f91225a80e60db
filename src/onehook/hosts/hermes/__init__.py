"""Hermes Agent: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.hermes import config, imports, live, reverse, transcripts, trust, wire
    from onehook.hosts.interface import conforms

    conforms(wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust)
