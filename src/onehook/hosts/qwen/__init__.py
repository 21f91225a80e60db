"""Qwen Code: one module for each part that onehook.hosts.interface declares."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.hosts.interface import conforms
    from onehook.hosts.qwen import config, imports, judge, live, permissions, reverse, transcripts, trust, wire

    conforms(
        wire=wire, reverse=reverse, config=config, live=live, imports=imports, transcripts=transcripts, trust=trust,
        permissions=permissions, judge=judge,
    )  # fmt: skip
