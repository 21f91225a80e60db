"""The form in which the readers of POSIX shells and of PowerShell return a command line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.policies.bash_expand import Word

MAX_TEXT = 1 << 20


class Redirect:
    """`target` is the file or descriptor, or the text of a here-document (<<) or here-string (<<<)."""

    __slots__ = ("op", "target")

    def __init__(self, op: str, target: Word) -> None:
        self.op, self.target = op, target


class Command:
    """A simple command.  `opaque`: it runs text that cannot be inspected, produced by the commands in `sources`.

    `argv` starts with the name as written; `stdin` is what it reads: "" if that is not known, None if nothing is
    piped into it."""

    __slots__ = ("argv", "name", "opaque", "redirects", "source", "sources", "stdin", "via")

    def __init__(
        self,
        name: str,
        argv: list[Word],
        redirects: list[Redirect],
        via: tuple[str, ...],
        source: str,
        opaque: bool = False,
        sources: tuple[str, ...] = (),
        stdin: str | None = None,
    ) -> None:
        self.name, self.argv, self.redirects, self.via, self.source = name, argv, redirects, via, source
        self.opaque, self.sources, self.stdin = opaque, sources, stdin

    def behind(self, via: tuple[str, ...]) -> Command:
        """The same command, run by others."""
        below = (*via, *self.via)
        return Command(self.name, self.argv, self.redirects, below, self.source, self.opaque, self.sources, self.stdin)

    def __repr__(self) -> str:
        return f"<Command {self.source!r}>"


class Script:
    """`broken`: not valid bash, so commands may be missing.  `cut`: too deep or too long to be read completely."""

    __slots__ = ("broken", "commands", "cut", "fork_bomb")

    def __init__(self, commands: list[Command], broken: bool, cut: bool, fork_bomb: bool) -> None:
        self.commands, self.broken, self.cut, self.fork_bomb = commands, broken, cut, fork_bomb
