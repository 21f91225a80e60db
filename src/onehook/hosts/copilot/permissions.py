"""The permissions of Copilot CLI (1.0.75 to 1.0.102): deniedUrls and allowedUrls in its settings, and approvals for a folder.

The lists for --allow-tool and --deny-tool are passed at each start and are not in any file.

Tried with `copilot -p` (2026-11-16). Addresses, in commands: `x.org` and `https://x.org` cover the domain over https only, `*.x.org`
covers x.org and its subdomains, and an address with a path covers nothing; 1.0.75 reads config.json but 1.0.102 no longer does, and both
read settings.json. Approvals: `p` and `p:*` cover the program with any arguments, `git tag` a subcommand of git; `p x` and `p *` cover
nothing. `write` takes effect. Not tried: mcp, and the tool web_fetch, which is not offered without a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.hosts.copilot import config
from onehook.jsonc import read_jsonc

_KINDS = {"write": "Edit", "read": "Read"}


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    home = config.home(machine)
    for file in (home / "settings.json", home / "config.json") if scope == "user" else ():
        if file.is_file():
            data = read_jsonc(file)
            yield from _sites("deny", data.get("deniedUrls"), file)
            yield from _sites("allow", data.get("allowedUrls"), file)
    file = home / "permissions-config.json"
    if scope == "project" and file.is_file():
        places = kit.table(read_jsonc(file).get("locations"))
        for approval in kit.table(places.get(str(machine.project))).get("tool_approvals", []):
            for shown, (entry, refused) in _approved(kit.table(approval)):
                yield Listed("allow", shown, file, entry, refused)


def _sites(level: str, held: object, file: Path) -> Iterator[Listed]:
    for one in kit.one_list(level, held, file, kit.domain):
        yield one
        _, below, site = one.entry.partition("domain:*.")
        if below:
            yield Listed(level, one.shown, file, f"WebFetch(domain:{site}")


def _approved(approval: dict[str, Any]) -> Iterator[tuple[str, Translated]]:
    kind = str(approval.get("kind"))
    if kind == "commands":
        for identifier in kit.strings(approval.get("commandIdentifiers")):
            yield identifier, kit.command(identifier.removesuffix(":*"))
    elif kind == "mcp":
        server, tool = str(approval.get("serverName") or ""), str(approval.get("toolName") or "")
        yield f"{server} {tool}".strip(), kit.mcp(server, tool)
    else:
        yield kind, (_KINDS[kind], "") if kind in _KINDS else ("", kit.NO_TOOL)
