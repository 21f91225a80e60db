"""How rules decide on a command or an event, for people and for tests: explain, the list of rules, and the samples of every rule."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time

from onehook.core import TOOLS, Change, Event, Facts, HandlerError, Mcp
from onehook.packs import PACKS, read_pack
from onehook.rules import SELF
from onehook.rules.compile import compile_layers
from onehook.rules.held import command_text
from onehook.rules.judge import Line, index_names, rulings
from onehook.rules.levels import Ruling, answered, expired, leveled
from onehook.rules.load import Table, table_of
from onehook.rules.match import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from onehook.rules.load import Layer


class Explanation:
    """How an event is decided: every ruling, the one that decides, and how each command in it was read."""

    def __init__(self, event: Event, found: list[Ruling], parts: list[dict[str, Any]]) -> None:
        self.event, self.parts = event, parts
        self.findings = [ruling for ruling in found if not ruling.exception]
        counted = {ruling.rule for ruling in self.findings}
        self.excepted = [ruling for ruling in found if ruling.exception and ruling.rule not in counted]
        response = answered(found)
        self.decision = response.decision if response else None
        self.reason = response.reason if response else None
        self.deciding = next((f for f in found if response is not None and f.effect == self.decision), None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "reason": self.reason,
            "deciding": self.deciding.to_dict() if self.deciding else None,
            "findings": [ruling.to_dict() for ruling in self.findings],
            "excepted": [ruling.to_dict() for ruling in self.excepted],
            "parts": self.parts,
        }


def explain(what: str | Event, path: str, layers: Sequence[Layer] = (), cwd: str = "") -> Explanation:
    """Which rule of which file decides on a command, a sample such as `Read(.env)`, or an event."""
    table = table_of([*layers, ("project", path)], cache="")
    return explained(table, sample_event(what, cwd) if isinstance(what, str) else what)


def _without_exceptions(table: Table) -> None:
    for rule in table.rules():
        for says in rule["says"]:
            says["exceptions"] = []


def explained(table: Table, event: Event) -> Explanation:
    line = Line(event.command)
    parts = [_part(table, command) for command in line.commands]
    return Explanation(event, [*rulings(table, event, line), *_of_policies(table, event)], parts)


def _of_policies(table: Table, event: Event) -> list[Ruling]:
    from onehook import policies
    from onehook.policies.self_protection import Own

    found: list[Ruling] = []
    for name, positional, named, says in table.header["policies"]:
        if name == SELF:
            with contextlib.suppress(HandlerError):  # a command that cannot be parsed: the rules report it themselves
                if why := Own(named["policy"], named.get("allow", [])).objection(event):
                    found.append(Ruling(f"policies.{name}", why, "high", says, event.command or event.native_tool))
            continue
        with _state_apart():
            for one in getattr(policies, name)(*positional, **named).wanting(event):
                leveled(one.handler, f"policies.{name}", says, found.append)(event)
    return found


@contextlib.contextmanager
def _state_apart() -> Iterator[None]:
    """A call that is only explained must not count towards a budget."""
    before = os.environ.get("ONEHOOK_STATE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONEHOOK_STATE_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("ONEHOOK_STATE_DIR")
            if before is not None:
                os.environ["ONEHOOK_STATE_DIR"] = before


def _part(table: Table, command: Any) -> dict[str, Any]:
    chunk = table.chunk(index_names(command)[0])
    reading = Reading(command, chunk["vocabulary"] if chunk else {})
    return {
        "command": command_text(command), "program": reading.program, "words": [str(word) for word in reading.words],
        "options": {name: [str(v) if v is not None else None for v in values] for name, values in reading.options.items()},
        "via": list(command.via),
    }  # fmt: skip


def rules_on(path: str, layers: Sequence[Layer] = ()) -> list[dict[str, Any]]:
    """Every active rule, with what each layer sets for it and where; policies too. path: "" for only those of the other layers."""
    table = table_of([*layers, *([("project", path)] if path else [])], cache="")
    return table.rules() + [_policy_row(name, says) for name, _, _, says in table.header["policies"]]


def _policy_row(name: str, says: dict[str, Any]) -> dict[str, Any]:
    from onehook import policies

    about = (getattr(policies, name).__doc__ or "").partition("\n")[0].partition(":")[0].rstrip(".")
    return {"id": f"policies.{name}", "pack": "", "reason": about, "severity": "high", "says": [says]}


def expired_exceptions(layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """The exceptions in these files, and in what they extend, whose last day has passed."""
    return [one for one in _exceptions(layers) if expired(one)]


def ending_exceptions(layers: Sequence[Layer], days: int) -> list[dict[str, Any]]:
    """Those that still apply and end within this many days."""
    soon = time.strftime("%Y-%m-%d", time.localtime(time.time() + days * 86400))
    return [one for one in _exceptions(layers) if one["until"] and not expired(one) and one["until"] <= soon]


def _exceptions(layers: Sequence[Layer]) -> Iterator[dict[str, Any]]:
    from onehook.rules.compile import Stack

    for layer, path in layers:
        for file in Stack(layer, path).files if os.path.exists(path) else ():
            for number, entry in file.tables("exception"):
                yield {**entry, "until": str(entry.get("until", ""))[:10], "file": file.path, "line": file.line("exception", number)}


# --- samples ---------------------------------------------------------------------------------------------------------------------


def sample_event(text: str, cwd: str = "") -> Event:
    """The event of a sample: `Read(path)`, `Write(path)`, `WebFetch(url)`, `mcp__server__tool`, or else a shell command."""
    tool, paren, argument = text.partition("(")
    event = Event("PreToolUse", "")
    event.cwd = cwd or os.getcwd()
    if text.startswith("mcp__"):
        server, _, name = text[5:].partition("__")
        facts = Facts(mcp=Mcp(server, name))
        tool = "MCP"
    elif paren and tool in TOOLS and argument.endswith(")"):
        facts = _facts(tool, argument[:-1], event.cwd)
    else:
        tool, facts = "Bash", Facts(command=text)
    given = {"command": facts.command} if facts.command else {"url": facts.url} if facts.url else {}
    event.take_tool((tool,), text if tool == "MCP" else tool, given, lambda _: facts)
    return event


def _facts(tool: str, argument: str, cwd: str) -> Facts:
    if tool == "Bash":
        return Facts(command=argument)
    if tool in ("WebFetch", "WebSearch"):
        return Facts(url=argument)
    path = os.path.normpath(os.path.join(cwd, os.path.expanduser(argument)))
    kinds = {"Write": "write", "Edit": "edit", "Delete": "delete"}
    return Facts(paths=[path], changes=[Change(path, kinds[tool], new="")] if tool in kinds else [])


class Sample:
    """An example of a rule, and whether it passes."""

    def __init__(self, rule: str, text: str, wanted: bool, got: bool) -> None:
        self.rule, self.text, self.wanted, self.got = rule, text, wanted, got
        self.holds = wanted == got

    def __str__(self) -> str:
        return f"{self.rule}: {self.text!r} is {'' if self.got else 'not '}matched, and should {'' if self.wanted else 'not '}be"


def samples_of(table: Table, rules: Sequence[tuple[str, dict[str, Any]]], cwd: str = "") -> list[Sample]:
    """Check every `matches` and `passes` of these rules."""
    out: list[Sample] = []
    for name, rule in rules:
        for key in ("matches", "passes"):
            for text in rule.get(key, []):
                got = any(ruling.rule == name for ruling in rulings(table, sample_event(text, cwd)))
                out.append(Sample(name, text, key == "matches", got))
    return out


def try_samples(path: str, layers: Sequence[Layer] = ()) -> list[Sample]:
    """The samples of a file's own rules and of the packs that it enables."""
    from onehook.rules.compile import Stack

    table = Table(*compile_layers([*layers, ("project", path)]))
    _without_exceptions(table)  # samples are about the rule; that somebody may do it after all is another matter
    on = {rule["id"] for rule in table.rules()}
    own = [(entry["id"], entry) for file in Stack("project", path).files for _, entry in file.tables("rule")]
    packs = [(f"{name}.{entry['id']}", entry) for name in PACKS for entry in read_pack(name)["rule"]]
    return samples_of(table, [item for item in [*own, *packs] if item[0] in on], os.path.dirname(os.path.abspath(path)))
