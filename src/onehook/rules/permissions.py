"""`Tool(specifier)`, the permission syntax of Claude Code, parsed to plain data (docs/permissions.md).

Bash  Bash(npm run build)  Bash(npm run *)  Bash(npm run:*)  Bash(git * main)
Read(./.env)  Read(~/.ssh/**)  Edit(/src/**)  Edit(//etc/**)
WebFetch(domain:example.com)  WebFetch(domain:*.example.com)
mcp__github  mcp__github__*  mcp__github__delete_*  Agent(Explore)  Agent(model:opus)
"""

from __future__ import annotations

from onehook.core import TOOLS, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

# Read rules apply to every tool that reads files, Edit rules to every tool that changes them.
READING = ("Read", "Grep", "Glob", "List")
EDITING = ("Edit", "Write", "Delete")
LISTS = ("deny", "ask", "allow")


def parse_permission(text: str, tools: Collection[str] = TOOLS) -> dict[str, Any]:
    """The data of one entry: kind ("command", "path", "url", "mcp", "input" or "tool") and what it asks for.

    `tools`: the names that are known, those of the agents' own tools among them."""
    tool, paren, specifier = text.strip().partition("(")
    if paren and not specifier.endswith(")"):
        raise UsageError(f"{text!r}: the closing parenthesis is missing")
    specifier = specifier[:-1].strip() if paren else ""
    if paren and not specifier:
        raise UsageError(f"{text!r}: the parentheses are empty; write {tool} alone for every use of it")
    if tool.startswith("mcp__"):
        return _mcp(text, tool, specifier)
    if tool not in tools:
        raise UsageError(f"{text!r}: unknown tool {tool!r}{suggestion(tool, tools)}")
    data: dict[str, Any] = {"text": text, "tool": tool}
    if specifier in ("", "*", "**"):
        return {**data, "kind": "tool"}
    if tool == "Bash":
        return {**data, "kind": "command", **_command(text, specifier)}
    if tool in READING or tool in EDITING:
        return {**data, "kind": "path", "writes": tool in EDITING, "glob": specifier}
    if tool == "WebFetch":
        if not specifier.startswith("domain:") or specifier == "domain:":
            raise UsageError(f"{text!r}: write WebFetch(domain:example.com) or WebFetch(domain:*.example.com)")
        return {**data, "kind": "url", "domain": specifier[7:].lower()}
    parameter, colon, value = specifier.partition(":")
    # Agent(Explore): the name of the agent is the one thing that most calls have in common.
    return {**data, "kind": "input", "parameter": parameter if colon else "", "value": value if colon else specifier}


def _mcp(text: str, tool: str, specifier: str) -> dict[str, Any]:
    if specifier and specifier != "*":
        raise UsageError(f"{text!r}: an MCP tool takes no specifier; put wildcards into the name, as in mcp__github__delete_*")
    server, _, name = tool[5:].partition("__")
    if not server:
        raise UsageError(f"{text!r}: the server is missing, as in mcp__github__delete_repo")
    return {"text": text, "tool": tool, "kind": "mcp", "name": f"mcp__{server}__{name or '*'}"}


def _command(text: str, specifier: str) -> dict[str, Any]:
    """`npm run:*` and `npm run *` are `npm run` and whatever follows it; `npm*` needs no blank."""
    if ":*" in specifier[:-2]:
        raise UsageError(f"{text!r}: :* is only allowed at the end; write * elsewhere")
    if specifier.endswith(":*"):
        specifier = specifier[:-2] + " *"
    globs = [specifier]
    if specifier.endswith(" *"):
        globs.append(specifier[:-2].rstrip())
    first = specifier.split(" ", 1)[0]
    program = first.rsplit("/", 1)[-1].lower() if "*" not in first and "?" not in first else "*"
    return {"globs": globs, "program": program}


def suggestion(word: str, known: Collection[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""
