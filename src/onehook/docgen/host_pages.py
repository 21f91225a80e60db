"""docs/hosts/<id>.md: one page per agent, from its host's tables. Written by `python -m onehook.docgen.matrix`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.core import RESULTS, Event, Mcp
from onehook.hostkit.config import Machine
from onehook.hostkit.effects import NO_CHANNEL, Cap, Caps
from onehook.hosts import having, load, optional, wire_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onehook.hostkit.live import Package
    from onehook.hostkit.versions import Fact
    from onehook.hosts.interface import Config

EFFECTS = ("approve", "allow", "deny", "ask", "reason", "note", "user_message", "modified_input", "additional_context")
HOME, PROJECT = Path("/HOME"), Path("/PROJECT")


def page(host: str) -> str:
    module = wire_of(host)
    about = ((module.__doc__ or "").strip().partition("\n\n")[0]).replace("\n", " ")
    parts = [
        f"# {title(host)}",
        "",
        f"{_without_see(about)}",
        "",
        "Generated from the tables in the code; see [the matrix](../matrix.md) for what was proven on the real agent.",
    ]
    parts += ["", "## Events", "", _events(host), "", "## What an answer can do", "", _effects(host)]
    parts += ["", "## Results", "", _results(host), "", "## Tools", "", _tools(host)]
    config = optional(host, "config")
    if config is not None and config.TRAITS.unguarded:
        parts += ["", "## Tools that cannot be checked", "", "No policy can see what these calls do:", ""]
        parts += [f"- {tool}: {why}." for tool, why in config.TRAITS.unguarded.items()]
    if config is not None:
        parts += ["", "## Config files", "", _places(config), "", _read_again(config), *_held(config)]
    if host not in having("transcripts"):
        parts += ["", "## Transcripts", "", _NO_TRANSCRIPTS]
    live = optional(host, "live")
    if live is not None and live.TRAITS.package is not None:
        parts += ["", "## Releases", "", releases(live.TRAITS.package), *_facts(live.TRAITS.facts)]
    trust = optional(host, "trust")
    if trust is not None:
        store = _shown(trust.store(Machine(HOME, PROJECT, {}, "linux")).path)
        parts += ["", "## Trust", "", f"The agent asks a person for trust. Without it, {trust.EFFECT}."]
        parts += [f"[`onehook install --trust`](../install.md#trust) writes it to {store}. In the agent: {trust.ASKS}."]
    return "\n".join(parts) + "\n"


_NO_TRANSCRIPTS = """\
onehook cannot read the transcripts of this agent.
[Programs that read the transcript](../bring-your-own.md#programs-that-read-the-transcript) and speak another agent's dialect get one that
contains only what is in the event itself."""


def releases(package: Package) -> str:
    often = "every scenario is proven on the newest, the core scenarios on the oldest"
    window = f"Proven on {package.oldest} to {package.version} of the {package.title}"
    return f"{window}: {often}.\nSee [proof.md](../proof.md#several-releases)."


def _facts(facts: Iterable[Fact]) -> list[str]:
    lines = [f"- {fact.releases}: {fact.what}." for fact in facts]
    return ["", "Known about some releases:", "", *lines] if lines else []


def _without_see(text: str) -> str:
    """A module's summary without its link to this page."""
    return re.sub(r"; see docs/hosts/\w+\.md\)", ")", re.sub(r" \(see docs/hosts/\w+\.md\)", "", text))


def title(host: str) -> str:
    config = optional(host, "config")
    label = load(host, "reverse").LABEL
    return config.TITLE if config is not None else label[0].upper() + label[1:]


def event_of(host: str, native: str) -> Event:
    event = Event(wire_of(host).EVENTS[native].event, host)
    event.native_event = native
    return event


def _events(host: str) -> str:
    lines = ["| event | unified event | implied tool | can be denied |", "|---|---|---|---|"]
    for native, row in wire_of(host).EVENTS.items():
        lines.append(f"| {native} | {row.event} | {row.tool} | {'yes' if row.gates else ''} |")
    return "\n".join([*lines, *_stand_ins(host), *_activity(host)])


def _stand_ins(host: str) -> list[str]:
    """Events that the agent lacks, and which of its events stand in for them for the programs of a manifest."""
    rows = wire_of(host).TRAITS.stand_ins
    if not rows:
        return []
    lines = [
        "",
        "The agent lacks these events. For the programs of a "
        "[manifest](../bring-your-own.md#events-that-an-agent-lacks), other events take their place:",
        "",
    ]
    lines += ["| missing event | replaced by |", "|---|---|"]
    for native, row in rows.items():
        whose = f" of {row.tool}" if row.tool else " of a subagent" if row.inside else ""
        lines.append(f"| {row.event}{f' ({row.source})' if row.source else ''} | {native}{whose} |")
    return lines


def _activity(host: str) -> list[str]:
    """What the programs of a manifest can know about skills and kinds of agents."""
    config, wire = optional(host, "config"), wire_of(host)
    if config is None:
        return []
    starts = [f"the {'event' if name in wire.EVENTS else 'tool'} `{name}`" for name in wire.TRAITS.skills]
    types = config.TRAITS.agent_types
    told = "every event" if set(config.EVENTS) <= set(types) else ", ".join(types)
    skills = (
        f"a skill is active after {' or '.join(starts)}" if starts else "the agent does not report when a skill starts, so they do not run"
    )
    kinds = f"the kind of agent is reported by {told}" if types else "the agent does not report the kind of agent, so they do not run"
    about = "[programs of a skill or a kind of agent](../bring-your-own.md#programs-of-a-skill-or-a-kind-of-agent)"
    return ["", f"For {about}:", "", f"- `skills`: {skills}.", f"- `agent_types`: {kinds}."]


def _effects(host: str) -> str:
    """The table of effects; events that take the same answers share a row."""
    wire = wire_of(host)
    by_shape: dict[str, list[str]] = {}
    for native, row in wire.EVENTS.items():
        by_shape.setdefault(row.shape, []).append(native)
    lines = ["| events | supported | not supported |", "|---|---|---|"]
    for natives in by_shape.values():
        caps = wire.caps(event_of(host, natives[0]))
        works = [effect for effect in EFFECTS if caps[effect].kind == "honoured"]
        not_so = [f"{effect}: {_why(caps[effect])}" for effect in EFFECTS if effect not in works and caps[effect] is not NO_CHANNEL]
        lines.append(f"| {', '.join(natives)} | {', '.join(works) or 'nothing'} | {'; '.join(not_so)} |")
    return "\n".join(lines)


def _results(host: str) -> str:
    """What happens to modified_output on each event that has a result."""
    lines = ["[`modified_output`](../results.md#changing-what-the-model-sees), the text that the model gets instead of a result:", ""]
    wire = wire_of(host)
    for native in (name for name, row in wire.EVENTS.items() if row.event in RESULTS):
        of_mcp = event_of(host, native)
        of_mcp.mcp = Mcp("server", "tool")
        caps, mcp_caps = wire.caps(event_of(host, native)), wire.caps(of_mcp)
        if caps.silent:
            lines.append(f"- {native}: it is dropped. This event takes no answer.")
            continue
        only = " of an MCP tool" if mcp_caps["modified_output"].kind != caps["modified_output"].kind else ""
        if mcp_caps["modified_output"].kind == "honoured":
            lines.append(f"- {native}: it replaces the result{only}.")
        elif caps["modified_output"].kind == "limited":
            lines.append(f"- {native}: it replaces a result that holds text; for others, such as an image, it is dropped. {_strict(caps)}")
        if only or caps["modified_output"].kind == "dropped":
            tools = " for other tools" if only else ""
            lines.append(f"- {native}: it is dropped{tools} ({caps['modified_output'].why}). {_strict(caps)}")
    return "\n".join(lines)


def _strict(caps: Caps) -> str:
    if caps["withhold"].kind == "honoured":
        return 'With `fail="closed"` or `on_unsupported="deny"` the turn ends before the model sees the result.'
    return "The model sees the result, whatever the policy's options are."


def _why(cap: Cap) -> str:
    if cap.kind == "moved":
        return f"becomes {cap.becomes}" + (f" ({cap.why})" if cap.why else "")
    return cap.why


def _tools(host: str) -> str:
    lines = [
        "A call without the required key is an error while it can still be denied. A tool that is not listed is matched by its input: one",
        "with a command is a Bash as well, one with a file and its text a Write, and so on.",
        "",
        "| tool | unified names (a handler for any of these gets it) | required key | input keys that differ |",
        "|---|---|---|---|",
    ]
    for native, tool in wire_of(host).TOOLS.items():
        keys = ", ".join(f"{unified} = {key}" for unified, key in tool.keys.items())
        required = f"{tool.main}, unless there is {tool.unless.replace('|', ' or ').replace('=', ' = ')}" if tool.unless else tool.main
        lines.append(f"| {native} | {', '.join(tool.names)} | {required} | {keys or ('a patch in ' + tool.patch if tool.patch else '')} |")
    return "\n".join(lines)


def _places(config: Config) -> str:
    lines = ["| scope | Linux | macOS | Windows |", "|---|---|---|---|"]
    by_platform = {name: config.places(Machine(HOME, PROJECT, {}, name)) for name in ("linux", "darwin", "win32")}
    for index, place in enumerate(by_platform["linux"]):
        paths = [_shown(places[index].path) if index < len(places) else "-" for places in by_platform.values()]
        lines.append(f"| {place.scope} | {' | '.join(paths)} |")
    return "\n".join(lines)


def _read_again(config: Config) -> str:
    if config.TRAITS.reloads is None:
        return "Whether the agent reads its hooks again in the middle of a session was not tried."
    return f"The agent reads its hooks {'again in the middle of a session' if config.TRAITS.reloads else 'when it starts, and not again'}."


def _held(config: Config) -> list[str]:
    """What a machine-wide install writes in addition to the entries."""
    held = config.TRAITS.held
    if held is None:
        return []
    what = "the plugin" if held.value is None else f"`{str(held.value).lower()}`"
    place = _shown(held.file(Machine(HOME, PROJECT, {}, "linux")).path)
    return [f"`--scope enterprise` also writes {what} under `{'.'.join(held.path)}` in {place}: without it, {held.effect}."]


def _shown(path: Path) -> str:
    return "`" + str(path).replace(str(HOME), "~").replace(str(PROJECT) + "/", "") + "`"
