"""Mistral Vibe: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.vibe import config, imports, live, permissions, reverse, transcripts, trust, wire

    conforms(
        wire=wire, reverse=reverse, config=config, live=live, imports=imports, trust=trust, permissions=permissions, transcripts=transcripts
    )
