"""A reader for the most common command lines: plain words, quotes, &&, ||, ;, | and simple redirects.

For every other line it returns None, and the full reader (policies/shell.py) is loaded. For the lines that it reads, both return the same
commands; a test compares the two.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.policies.shell import Command

# Whatever starts an expansion, a group, a comment, a history reference, an escape or a process in the background.
_HARD = frozenset("$`(){}[]*?~#!\\\n\r\0\1\2\3<^")
_BLANK = " \t"
# Words that run other words, or that are shell syntax: the full reader knows them.
_BUSY = frozenset([
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "time", "coproc",
    "in", "sudo", "doas", "env", "nohup", "nice", "ionice", "timeout", "gtimeout", "stdbuf", "setsid", "command", "builtin", "exec",
    "noglob", "nocorrect", "busybox", "toybox", "chroot", "chrt", "taskset", "strace", "ltrace", "caffeinate", "unbuffer", "fakeroot",
    "torsocks", "proxychains", "rlwrap", "pkexec", "systemd-run", "unshare", "nsenter", "screen", "npx", "bunx", "uvx", "uv",
    "poetry", "pipenv", "pdm", "hatch", "rye", "bundle", "npm", "pnpm", "yarn", "mise", "eval", "trap", "ssh", "su", "runuser",
    "script", "nix-shell", "flock", "xargs", "gxargs", "parallel", "watch", "find", "gfind", "sh", "bash", "zsh", "dash", "ksh",
    "mksh", "ash", "rbash", "fish", "yash", "source", ".", "at", "batch", "export", "declare", "local", "readonly", "typeset", "set",
    "alias", "unalias", "python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun", "osascript", "pwsh",
    "powershell", "git", "op", "doppler", "infisical", "dotenvx", "devbox", "pixi", "docker", "podman",
    "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "k", "lxc", "incus", "k3s", "microk8s", "minikube", "cmd",
    "awk", "gawk", "mawk", "fd", "fdfind", "csh", "tcsh", "tclsh", "elixir", "rscript", "julia", "groovy",
    "tar", "gtar", "bsdtar", "tmux", "lvm", "rtk",
])  # fmt: skip
# These run other words only with one of the verbs.
_VERBS = {
    "npm": ("exec", "x"), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "uv": ("run", "x", "tool"), "poetry": ("run",),
    "docker": ("exec", "compose", "container"), "podman": ("exec", "compose", "container"), "nerdctl": ("exec", "compose", "container"),
    "docker-compose": ("exec", "run"), "podman-compose": ("exec", "run"), "kubectl": ("exec", "run"),
    "oc": ("exec", "run"), "k": ("exec", "run"), "lxc": ("exec",),
    "incus": ("exec",), "minikube": ("kubectl",),
    "git": ("submodule", "bisect", "rebase"), "python": (), "python3": (), "node": (), "ruby": (), "php": (), "bun": ("x", "run"),
}  # fmt: skip
_PRINTS = ("echo", "printf")  # their output can be known, and the next command may read it


def program_name(word: str) -> str:
    """The program that a word starts: macOS and Windows find `GIT` and `git.exe` too."""
    name = word.rsplit("/", 1)[-1].lower()
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name


class Plain(str):
    """A fully known word, which a matcher treats like policies.bash_expand.Word."""

    __slots__ = ()
    glob = tilde = False
    known = True

    def __new__(cls, text: str, glob: bool = False, tilde: bool = False) -> Plain:
        return super().__new__(cls, text)

    @property
    def shown(self) -> str:
        return str(self)

    script = shown


class Redirection:
    __slots__ = ("op", "target")

    def __init__(self, op: str, target: Plain) -> None:
        self.op, self.target = op, target


class Simple:
    """A command that a matcher treats like policies.shell.Command."""

    __slots__ = ("argv", "name", "opaque", "redirects", "source", "sources", "stdin", "via")

    def __init__(self, argv: list[Plain], redirects: list[Redirection], source: str, stdin: str | None = None) -> None:
        self.argv, self.redirects, self.source = argv, redirects, source
        self.name = program_name(argv[0]) if argv else ""
        self.opaque, self.sources, self.stdin, self.via = False, (), stdin, ()


def read(line: str) -> list[Command] | None:
    """The commands of a plain line, or None if it is not one."""
    if len(line) > 4096 or not _HARD.isdisjoint(line):
        return None
    items = _lexed(line)
    if items is None:
        return None
    commands: list[Command] = []
    argv: list[Plain] = []
    redirects: list[Redirection] = []
    begin, last, piped = 0, len(items) - 1, False
    for number, (kind, text, start, end) in enumerate(items):
        if kind == "word":
            begin = begin if argv else start
            argv.append(Plain(text))
        elif kind == "redirect":
            if not argv:
                return None
            op, _, target = text.partition(" ")
            redirects.append(Redirection(op, Plain(target)))
        if kind == "end" or number == last:
            # The next command may run what is printed: from a pipe, or from the file that it is written to.
            if not _is_plain(argv) or (number != last and argv[0] in _PRINTS and (text == "|" or redirects)):
                return None
            stop = end if kind != "end" else start
            simple = Simple(argv, redirects, line[begin:stop].rstrip(), "" if piped else None)
            commands.append(simple)  # type: ignore[arg-type]
            argv, redirects, piped = [], [], text == "|"
    return commands


def _is_plain(argv: list[Plain]) -> bool:
    if not argv or "=" in argv[0]:
        return False
    name = program_name(argv[0])
    if name not in _BUSY:
        return not name.startswith("-")
    first = argv[1] if len(argv) > 1 else "-"
    return name in _VERBS and (first[0:1] != "-" or first == "-m") and first not in _VERBS[name]


def _lexed(line: str) -> list[tuple[str, str, int, int]] | None:
    """(kind, text, start, end) of words, redirects and ends of commands."""
    out: list[tuple[str, str, int, int]] = []
    at, size = 0, len(line)
    while at < size:
        char = line[at]
        if char in _BLANK:
            at += 1
        elif char in ";|&":
            width = 2 if line[at : at + 2] in ("&&", "||") else 1
            if (char == "&" and width == 1) or line[at + width : at + width + 1] in (";", "|", "&") or not out or out[-1][0] == "end":
                return None
            out.append(("end", line[at : at + width], at, at + width))
            at += width
        elif char == ">" or (char in "12" and line[at + 1 : at + 2] == ">" and (at == 0 or line[at - 1] in " \t;|&")):
            found = _redirect(line, at)
            if found is None:
                return None
            out.append(found)
            at = found[3]
        else:
            found = _word(line, at)
            if found is None:
                return None
            out.append(found)
            at = found[3]
    return out if out and (out[-1][0] != "end" or line.rstrip().endswith(";")) else None


def _word(line: str, at: int) -> tuple[str, str, int, int] | None:
    begin, size = at, len(line)
    text = ""
    while at < size and line[at] not in " \t;|&>":
        if line[at] in "'\"":
            close = line.find(line[at], at + 1)
            if close < 0:
                return None
            text += line[at + 1 : close]
            at = close + 1
        else:
            text += line[at]
            at += 1
    if at < size and line[at] == ">":
        return None  # a>b, 3>b: rare, and easily misread
    return ("word", text, begin, at)


def _redirect(line: str, at: int) -> tuple[str, str, int, int] | None:
    """> file, >> file, 2> file, 2>&1: the operator as the full reader names it, and its target."""
    begin = at
    at += 1 if line[at] in "12" else 0
    op = ">"
    at += 1
    if line[at : at + 1] == ">":
        op, at = ">>", at + 1
    elif line[at : at + 1] == "&":
        op, at = ">&", at + 1
        if line[at : at + 1] not in ("1", "2"):
            return None
    elif line[at : at + 1] == "|":
        return None
    while line[at : at + 1] in (" ", "\t"):
        at += 1
    found = _word(line, at)
    if found is None or not found[1]:
        return None
    return ("redirect", f"{op} {found[1]}", begin, found[3])
