"""Which programs change files, and which commands may concern the policy that the agent runs under. On the hot path of every command."""

from __future__ import annotations

from onehook.policies.agent_files import HOME, PROJECT, VARIABLES, WORDS
from onehook.policies.quick import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onehook.policies.shell import Command

WRITE_OPS = frozenset([">", ">>", ">|", "&>", "&>>", "<>", ">&"])
# These only read the files that they are given, apart from what -o names.
READERS = frozenset([
    "cat", "tac", "head", "tail", "less", "more", "bat", "batcat", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ls", "ll",
    "dir", "tree", "stat", "file", "wc", "diff", "cmp", "comm", "sdiff", "colordiff", "delta", "md5sum", "sha1sum", "sha256sum",
    "sha512sum", "shasum", "cksum", "b2sum", "md5", "du", "df", "realpath", "readlink", "basename", "dirname", "echo", "printf",
    "test", "[", "[[", "cd", "pushd", "popd", "json", "unittest", "doctest", "ast", "which", "type", "command", "whereis", "jq",
    "cut", "sort", "uniq", "tr", "nl", "od", "hexdump", "strings", "fold", "column", "paste", "join", "pytest", "py.test", "tox",
    "nox", "mypy", "pyright", "pylint", "flake8", "shellcheck", "yamllint", "jsonlint", "code", "open", "xdg-open", "subl", "idea",
    "export", "set", "unset", "alias", "env", "true", "false", "exit", "sleep", "read", "let", "declare", "local", "man", "help",
    "pgrep", "pidof", "ps", "lsof", "date", "pwd", "onehook", "mdcat", "glow", "fzf", "view", "history", "yes", "seq", "expr",
    "ssh-add", "uname", "id", "whoami", "hostname", "nslookup", "dig", "ping", "tput", "clear", "reset", "wait", "jobs", "fg", "bg",
    "umask", "ulimit", "trap", "shift", "return", "source", ".", "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python2",
    "python3", "pypy3", "node", "nodejs", "bun", "deno", "ruby", "php", "lua", "perl", "rscript", "osascript",
])  # fmt: skip
# These change or create all of their operands.
CHANGING = frozenset([
    "rm", "unlink", "shred", "srm", "truncate", "touch", "tee", "chmod", "chown", "chgrp", "chattr", "chflags", "setfacl", "setfattr",
    "chcon", "mv", "rmdir", "mkdir", "rename", "prename", "ed", "ex", "vi", "vim", "nvim", "nano", "pico", "emacs", "micro", "joe",
    "sponge", "patch", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "dos2unix", "unix2dos", "mount", "umount",
    "fallocate", "mkfifo", "mknod", "trash", "trash-put", "set-content", "add-content", "out-file", "remove-item", "clear-content",
    "move-item", "rename-item", "new-item", "del", "erase", "ren", "virtualenv", "venv",
])  # fmt: skip
COPYING = frozenset(["cp", "gcp", "install", "ln", "rsync", "scp", "copy-item", "copy", "ditto"])
# What these do to a folder also affects its contents.
DEEP = frozenset(
    [
        "rm",
        "remove-item",
        "virtualenv",
        "venv",
        "uv venv",
        "mv",
        "gmv",
        "chmod",
        "chown",
        "chgrp",
        "chattr",
        "setfacl",
        "mount",
        "umount",
        "trash",
        "trash-put",
        "move-item",
    ]
)
MAKING = frozenset(["mkdir", "git", "gh", "tar", "unzip", "cp", "npx", "npm", "cargo"])  # they may create a folder that is entered later
EDITORS = frozenset([
    "sqlite3", "tclsh", "expect", "gdb", "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "sed", "gsed", "awk", "gawk", "mawk",
])  # fmt: skip
UNPACKING = {"tar": "-C", "gtar": "-C", "bsdtar": "-C", "unzip": "-d", "cpio": "-D", "7z": "-o", "7za": "-o", "7zr": "-o"}
SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "source", "."])
INTERPRETERS = frozenset([
    "python", "python2", "python3", "pypy3", "perl", "ruby", "node", "nodejs", "bun", "php", "lua", "deno", "osascript", "rscript",
    "expect",
])  # fmt: skip
MANAGERS = frozenset([
    "pip", "pip3", "uv", "pipx", "conda", "mamba", "micromamba", "poetry", "pdm", "hatch", "rye", "pipenv", "brew", "port", "pixi",
    "easy_install",
])  # fmt: skip
KILLERS = frozenset(["kill", "pkill", "killall", "fuser", "skill", "taskkill", "stop-process"])
LATER = frozenset(["crontab", "at", "batch", "systemd-run", "systemctl", "launchctl", "tmux", "screen", "schtasks"])
# These verbs of onehook change nothing that protects; the others are for a person.
HARMLESS_VERBS = frozenset([
    "doctor", "explain", "fire", "hosts", "lint", "model", "prove", "record", "replay", "rules", "run", "status", "test", "verify",
    "log", "stats", "report", "export", "version", "init",
])  # fmt: skip
GIT_DISCARDS = frozenset(["stash", "checkout", "restore", "reset", "clean", "rm", "read-tree", "checkout-index", "sparse-checkout"])
GIT_CHANGES = GIT_DISCARDS | {"mv", "apply", "am", "update-index", "filter-branch", "fast-import"}
GIT = GIT_CHANGES | {"worktree"}
PROFILES = frozenset([
    ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", "config.fish", ".envrc",
    ".env", "environment", ".tmux.conf", ".pam_environment",
])  # fmt: skip
# Code that names a guarded file but contains none of these only reads it.
WRITING = (
    "write", "unlink", "remove", "rename", "os.replace", "rmtree", "shutil", "copy", "move", "truncate", "chmod", "chown", "symlink",
    "os.link", "link(", "dump(", "save", "system", "subprocess", "popen", "spawn", "exec", "'w", '"w', "'a'", '"a"', "'a+", '"a+', "r+",
    "'x'", '"x"', "touch", "delete", "rmsync", "fs.rm", "rm_", "rm(", "open_file", "put_contents", "mode=", "> ", ">>", "-i",
    "inplace", "qx",
)  # fmt: skip
# What a command has to mention to affect any of this, unless it is one of those that change files without naming them.
KEYS = tuple(
    {part for path in (*PROJECT, *HOME) for part in path.lower().split("/")[:1]}
    | {"onehook", ".hooks", "/etc/", "application support", *(variable.lower() for variable in VARIABLES)}
)
INVOLVED = CHANGING | COPYING | DEEP | EDITORS | INTERPRETERS | SHELLS | LATER | frozenset([*UNPACKING, *WORDS, "find", "gfind", "dd"])


def may_matter(text: str, cwd: str, names: Iterable[str]) -> bool:
    """Whether a command may touch the policy; False for most commands, after little work."""
    commands = quickly_read(text)
    return commands is None or names_any(f"{text}\0{cwd}", names) or any(map(is_involved, commands))


def quickly_read(text: str) -> list[Command] | None:
    return read(text) if type(text) is str else None  # PowerShell is a kind of str


def names_any(text: str, names: Iterable[str]) -> bool:
    low = text.lower()
    return any(key in low for key in KEYS) or any(name in low for name in names)


def is_involved(command: Command) -> bool:
    """Whether a command may change files that it does not name."""
    if command.name == "git":
        return any(word in GIT for word in command.argv[1:])
    writes = any(redirect.op in WRITE_OPS and redirect.target not in ("/dev/null", "1", "2") for redirect in command.redirects)
    return writes or command.name in INVOLVED or any("/" in word[1:] for word in command.argv[:1])
