"""Whether what a policy handles reaches it: which events are installed, and which tools their matchers leave out on this agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onehook.core import TOOLS, OnehookError
from onehook.hostkit.config import Diagnosis, Found, matches
from onehook.hostkit.reverse import TOOL_EVENTS, sample
from onehook.hosts import load, wire_of
from onehook.lint.model import Handler, Policy
from onehook.lint.samples import inputs, mcp_call


def denying(host: str, policy: Policy) -> list[Handler]:
    """The handlers of events that the host lets a hook stop."""
    stopping = {row.event for row in wire_of(host).EVENTS.values() if row.gates}
    return [handler for handler in policy.handlers if handler.event in stopping and (not handler.hosts or host in handler.hosts)]


def never_denies(host: str, policy: Policy) -> str:
    """Why a policy cannot deny anything on a host; "" if it can."""
    if not policy.handlers:
        return f"the policy {policy.path} has no handlers, so it denies nothing"
    if not denying(host, policy):
        events = ", ".join(dict.fromkeys(handler.event for handler in policy.handlers))
        return f"the policy {policy.path} handles only {events}, and a deny does not prevent anything there"
    return ""


def unreached(host: str, policy: Policy, entries: Sequence[Found], again: str) -> Iterator[Diagnosis]:
    """What prevents events from reaching the handlers that may deny them. `entries`: those of this policy; `again`: the command that
    installs it."""
    rows = wire_of(host).EVENTS
    missing: dict[str, list[str]] = {}
    narrowed: dict[str, list[str]] = {}
    for handler in denying(host, policy):
        installed = [found for found in entries if found.event in rows and rows[found.event].event == handler.event]
        if not installed:
            missing.setdefault(handler.event, []).append(handler.name)
        elif handler.event in TOOL_EVENTS:
            tools = TOOLS if not handler.tools or "*" in handler.tools else handler.tools
            reached = {tool: _is_reached(host, handler.event, tool, installed) for tool in tools}
            left_out = [tool for tool, reaches in reached.items() if reaches is False]
            matchers = " and ".join(dict.fromkeys(repr(found.matcher) for found in installed))
            what = f"the {installed[0].event} entry has the matcher {matchers}, which leaves out {', '.join(left_out)}"
            if left_out and (handler.tools or True not in reached.values()):
                narrowed.setdefault(what, []).append(handler.name)
            elif left_out:
                yield Diagnosis("note", what)
    known, covered = load(host, "config").EVENTS, {rows[found.event].event for found in entries if found.event in rows}
    others = [handler for handler in policy.handlers if not handler.hosts or host in handler.hosts]
    for event in dict.fromkeys(handler.event for handler in others):
        if event in known and event not in covered and event not in missing:
            yield Diagnosis("warn", f"the policy handles {event}, and is not installed for it", again)
    for event, names in missing.items():
        yield Diagnosis("fail", f"{', '.join(names)} never runs: the policy is not installed for {event}", again)
    for what, names in narrowed.items():
        yield Diagnosis("fail", f"{what}: {', '.join(names)} never sees it", again)


def _is_reached(host: str, event: str, tool: str, entries: Sequence[Found]) -> bool | None:
    """Whether the host runs one of these entries for every call of this tool; None if it does not have the tool."""
    traits = load(host, "config").TRAITS
    calls = list(_names(host, event, tool, entries[0].event))
    return all(any(matches(traits, found.matcher, names) for found in entries) for names in calls) if calls else None


def _names(host: str, event: str, tool: str, native_event: str) -> Iterator[list[str]]:
    """The names of the tools that the host uses for a call of a unified tool: its own, then the unified ones."""
    wire, reverse = wire_of(host), load(host, "reverse")
    is_mcp = tool == "MCP" or tool.startswith("mcp__")
    if tool not in TOOLS and not is_mcp:  # one host's own name
        if tool in wire.TOOLS:
            yield [tool, *wire.TOOLS[tool].names]
        return
    try:
        call = sample(event, "MCP", **mcp_call(tool)) if is_mcp else sample(event, tool, **inputs(tool, "text", "file"))
        parts = [wire.parse(reverse.payload(part, native_event), native_event) for part in reverse.parts(call)]
    except OnehookError:
        return
    for part in parts:
        if part.mcp is not None:
            yield [part.native_tool, "MCP"]
        elif part.native_tool in wire.TOOLS:
            yield [part.native_tool, *wire.TOOLS[part.native_tool].names]
