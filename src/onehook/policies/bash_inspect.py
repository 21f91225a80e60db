"""Questions about parsed commands: which names are called, where text comes from, what cannot be inspected."""

from __future__ import annotations

from onehook.policies.bash_expand import Word
from onehook.policies.bash_words import Node, Part, literal
from onehook.policies.bash_wrappers import INTERPRETERS, SHELLS, STDIN_SHELLS

FROM_PROCESS = "\0<\0"


class Input:
    """What a command reads: its text when known, and the names of the commands that print it."""

    __slots__ = ("sources", "text")

    def __init__(self, text: str | None, sources: tuple[str, ...]) -> None:
        self.text, self.sources = text, sources


def hidden(text: str) -> bool:
    """Is this text completely unknown?"""
    return "\0" in text and not "".join(text.split("\0")[::2]).strip()


def hidden_script(text: str) -> bool:
    return text.startswith("${") and text.endswith("}") and text.count("${") == 1


def subs_of(part: Part) -> list[Node]:
    """The substitutions in a part, at any depth of quotes and `${...}`."""
    found = list(part.subs)
    for inner in part.arg:
        found += subs_of(inner)
    return found


def named_calls(node: Node) -> list[tuple[str, bool]]:
    """The plain names of the commands below a node, and whether each is piped or in the background."""
    found: list[tuple[str, bool]] = []
    todo = [(node, False)]
    while todo and len(found) < 200:
        item, piped = todo.pop()
        piped = piped or item.background or item.kind == "pipeline"
        if item.kind == "simple" and item.words:
            found.append((literal(item.words[0]).rsplit("/", 1)[-1], piped))
            rest = [part for word in item.words[1:] for part in word]
            todo += [(sub, piped) for part in rest for sub in subs_of(part)]
        todo += [(below, piped) for below in reversed(item.items)]
    return found


def reads_script(name: str, argv: list[Word]) -> bool:
    """Does this shell take its commands from standard input?"""
    if name in STDIN_SHELLS or (name in ("source", ".") and argv[1:2] == ["/dev/stdin"]):
        return True
    if name not in SHELLS:
        return False
    options = [w for w in argv[1:] if w[:1] in ("-", "+") and not w.startswith("--")]
    rest = [w for w in argv[1:] if w[:1] not in ("-", "+") and w != "/dev/stdin"]
    if any("c" in w for w in options):
        return False
    return not rest or any("s" in w for w in options)


def opacity(name: str, argv: list[Word], stdin: Input | None, made: tuple[str, ...]) -> tuple[bool, tuple[str, ...]]:
    """Does the command run text that cannot be inspected, and which commands print that text?"""
    if not argv:
        return False, ()
    if not argv[0].known:
        return True, made
    bare = [w for w in argv[1:] if w != "-"]
    piped = reads_script(name, argv) or (name in INTERPRETERS and not bare)
    if piped and stdin is not None and stdin.text is None:
        return True, stdin.sources
    if name in ("eval", "source", "."):
        unseen = any(hidden(w) and (name == "eval" or w == FROM_PROCESS) for w in argv[1:])
        return (True, made) if unseen else (False, ())
    if name not in SHELLS and name not in INTERPRETERS:
        return False, ()
    first = next((w for w in argv[1:] if w[:1] not in ("-", "+")), Word(""))
    has_text = any(w[:1] == "-" and w[1:2] != "-" and w[-1] in "ce" for w in argv[1:])
    unseen = first == FROM_PROCESS or (has_text and hidden(first))
    return (True, made) if unseen else (False, ())
