"""The command lists of Factory Droid (0.225.2): commandBlocklist never runs, commandDenylist needs consent, commandAllowlist runs.

Tried with `droid exec` (2026-11-16). The first two compare words: `p x` also covers `p x y`, after &&, env or bash -c, with a path and
with extra blanks, but not `$(echo p)`; a * is a literal character there, so `p *` stops nothing. commandDenylist ends an unattended run.
commandAllowlist compares programs (`p x` lets `p y` run), for git subcommands, and every part of a line must be covered; here it is read
as exactly the command that it names, which allows less. The lists of the user and of the project are combined, and settings.local.json
replaces the project's. Not tried: permissionRules, and what a person is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.jsonc import read_jsonc

_LISTS = {"commandBlocklist": "deny", "commandDenylist": "ask", "commandAllowlist": "allow"}


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    user = machine.folder("FACTORY_HOME_OVERRIDE", "") / ".factory"
    names = {"project": "settings.json", "local": "settings.local.json", "user": "settings.json"}
    if scope not in names:
        return
    file = (user if scope == "user" else machine.project / ".factory") / names[scope]
    if not file.is_file():
        return
    data = read_jsonc(file)
    for key, level in _LISTS.items():
        # An entry that stops a command also applies with more arguments; one that allows a command, only to exactly that command.
        for one in kit.one_list(level, data.get(key), file, _exactly if level == "allow" else _beginning):
            if level != "allow" and "*" in one.shown:
                one.loss = "Factory Droid takes its * as a plain character, so that it stops nothing there"
            yield one
    rules = kit.table(data.get("permissionRules")).get("rules", [])
    for rule in rules if isinstance(rules, list) else ():
        yield Listed("deny", str(kit.table(rule).get("id", rule)), file, refused="permissionRules have a language of their own")


def _beginning(text: str) -> Translated:
    return (f"Bash({text.strip()})", "") if "*" in text and "(" not in text else kit.command(text)


def _exactly(text: str) -> Translated:
    entry, refused = _beginning(text)
    return entry.replace(":*)", ")"), refused
