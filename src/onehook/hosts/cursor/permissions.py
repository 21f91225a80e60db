"""The permission lists of Cursor: cli.json and cli-config.json of its CLI, and permissions.json of its editor.

Shell(git) covers any git command, Shell(npm:run *) a program and its arguments; Read and Write take globs, which are absolute
only with a leading slash; WebFetch takes a domain, and Mcp takes server:tool.

Read in the permission service of Cursor's own package (@cursor/sdk 1.0.32, 2026-11-16): Bash(...) is the same as Shell(...); without a
colon an entry is a glob for the whole command, the words that it begins with, or its program; an Mcp entry without a colon covers
nothing. No run has confirmed this: the package starts with built-in lists and reads neither file, and the CLI, which reads them, needs
an account.
"""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.jsonc import read_jsonc


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    if scope not in ("project", "user"):
        return
    folder = (machine.project if scope == "project" else machine.home) / ".cursor"
    file = folder / ("cli.json" if scope == "project" else "cli-config.json")
    if file.is_file():
        yield from kit.three_lists(read_jsonc(file).get("permissions"), file, _entry)
    file = folder / "permissions.json"
    if file.is_file():
        data = read_jsonc(file)
        yield from kit.one_list("allow", data.get("terminalAllowlist"), file, _shell)
        yield from kit.one_list("allow", data.get("mcpAllowlist"), file, _mcp)
        if data.get("autoRun"):
            yield Listed("allow", "autoRun", file, refused="it is guidance in words for a classifier")


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name in ("Shell", "Bash"):
        return _shell(specifier)
    if name in ("Read", "Write"):
        tool = "Edit" if name == "Write" else name
        return (f"{tool}({_path(specifier)})", "") if specifier not in ("", "**", "*") else (tool, "")
    if name == "WebFetch":
        return kit.domain(specifier or "*")
    return _mcp(specifier) if name == "Mcp" else ("", kit.NO_TOOL)


def _shell(specifier: str) -> Translated:
    if specifier in ("", "*", "**"):
        return "Bash", ""
    program, colon, arguments = specifier.partition(":")
    if not colon or arguments in ("*", "**"):
        return kit.command(program)
    return f"Bash({program} {arguments})", ""


def _path(glob: str) -> str:
    if glob.startswith(("~/", "./", "**")):
        return glob
    return f"/{glob}" if glob.startswith("/") else f"./{glob}"


def _mcp(specifier: str) -> Translated:
    server, colon, tool = specifier.replace(",", ":", 1).partition(":")
    if not colon:
        return "", "Cursor ignores it: it has no colon between server and tool"
    if server.strip() == "*":
        return "", "it is about every MCP server"
    return kit.mcp(server.strip(), tool.strip())
