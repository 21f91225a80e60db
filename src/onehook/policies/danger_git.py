"""Git commands that lose work, rewrite shared history, or bypass hooks."""

from __future__ import annotations

from onehook.policies.bash_expand import Word
from onehook.policies.shell import Command, Script, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

GLOBAL_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
COMMIT_VALUED = "mFCct"
LONG_VALUED = frozenset({"--message", "--file", "--author", "--date", "--push-option", "--exclude"})
PUSH_VALUED = frozenset({"-o", "--push-option", "--repo", "--receive-pack", "--exec"})


class Git:
    """A git command: its verb, what follows, and the values of -c."""

    __slots__ = ("args", "configs", "verb")

    def __init__(self, verb: str, args: list[Word], configs: list[str]) -> None:
        self.verb, self.args, self.configs = verb, args, configs


def git_call(command: Command) -> Git | None:
    """The verb and arguments of a git command, after options such as -C and -c."""
    if command.name != "git":
        return None
    configs: list[str] = []
    argv, i = command.argv, 1
    while i < len(argv) and argv[i].startswith("-"):
        if argv[i] in ("-c", "--config-env") and i + 1 < len(argv):
            configs.append(argv[i + 1].lower())
        i += 2 if argv[i] in GLOBAL_VALUED else 1
    return Git(argv[i] if i < len(argv) else "", argv[i + 1 :], configs)


def flags(args: list[Word], valued: str = "") -> set[str]:
    """Long options without their value, and each letter of clustered short options.

    `valued` holds the letters that take a value, which is then not read as an option."""
    found: set[str] = set()
    skip = False
    for word in args:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word.startswith("--"):
            found.add(word.split("=", 1)[0])
            skip = word in LONG_VALUED and bool(valued)
        elif word.startswith("-"):
            at = next((i for i, letter in enumerate(word) if i and letter in valued), len(word))
            found.update("-" + letter for letter in word[1 : at + 1])
            skip = at == len(word) - 1
    return found


def force_push(git: Git, allow_lease: bool = False) -> bool:
    if git.verb != "push":
        return False
    given = flags(git.args, "o")
    lease = "--force-with-lease" in given and not allow_lease
    return bool({"-f", "--force", "--mirror"} & given) or lease or any(w.startswith("+") for w in refspecs(git.args))


def loses_untracked(git: Git) -> bool:
    given = flags(git.args, "e")
    forced = bool({"-f", "--force"} & given) and not {"-n", "--dry-run"} & given
    return git.verb == "clean" and forced and bool({"-d", "-x", "-X"} & given)


def hard_reset(git: Git) -> bool:
    return git.verb == "reset" and "--hard" in flags(git.args)


def refspecs(args: list[Word]) -> list[Word]:
    """What is pushed: the operands after the remote."""
    operands: list[Word] = []
    i = 0
    while i < len(args):
        if args[i] in PUSH_VALUED:
            i += 1
        elif not args[i].startswith("-"):
            operands.append(args[i])
        i += 1
    return operands[1:]


def destination(refspec: str) -> str:
    return refspec.lstrip("+").rsplit(":", 1)[-1].removeprefix("refs/heads/")


def skips_hooks(git: Git, command: Command) -> bool:
    before = command.source.partition("git ")[0].lower()
    if any(c.startswith("core.hookspath") for c in git.configs) or "core.hookspath" in before:
        return True
    if git.verb == "config":
        reading = {"--get", "--get-all", "--list", "-l", "--unset"} & flags(git.args)
        names = [w.lower() for w in git.args if not w.startswith("-")]
        return "core.hookspath" in names and not reading and names[-1] != "core.hookspath"
    given = flags(git.args, COMMIT_VALUED if git.verb == "commit" else "")
    short = git.verb == "commit" and "-n" in given
    return short or (git.verb in ("commit", "push", "merge", "am", "rebase", "pull") and "--no-verify" in given)


def switched(git: Git, branch: str | None) -> str | None:
    """The branch after this command, if it switches branches."""
    if git.verb not in ("checkout", "switch") or "--" in git.args:
        return branch
    names = [w for w in git.args if not w.startswith("-")]
    return str(names[0]) if names and names[0].known else branch


def protected_push(git: Git, branch: str | None, protected: frozenset[str]) -> str | None:
    """The protected branch that a push would change."""
    specs = refspecs(git.args)
    targets = [branch if spec.lstrip("+") in ("HEAD", "@") else destination(spec) for spec in specs]
    if not specs and "--tags" not in git.args:
        targets = [branch, *(sorted(protected)[:1] if {"--all", "--branches"} & flags(git.args, "o") else [])]
    return next((t for t in targets if t in protected), None)


def git_danger(
    script: Script | str,
    protected_branches: Iterable[str] = ("main", "master"),
    *,
    current_branch: str | None = None,
    allow_lease: bool = False,
) -> str | None:
    """Why these git commands should not run, or None.

    `current_branch` is the branch that the command starts on; a checkout or switch in the command changes it."""
    script = parse(script) if isinstance(script, str) else script
    protected, branch = frozenset(protected_branches), current_branch
    for command in script.commands:
        if command.name == "export" and any("core.hookspath" in w.lower() for w in command.argv):
            return "it disables the repository's git hooks"
        git = git_call(command)
        if git is None:
            continue
        if reason := call_reason(git, command, branch, protected, allow_lease):
            return reason
        branch = switched(git, branch)
    return None


def call_reason(git: Git, command: Command, branch: str | None, protected: frozenset[str], allow_lease: bool) -> str | None:
    if force_push(git, allow_lease):
        return "a forced push rewrites commits that others may have"
    if skips_hooks(git, command):
        return "it bypasses the repository's git hooks"
    if git.verb == "push" and (target := protected_push(git, branch, protected)):
        return f"it pushes to the protected branch {target}"
    if git.verb in ("commit", "merge", "rebase", "cherry-pick", "revert", "am") and branch in protected:
        return f"it changes the protected branch {branch} directly"
    return None
