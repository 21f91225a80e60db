"""Grok Build: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.grok import config, imports, live, own_entries, permissions, reverse, transcripts, trust, wire
    from onehook.hosts.interface import conforms

    conforms(
        wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust,
        own_entries=own_entries, permissions=permissions,
    )  # fmt: skip
