"""Destructive shell commands, by named rules that can be disabled one by one."""

from __future__ import annotations

from onehook.policies.danger_files import check_find, check_mv, check_permissions, check_rm, check_rsync, check_unknown_name, check_writes
from onehook.policies.danger_git import force_push, git_call, git_danger, hard_reset, loses_untracked
from onehook.policies.danger_services import (
    SQL_CLIENTS,
    check_crontab,
    check_docker,
    check_firewall,
    check_format,
    check_history,
    check_kill,
    check_kubectl,
    check_shutdown,
    check_sql,
    check_terraform,
)
from onehook.policies.rule_names import RULES
from onehook.policies.shell import Command, Script, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from onehook.policies.danger_files import Found

    Check = Callable[[Command, bool], "Found | None"]

__all__ = ["RULES", "Danger", "danger", "dangers", "git_danger"]

DOWNLOADERS = frozenset(["curl", "wget", "fetch", "http", "https", "xh", "aria2c", "lynx", "ftp", "nc", "ncat", "netcat", "scp"])

DECODERS = frozenset(["base64", "base32", "xxd", "openssl", "gunzip", "zcat", "rev", "tr", "uudecode", "gpg"])


class Danger:
    """A rule that a command breaks. `here`: because of what it does to the contents of the current folder."""

    __slots__ = ("command", "here", "reason", "rule")

    def __init__(self, command: Command | None, rule: str, reason: str, here: bool = False) -> None:
        self.rule, self.reason, self.command, self.here = rule, reason, command, here


def danger(command: Script | str, *, skip: Collection[str] = (), strict: bool = False) -> str | None:
    """Why this command is destructive, in plain words, or None.  `skip` names rules to disable."""
    return next((found.reason for found in dangers(command, skip=skip, strict=strict)), None)


def dangers(command: Script | str, *, skip: Collection[str] = (), strict: bool = False) -> Iterator[Danger]:
    """Every rule that the command breaks, in the order of its parts."""
    if unknown := set(skip) - set(RULES):
        raise ValueError(f"unknown rule: {', '.join(sorted(unknown))}; known rules: {', '.join(RULES)}")
    script = parse(command) if isinstance(command, str) else command
    whole = [
        ("fork-bomb", "it starts itself endlessly", script.fork_bomb),
        ("too-complex", "it is too long or too deeply nested to be checked", script.cut),
    ]
    for rule, reason, holds in whole:
        if holds and rule not in skip:
            yield Danger(None, rule, reason)
    for item in script.commands:
        for check in (*EVERY, *CHECKS.get(item.name, ())):
            found = check(item, strict)
            if found and found[0] not in skip:
                yield Danger(item, found[0], found[1], here=len(found) == 3 and found[2])


def check_opaque(command: Command, strict: bool) -> Found | None:
    if not command.opaque:
        return None
    loaders = [s for s in command.sources if s in DOWNLOADERS]
    if loaders:
        return "download-shell", f"it runs text that {loaders[0]} downloads, without inspection"
    decoded = not DECODERS.isdisjoint(command.sources)
    from_pipe = command.sources and command.name not in ("eval", "source", ".") and command.argv[0].known
    plain_file = set(command.sources) <= {"cat"}
    if decoded or (from_pipe and not plain_file) or (strict and command.name == "eval"):
        return "opaque-shell", f"{command.name or 'it'} runs text that cannot be inspected"
    return None


def check_git(command: Command, strict: bool) -> Found | None:
    git = git_call(command)
    if git is None:
        return None
    if loses_untracked(git):
        return "git-clean", "git clean deletes untracked files for good"
    if hard_reset(git):
        return "git-reset", "git reset --hard discards uncommitted work"
    return ("git-push-force", "a forced push rewrites commits that others may have") if force_push(git) else None


EVERY: tuple[Check, ...] = (check_opaque, check_writes, check_unknown_name, check_format)
BY_CHECK: tuple[tuple[Check, str], ...] = (
    (check_rm, "rm grm"),
    (check_find, "find gfind"),
    (check_mv, "mv gmv"),
    (check_rsync, "rsync"),
    (check_permissions, "chmod chown chgrp"),
    (check_kill, "kill"),
    (check_shutdown, "shutdown reboot halt poweroff"),
    (check_shutdown, "init telinit systemctl"),
    (check_firewall, "iptables ip6tables nft ufw"),
    (check_crontab, "crontab"),
    (check_docker, "docker podman"),
    (check_kubectl, "kubectl oc k"),
    (check_terraform, "terraform tofu pulumi terragrunt"),
    (check_history, "history"),
    (check_git, "git"),
    (check_sql, " ".join(sorted(SQL_CLIENTS))),
)
CHECKS: dict[str, tuple[Check, ...]] = {}
for _check, _names in BY_CHECK:
    for _name in _names.split():
        CHECKS[_name] = (*CHECKS.get(_name, ()), _check)
