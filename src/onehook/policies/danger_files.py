"""Commands that delete or overwrite files, or change their permissions."""

from __future__ import annotations

from onehook.policies.bash_expand import Word
from onehook.policies.danger_git import flags
from onehook.policies.danger_paths import (
    DRIVE,
    HERE,
    HOME,
    ROOT,
    SYSTEM_FOLDER,
    added_by_hand,
    breadth,
    empty_variable,
    in_home,
    is_critical,
    is_device,
    is_system,
    normal,
)
from onehook.policies.shell import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    Found = tuple[str, str] | tuple[str, str, bool]  # rule, reason, whether it is about the contents of the current folder

WRITE_OPS = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
BY_NAME = frozenset(["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-ilname"])
NARROWING = ("-empty", "-inum", "-samefile", "-newer", "-mtime", "-mmin", "-atime", "-ctime", "-size", "-user", "-perm", *BY_NAME)


def operands(command: Command) -> list[Word]:
    """The words that are not options."""
    out: list[Word] = []
    plain = False
    for word in command.argv[1:]:
        if word == "--" and not plain:
            plain = True
        elif plain or not word.startswith("-") or word == "-":
            out.append(word)
    return out


def check_rm(command: Command, strict: bool) -> Found | None:
    given = flags(command.argv[1:])
    recursive = bool({"-r", "-R"} & given) or any("--recursive".startswith(f) and len(f) > 2 for f in given)
    if any("--no-preserve-root".startswith(f) and len(f) > 5 for f in given):
        return "rm-no-preserve-root", "it allows rm to delete the root folder"
    for target in operands(command):
        if found := rm_target(target, recursive):
            return found
    forced = bool({"-f", "--force"} & given)
    return ("rm-strict", "it deletes folders without asking") if strict and recursive and forced else None


def rm_target(target: Word, recursive: bool) -> Found | None:
    if not recursive:
        return ("rm-system", f"it deletes the system file {target.shown}") if is_critical(target) else None
    if what := breadth(target):
        rule = "rm-system" if what == SYSTEM_FOLDER else "rm-broad"
        return rule, f"it deletes {what} ({target.shown})", what == HERE
    if name := empty_variable(target):
        return "rm-empty-var", f"it deletes the root folder when ${name} is empty; write ${{{name}:?}}"
    if normal(target) == ("", [".git"]):
        return "rm-git-dir", "it deletes the repository's history (.git)"
    return None


_OF_RM = frozenset([
    "-r", "-R", "-f", "-i", "-I", "-v", "-d", "--recursive", "--force", "--interactive", "--verbose", "--dir", "--one-file-system",
    "--preserve-root", "--no-preserve-root",
])  # fmt: skip


def check_unknown_name(command: Command, strict: bool) -> Found | None:
    """`$X -rf /`: whatever X is, this is how rm is called. `$GO test -race .` is not: rm has no such options."""
    if not command.argv or command.argv[0].known:
        return None
    given = flags(command.argv[1:])
    return check_rm(command, False) if {"-r", "-R", "--recursive"} & given and given <= _OF_RM else None


def check_find(command: Command, strict: bool) -> Found | None:
    args = command.argv[1:]
    begin = next((i for i, w in enumerate(args) if w.startswith(("-", "(", "!")) and w not in ("-L", "-H", "-P")), len(args))
    deletes = "-delete" in args or any(
        w in ("-exec", "-execdir") and [x.rsplit("/", 1)[-1] for x in args[i + 1 : i + 3] if x != "sudo"][:1] in (["rm"], ["shred"])
        for i, w in enumerate(args)
    )
    if not deletes:
        return None
    narrow = any(w.startswith(NARROWING) and _narrows(args, i) for i, w in enumerate(args))
    for start in [w for w in args[:begin] if not w.startswith("-")] or [Word(".")]:
        what = breadth(start)
        # `find / -name '*.log'` covers the whole machine; in a home folder or here, a name shows what is meant.
        if what and (not narrow or is_system(start) or normal(start) in (("/", ["home"]), ("/", ["Users"]))):
            return "find-delete", f"it deletes {what} ({start.shown})", what == HERE
    return None


def _narrows(args: list[Word], at: int) -> bool:
    """Whether the tests of find narrow it down. `-name '*'` keeps everything, and `! -name '*.md'` nearly everything."""
    return args[at + 1 : at + 2] not in (["*"], [".*"]) and (at == 0 or args[at - 1] not in ("!", "-not"))


def written(command: Command) -> list[Word]:
    """The files that a command writes to, by redirect or by argument."""
    files = [r.target for r in command.redirects if r.op in WRITE_OPS]
    words, name = operands(command), command.name
    if name == "tee":
        files += words
    elif name in ("cp", "install", "ln", "rsync") and len(words) > 1:
        files.append(words[-1])
    elif name == "dd":
        files += [Word(w[3:], w.glob) for w in words if w.startswith("of=")]
    elif name == "truncate":
        files += words
    return files


def check_writes(command: Command, strict: bool) -> Found | None:
    for file in written(command):
        if is_device(file):
            return "device-write", f"it writes to the device {file.shown}"
        if in_home(file, ".ssh/authorized_keys", ".ssh/authorized_keys2"):
            return "ssh-keys", "it changes who may log in over ssh (authorized_keys)"
        if in_home(file, ".bash_history", ".zsh_history"):
            return "history-clear", "it overwrites the shell history"
        if is_critical(file) and command.name not in ("ln", "install", "rsync") and normal(file)[1][0] != "dev":
            return "system-write", f"it overwrites the system file {file.shown}"
    return None


def check_mv(command: Command, strict: bool) -> Found | None:
    words = operands(command)
    for word in words[:-1]:
        what, parts = breadth(word), normal(word)[1]
        top = len(parts) <= 1 or (parts[0] in ("usr", "home", "Users") and len(parts) == 2)
        if top and what in (ROOT, HOME, SYSTEM_FOLDER, DRIVE):
            return "system-write", f"it moves {what} ({word.shown})"
        if what and words[-1] == "/dev/null":
            return "system-write", f"it discards {what}", what == HERE
    return None


def check_permissions(command: Command, strict: bool) -> Found | None:
    words = operands(command)[1:]
    recursive = bool({"-R", "--recursive"} & flags(command.argv[1:]))
    for word in words:
        if is_system(word) and not added_by_hand(word) and (recursive or breadth(word) == ROOT):
            return "permissions", f"it changes the permissions or owner of {breadth(word)} ({word.shown})"
    return None


def check_rsync(command: Command, strict: bool) -> Found | None:
    words = operands(command)
    deletes = any(w.startswith("--delete") for w in command.argv)
    if deletes and words and (what := breadth(words[-1])) and what != HERE:
        return "system-write", f"it deletes files in {what} ({words[-1].shown})"
    return None
