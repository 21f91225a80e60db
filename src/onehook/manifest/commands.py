"""`commands` of a manifest: whether a shell command line runs a command that a pattern describes. Loaded only if a hook has `commands`."""

from __future__ import annotations

from onehook.core import wildcard
from onehook.policies.shell import Command, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNKNOWN = "\0"  # around what the shell reader cannot know, such as the value of a variable
_ENDINGS = (".exe", ".cmd", ".bat")


def matches(patterns: Sequence[str], line: str) -> bool:
    """Whether the line, or a command in it behind any wrappers, matches. What cannot be read matches too."""
    plain = line.strip()
    if any(wildcard(pattern, plain) for pattern in patterns):
        return True
    script = parse(line)
    if script.broken or any(command.opaque for command in script.commands):
        return True
    return any(_fits(pattern, spelling) for command in script.commands for spelling in spellings(command) for pattern in patterns)


def spellings(command: Command) -> Iterator[str]:
    """The command as written, with its words unquoted, with its program's bare name, and without the options before the first word, as in
    `git -C . push`.

    Which of those options take a value differs by program, so each is omitted with and without the word after it.
    """
    words = list(command.argv)
    if not words:
        return
    yield command.source.strip()
    yield " ".join(words)
    program = command.name[:-4] if command.name.lower().endswith(_ENDINGS) else command.name
    starts = {1}
    for at in range(1, len(words) + 1):
        if at not in starts:
            continue
        yield " ".join([program, *words[at:]])
        if words[at : at + 1] and words[at][:1] in ("-", "+"):
            starts |= {at + 1, at + 2}


def _fits(pattern: str, spelling: str) -> bool:
    """For a command that is only partly known, the known beginning decides."""
    if wildcard(pattern, spelling):
        return True
    known, unknown, _ = spelling.partition(_UNKNOWN)
    literal = pattern.replace("?", "*").partition("*")[0]
    return bool(unknown) and (literal.startswith(known) or known.startswith(literal))
