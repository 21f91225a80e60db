"""commit_rules and mcp_servers: what a team agrees on for commits, branches and MCP servers."""

from __future__ import annotations

import os
import sys

from onehook.core import Hooks, deny, wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from onehook.core import Event, Response
    from onehook.policies.shell import Command

# The value of these options is the next word.
_MESSAGE = ("-m", "--message")
_NEW_BRANCH = {"checkout": ("-b", "-B", "--orphan"), "switch": ("-c", "-C", "--create", "--force-create", "--orphan")}


def commit_rules(
    message: str = "", max_subject: int = 0, forbidden: Iterable[str] = (), branches: Iterable[str] = (), require_message: bool = False
) -> Hooks:
    """Hold commits and new branches to a team's rules.

    message          a regular expression that the subject line must match, from its start: r"(feat|fix|docs)(\\(.+\\))?: "
    max_subject      characters of the subject line
    forbidden        strings that no message may contain, such as "Co-authored-by:"
    branches         wildcards, one of which a new branch must match: ["feature/*", "fix/*"]
    require_message  deny a commit whose message is not on the command line, and so cannot be checked
    """
    texts = [forbidden] if isinstance(forbidden, str) else list(forbidden)
    names = [branches] if isinstance(branches, str) else list(branches)
    if message and "re" in sys.modules:  # it is loaded in install and lint, which report a mistake; an event would pay 6 ms
        sys.modules["re"].compile(message)
    hooks = Hooks()

    @hooks.on("PreToolUse", tool="Bash")
    def commits_and_branches(event: Event) -> Response | None:
        if "git" not in event.command:
            return None
        from onehook.policies.shell import parse

        for command in parse(event.command).commands:
            why = _wrong(command)
            if why:
                return deny(why)
        return None

    def _wrong(command: Command) -> str:
        if command.name != "git":
            return ""
        words = [str(word) for word in command.argv[1:]]
        while words and words[0].startswith("-"):  # git -C folder commit
            words = words[2:] if words[0] in ("-C", "-c") else words[1:]
        verb, rest = (words[0], words[1:]) if words else ("", [])
        if verb == "commit":
            return _wrong_message(rest)
        made = _made_branch(verb, rest)
        if made and names and not any(wildcard(name, made) for name in names):
            return f"the branch {made} does not follow the naming convention: {', '.join(names)}"
        return ""

    def _wrong_message(rest: list[str]) -> str:
        given = _messages(rest)
        if not given:
            reused = any(
                word in ("--amend", "--no-edit", "-C", "--fixup", "--squash") or word.startswith(("--fixup=", "--squash=")) for word in rest
            )
            return "give the message with -m, so that it can be checked" if require_message and not reused else ""
        whole = "\n\n".join(given)
        subject = whole.split("\n", 1)[0]
        if message:
            import re

            if not re.match(message, subject):
                return f"the subject {subject!r} does not match {message}"
        if max_subject and len(subject) > max_subject:
            return f"the subject has {len(subject)} characters; the limit is {max_subject}. Put the rest into the body"
        found = [text for text in texts if text.lower() in whole.lower()]
        return f"a commit message must not contain {found[0]!r}" if found else ""

    return hooks


def _messages(words: list[str]) -> list[str]:
    found: list[str] = []
    for at, word in enumerate(words):
        short = word.startswith("-") and not word.startswith("--") and "m" in word  # -am, -mtext
        if word in _MESSAGE or (short and word.endswith("m")):
            found += words[at + 1 : at + 2]
        elif word.startswith("--message="):
            found.append(word.partition("=")[2])
        elif short and word.startswith("-m"):
            found.append(word[2:])
    return found


def _made_branch(verb: str, words: list[str]) -> str:
    options = _NEW_BRANCH.get(verb, ())
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in options:
            return value or "".join(words[at + 1 : at + 2])
    plain = [word for word in words if not word.startswith("-")]
    return plain[0] if verb == "branch" and plain and len(plain) == len(words) else ""


def mcp_servers(*allow: str, pins: Mapping[str, str] | None = None, files: Iterable[str] = (".mcp.json",)) -> Hooks:
    """Let the agent use only these MCP servers: mcp_servers("github", "linear__get_*").

    allow  servers, or server__tool, with wildcards
    pins   how a server must be configured, so that nobody can replace it with another: {"github": "npx -y server-github@1.4.0"}, the
           command with its arguments, or the address
    files  the project's files that configure servers, as {"mcpServers": {...}} in JSON
    """
    if not allow or not all(isinstance(name, str) and name for name in allow):
        raise ValueError('name at least one server: mcp_servers("github")')
    pinned = dict(pins or {})
    configs = [files] if isinstance(files, str) else list(files)
    hooks = Hooks()

    @hooks.on("PreToolUse", tool="MCP")
    def listed_servers(event: Event) -> Response | None:
        if event.mcp is None:
            return None
        name = f"{event.mcp.server}__{event.mcp.tool}" if event.mcp.server else event.native_tool
        covered = [entry for entry in allow if wildcard(entry, name) or wildcard(f"{entry}__*", name)]
        if not covered:
            return deny(f"the MCP tool {name} is not on the list of this project ({', '.join(allow)}); ask the person to add it")
        pin = pinned.get(event.mcp.server)
        if pin is None:
            return None
        found = _configured(event, configs, event.mcp.server)
        if found == pin:
            return None
        return deny(f"the MCP server {event.mcp.server} is pinned to `{pin}`, but is configured as `{found or 'nothing'}`")

    return hooks


def _configured(event: Event, files: list[str], server: str) -> str:
    """The command or address of a server, from the first file that has it."""
    from onehook.jsonc import read_jsonc

    for name in files:
        entry: Any = read_jsonc(os.path.join(event.cwd, os.path.expanduser(name))).get("mcpServers", {})
        entry = entry.get(server) if isinstance(entry, dict) else None
        if isinstance(entry, dict):
            words = [entry.get("command"), *(entry.get("args") or [])]
            return " ".join(map(str, words)) if words[0] else str(entry.get("url") or entry.get("httpUrl") or "")
    return ""
