"""What git commands do to the policy that the agent runs under.

A command that names a guarded file is denied unless it only reads. One that discards uncommitted changes (stash, reset --hard,
checkout ., clean) is denied if that affects a guarded file: git itself is asked, since nothing else knows. One that goes to another
commit (checkout BRANCH, pull, merge, rebase) may run: a policy in a repository changes with it, unless it is pinned.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onehook.policies.bash_expand import Word
    from onehook.policies.self_commands import Line
    from onehook.policies.shell import Command

_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix")
_CHANGES = frozenset([
    "checkout", "restore", "rm", "mv", "apply", "am", "update-index", "filter-branch", "fast-import", "checkout-index",
    "sparse-checkout", "read-tree", "stash", "clean",
])  # fmt: skip
SECONDS = 10


def objection(line: Line, argv: Sequence[Word], command: Command) -> str:
    here, rest = _start(line.here, argv)
    if not rest:
        return ""
    verb, words = str(rest[0]), rest[1:]
    if verb in ("apply", "am") and (found := line.patch_objection(words, command)):
        return found
    if verb in ("restore", "rm") and _only_staged(verb, words):
        return ""
    if verb == "stash" and words[:1] and words[0] in ("list", "show", "pop", "apply", "drop", "branch", "create", "clear"):
        return ""
    if verb == "config" and (later := next((word for word in words if word[:1] == "!" and line.mentioned(word)), "")):
        return f"git config would run `{later[1:]}` later"
    named = [word for word in words if word[:1] != "-"]
    for word in named if verb in _CHANGES else ():
        for path in line.names(word):
            if line.guarded.holds(path, here) and (os.path.lexists(os.path.join(here, path)) or "/" in path):
                return f"git {verb} would change {path}, which tool calls may not change"
    return _discards(line, verb, words, named, here)


def _start(here: str, argv: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """The folder that git works in, and its arguments from the verb on."""
    at = 0
    while at < len(argv) and argv[at][:1] == "-":
        if argv[at] in ("-C", "--work-tree") and at + 1 < len(argv):
            here = os.path.normpath(os.path.join(here, os.path.expanduser(argv[at + 1])))
        elif argv[at].startswith("--work-tree="):
            here = os.path.normpath(os.path.join(here, argv[at][len("--work-tree=") :]))
        at += 2 if argv[at] in _VALUED else 1
    return here, argv[at:]


def _only_staged(verb: str, words: Sequence[Word]) -> bool:
    """Whether a command leaves the files alone: `restore --staged` and `rm --cached` change only the index."""
    if verb == "rm":
        return "--cached" in words
    return ("--staged" in words or "-S" in words) and not ("--worktree" in words or "-W" in words)


def _letters(words: Sequence[Word]) -> str:
    return "".join(word[1:] for word in words if word[:1] == "-" != word[1:2])


def _discards(line: Line, verb: str, words: Sequence[Word], named: Sequence[Word], here: str) -> str:
    """Why a command that discards uncommitted changes is denied, or ""."""
    letters = _letters(words)
    other = ""  # the commit whose files replace the existing ones
    kinds = "tracked"
    if verb == "stash":
        everything = "-a" in words or "--all" in words or "a" in letters
        kinds = "all" if everything else "untracked" if "u" in letters or "--include-untracked" in words else "tracked"
    elif verb == "clean":
        if "n" in letters or "--dry-run" in words or not ("f" in letters or "--force" in words):
            return ""
        kinds = "ignored" if "X" in letters else "removed" if "x" in letters else "new"
    elif verb == "reset":
        if not {"--hard", "--merge", "--keep"}.intersection(words):
            return ""
        other = str(named[0]) if named else ""
    elif verb in ("checkout", "restore"):
        paths = _paths(words, named, here)
        forced = verb == "checkout" and ("f" in letters or "--force" in words)
        if not forced and not any(line.guarded.below(path, here) for path in paths):
            return ""
        other = next((str(word) for word in named if verb == "checkout" and word not in paths), "")
    elif verb not in ("rm", "read-tree", "checkout-index", "sparse-checkout"):
        return ""
    elif verb == "rm":
        if not any(line.guarded.below(path, here) for path in map(str, named)):
            return ""
        kinds = "listed"
    return _asked(line, verb, kinds, other, here)


def _paths(words: Sequence[Word], named: Sequence[Word], here: str) -> list[str]:
    """The operands of checkout and restore that are paths, as git distinguishes them from commits: after --, or because they exist."""
    if "--" in words:
        plain = [str(word) for word in words]
        return plain[plain.index("--") + 1 :]
    found = [str(word) for word in named if os.path.lexists(os.path.join(here, word)) or word.startswith(":")]
    return [os.path.relpath(_root(here) or here, here) if path.startswith(":") else path for path in found]


def _root(here: str) -> str:
    """The work tree of a folder; "" if it is in none."""
    folder = here
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _asked(line: Line, verb: str, kinds: str, other: str, here: str) -> str:
    root = _root(here)
    if not root:
        return ""
    inside = [os.path.realpath(root) + "/", root + "/"]
    paths = [path for path in line.guarded.existing() if path.startswith(tuple(inside))]
    if not paths:
        return ""
    found = _touched(root, kinds, other, paths)
    return f"git {verb} would change {found}, which tool calls may not change" if found else ""


def _touched(root: str, kinds: str, other: str, paths: Sequence[str]) -> str:
    """The first of these files that git would change; if git gives no answer, it may change any."""
    if kinds == "listed":
        out = _git(root, "ls-files", "-z", "--", *paths)
        return paths[0] if out is None else out.split("\0")[0]
    if other and other not in ("HEAD", "@"):
        out = _git(root, "diff", "--name-only", "-z", other, "--", *paths)
        return paths[0] if out is None else out.split("\0")[0]
    out = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--", *paths)
    if out is None:
        return paths[0]
    for entry in out.split("\0"):
        state, name = entry[:2], entry[3:]
        new, ignored = state == "??", state == "!!"
        wanted = {
            "tracked": not new and not ignored, "untracked": not ignored, "all": True, "new": new, "removed": new or ignored,
            "ignored": ignored,
        }[kinds]  # fmt: skip
        if len(entry) > 3 and wanted:
            return name
    return ""


def _git(root: str, *arguments: str) -> str | None:
    import subprocess

    argv = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", root, *arguments]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=SECONDS, check=False, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
