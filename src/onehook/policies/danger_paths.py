"""How broad a path is: the root, a home folder, a system folder, everything here."""

from __future__ import annotations

from onehook.policies.bash_expand import Word

SYSTEM = frozenset(["etc", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "boot", "dev", "proc", "sys", "usr", "System", "Library"])
SHARED = frozenset(["bin", "etc", "games", "include", "lib", "libexec", "man", "sbin", "share", "src", "doc", "locale", "zoneinfo"])
SHALLOW = frozenset(["var", "opt", "srv", "mnt", "media", "private", "Volumes", "Applications", "snap", "nix"])
# Folders of /var that many programs share; any other folder there, and what is mounted, was added by a person.
OF_VAR = frozenset(["backups", "cache", "db", "lib", "local", "lock", "log", "mail", "opt", "root", "run", "spool"])
HOMES = frozenset({"home", "Users"})
PERSONAL = frozenset(["Documents", "Desktop", "Downloads", "Pictures", "Library", ".ssh", ".gnupg", ".aws", ".config", ".kube", ".local"])
CRITICAL_FILES = frozenset(["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/fstab", "/etc/crypttab"])
# Everything that starts with one of these; a copy such as /etc/fstab.orig is not one of the files above.
CRITICAL = (
    "/etc/sudoers.d/", "/etc/ssh/", "/etc/pam.d/", "/etc/ld.so.", "/etc/cron", "/etc/rc", "/etc/init", "/boot/", "/bin/", "/sbin/",
    "/lib/", "/lib64/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/System/",
)  # fmt: skip
# Words in the names of what can be generated again: build output, caches, environments, logs, temporary files.
GENERATED = frozenset([
    "artifacts", "bak", "bin", "build", "builds", "bundle", "cache", "caches", "class", "cov", "coverage", "debug", "deriveddata",
    "dist", "egg", "eggs", "env", "generated", "gz", "html", "htmlcov", "log", "logs", "modules", "next", "nuxt", "nyc", "o", "obj",
    "out", "output", "parcel", "pycache", "pyc", "release", "reports", "result", "results", "site", "target", "tar", "temp", "tgz",
    "tmp", "tox", "turbo", "venv", "vendor", "whl", "zip",
])  # fmt: skip
TEMPORARY = (["tmp"], ["var", "tmp"], ["private", "tmp"], ["dev", "shm"])
SAFE_DEVICES = ("null", "zero", "stdin", "stdout", "stderr", "tty", "full", "random", "urandom", "ptmx")
SAFE_DEVICE_FOLDERS = ("fd/", "pts/", "shm/", "tcp/", "udp/", "tty")
CONTENTS = frozenset({"*", ".*", "**", "?*", "*.*", ".[!.]*", ".??*"})
HOME_MARKS = ("\0HOME\0", "\0HOME:?\0")
HERE_MARKS = ("\0PWD\0", "\0PWD:?\0")


def normal(word: Word) -> tuple[str, list[str]]:
    """The anchor of a path ('/', '~' or '') and its components, with . and .. resolved textually."""
    text = str(word)
    for mark in HOME_MARKS:
        text = text.replace(mark, "~")
    for mark in HERE_MARKS:
        text = text.replace(mark, ".")
    home = text.startswith("~") and (word.tilde or not word.startswith("~"))
    anchor = "/" if text.startswith("/") else "~" if home else ""
    pieces = text.split("/")
    if home:
        pieces = pieces[1:]
    parts: list[str] = []
    for piece in pieces:
        if piece == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif piece == ".." and anchor == "/":
            continue
        elif piece not in ("", "."):
            parts.append(piece)
    return anchor, parts


ROOT, SYSTEM_FOLDER, DRIVE = "the root folder", "a system folder", "a whole drive"
HOME, PERSONAL_FILES, HERE, PARENT = "a home folder", "personal files", "everything in the current folder", "a parent folder"


def breadth(word: Word) -> str | None:
    """What a recursive delete of this path would remove, in plain words; None if the path is narrow."""
    if not word:
        return None
    anchor, parts = normal(word)
    if word.glob and parts and parts[-1] in CONTENTS:
        parts = parts[:-1]
    if anchor == "/":
        return absolute(parts, word.glob)
    if anchor == "~":
        if not parts:
            return HOME
        return PERSONAL_FILES if len(parts) == 1 and parts[0] in PERSONAL else parents(parts)
    if len(word) < 5 and word[1:2] == ":" and word[2:].strip("/\\*") == "":
        return DRIVE
    return HERE if not parts else parents(parts)


def parents(parts: list[str]) -> str | None:
    return PARENT if all(part == ".." for part in parts) else None


def absolute(parts: list[str], glob: bool) -> str | None:
    if not parts or (glob and any(c in "*?[" for c in parts[0])):
        return ROOT
    first = parts[0]
    if len(first) == 1 and len(parts) == 1:
        return DRIVE
    if first in HOMES and len(parts) <= 2:
        return HOME
    if first in HOMES and len(parts) == 3 and parts[2] in PERSONAL:
        return PERSONAL_FILES
    if first == "root" and len(parts) == 1:
        return HOME
    if first in SHALLOW and len(parts) <= (2 if first in ("var", "mnt", "private") else 1):
        return None if parts[1:] == ["tmp"] else SYSTEM_FOLDER
    if first not in SYSTEM or parts[:2] == ["dev", "shm"]:
        return None
    # /usr/local/go and /usr/share/dotnet were added by a person; /usr/local/lib is shared by everything that was.
    added = len(parts) > 3 or (len(parts) == 3 and parts[2] not in SHARED and not glob)
    return None if parts[:2] in (["usr", "local"], ["usr", "share"]) and added else SYSTEM_FOLDER


def is_system(word: Word) -> bool:
    return breadth(word) in (ROOT, SYSTEM_FOLDER, DRIVE)


def added_by_hand(word: Word) -> bool:
    """/var/www and /mnt/data: too much to delete at once, but their owner may be changed."""
    parts = normal(word)[1]
    return len(parts) == 2 and parts[0] in ("var", "mnt") and parts[1] not in OF_VAR


def empty_variable(word: Word) -> str | None:
    """The variable's name in `$X/` or `$X/*`, which is the root if X is empty."""
    pieces = word.split("\0")
    if len(pieces) != 3 or pieces[0] or not pieces[1] or pieces[1].endswith(":?"):
        return None
    if pieces[1] in ("HOME", "PWD", "OLDPWD", "TMPDIR", "_") or pieces[2] not in ("/", "/*", "/.*", "/**"):
        return None
    return pieces[1]


def is_kept(word: Word) -> bool:
    """Whether this is a known path whose name does not suggest that it can be generated again."""
    anchor, parts = normal(word)
    if "\0" in word or (anchor == "/" and any(parts[: len(folder)] == folder for folder in TEMPORARY)):
        return False
    words = "/".join(parts).lower().replace("-", "/").replace("_", "/").replace(".", "/").split("/")
    return bool(parts) and GENERATED.isdisjoint(words)


def is_device(word: Word) -> bool:
    anchor, parts = normal(word)
    if anchor != "/" or parts[:1] != ["dev"] or len(parts) < 2:
        return False
    rest = "/".join(parts[1:])
    return rest not in SAFE_DEVICES and not rest.startswith(SAFE_DEVICE_FOLDERS)


def is_critical(word: Word) -> bool:
    anchor, parts = normal(word)
    path = "/" + "/".join(parts)
    return anchor == "/" and (path in CRITICAL_FILES or path.startswith(CRITICAL))


def in_home(word: Word, *names: str) -> bool:
    """Is this one of the named files below a home folder (`~/x`, `$HOME/x`, `/home/me/x`, `/root/x`)?"""
    anchor, parts = normal(word)
    if anchor == "/":
        depth = 2 if parts[:1] and parts[0] in HOMES else 1 if parts[:1] == ["root"] else 0
        if not depth:
            return False
        parts = parts[depth:]
    elif anchor != "~":
        return False
    return "/".join(parts) in names
