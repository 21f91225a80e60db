"""Whether each handler can run at all, and on which agents: checks its event, tools and hosts against the hosts' tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onehook.core import TOOLS, tool_matches
from onehook.hostkit.reverse import TOOL_EVENTS, sample, unified_events
from onehook.hosts import HOSTS, wire_of
from onehook.lint.model import Finding, Handler, Policy
from onehook.lint.samples import inputs
from onehook.testing.shots import Absent, close_to, native_tools, rounds

_BY_SHELL = {"Read": "reads files", "Delete": "deletes files", "Grep": "searches", "Glob": "searches", "List": "lists folders"}


def findings(policy: Policy, hosts: Sequence[str], same: Mapping[int, Sequence[int]]) -> Iterator[Finding]:
    for handler in policy.handlers:
        yield from _unknown_hosts(handler)
        meant = meant_hosts(handler, hosts)
        having = [host for host in meant if handler.event in unified_events(wire_of(host).EVENTS)]
        yield from _event(handler, meant, [host for host in meant if host in having or host in handler.stood_in_on])
        yield from _tools(handler, having)
    yield from _unreachable(policy, same)


def meant_hosts(handler: Handler, hosts: Sequence[str]) -> list[str]:
    return [host for host in hosts if not handler.hosts or host in handler.hosts]


def _unknown_hosts(handler: Handler) -> Iterator[Finding]:
    for host in handler.hosts:
        if host not in HOSTS:
            meant = close_to(host, HOSTS)
            hint = f"did you mean {meant!r}?" if meant else f"known agents: {', '.join(HOSTS)}"
            yield handler.finding("OH107", f"{handler}: unknown agent {host!r}; {hint}")


def _event(handler: Handler, meant: list[str], having: list[str]) -> Iterator[Finding]:
    lacking = [host for host in meant if host not in having]
    if lacking:
        level = "" if having else "error"
        where = "none of these agents has" if not having else f"{listed(lacking)} {'has' if len(lacking) == 1 else 'have'} no"
        fix = f'hooks.on("{handler.event}", host="{"|".join(having)}") limits it to these' if having else "choose another event"
        yield handler.finding("OH101", f"{handler} never runs there: {where} {handler.event}", lacking, level=level, fix=fix)


def _tools(handler: Handler, hosts: list[str]) -> Iterator[Finding]:
    if not handler.tools or not hosts:
        return
    if handler.event not in TOOL_EVENTS:
        if "*" not in handler.tools:
            yield handler.finding("OH106", f"{handler}: {handler.event} has no tool, so this handler never runs")
        return
    known = [pattern for pattern in handler.tools if any(has(host, pattern) for host in HOSTS)]
    for pattern in handler.tools:
        if pattern not in known:
            yield _unknown(handler, pattern)
        elif pattern not in TOOLS and not pattern.startswith("mcp__") and pattern != "*":
            yield from _native(handler, pattern, hosts)
    unified = [pattern for pattern in known if pattern in TOOLS]
    lacking: dict[tuple[tuple[str, ...], bool, str], list[str]] = {}
    for host in hosts:
        missing = tuple(pattern for pattern in unified if not has(host, pattern))
        if missing:
            some = any(has(host, pattern) for pattern in handler.tools if pattern not in missing)
            lacking.setdefault((missing, some, _instead(host, missing)), []).append(host)
    for (missing, some, how), names in lacking.items():
        text = f"{handler}: {listed(names)} {'has' if len(names) == 1 else 'have'} no tool {listed(missing)}"
        yield handler.finding("OH103" if some else "OH102", text if some else f"{text}, so it never runs there", names, fix=how)


def has(host: str, pattern: str) -> bool:
    """Whether a tool pattern can match a tool of this host; for a unified tool, whether its calls reach a handler for it."""
    if pattern in ("*", "MCP") or pattern.startswith("mcp__"):
        return True
    if pattern not in TOOLS:
        return pattern in native_tools(host) or any(pattern in tool.names for tool in native_tools(host).values())
    try:
        calls = rounds(sample("PreToolUse", pattern, **inputs(pattern, "text", "file")), host)
    except Absent:
        return False
    return any(tool_matches(pattern, call.event) for call in calls)


def _instead(host: str, missing: Sequence[str]) -> str:
    """What to do about a tool that this host does not have; "" for the general fix of the code."""
    patch = next((native for native, tool in native_tools(host).items() if tool.patch), "")
    if "Delete" in missing and patch:
        return f"{patch} deletes files there: handle Write|Edit and check event.changes"
    doing = list(dict.fromkeys(_BY_SHELL[tool] for tool in missing if tool in _BY_SHELL))
    shell = any("Bash" in tool.names for tool in native_tools(host).values())
    return f"the agent {listed(doing)} with its shell there: also handle Bash" if doing and shell else ""


def _unknown(handler: Handler, pattern: str) -> Finding:
    if any(sign in pattern for sign in "*?()[]^$."):
        text = (
            f"{handler}: the tool pattern {pattern!r} matches nothing: only MCP tools take wildcards, and regular expressions do not work"
        )
        return handler.finding("OH104", text)
    meant = close_to(pattern, (*TOOLS, *(native for host in HOSTS for native in native_tools(host))))
    if meant:
        return handler.finding("OH104", f"{handler}: no agent has a tool {pattern!r}; did you mean {meant!r}?")
    text = f"{handler}: the tool {pattern!r} is unknown; the pattern matches only a tool with exactly that name"
    return handler.finding("OH105", text, level="note", fix=f"the unified tools are {', '.join(TOOLS)}")


def _native(handler: Handler, pattern: str, hosts: list[str]) -> Iterator[Finding]:
    without = [host for host in hosts if not has(host, pattern)]
    if without:
        owner = next(host for host in HOSTS if has(host, pattern))
        unified = next((tool.names[0] for native, tool in native_tools(owner).items() if pattern in (native, *tool.names)), pattern)
        text = f"{handler}: {pattern} is {owner}'s own name for {unified}, and matches nothing on {listed(without)}"
        yield handler.finding("OH105", text, without, fix=f"use {unified}, which matches this tool on every agent")


def _unreachable(policy: Policy, same: Mapping[int, Sequence[int]]) -> Iterator[Finding]:
    for later in policy.handlers:
        for earlier in policy.handlers[: later.index]:
            if not _covers(earlier, later):
                continue
            if earlier.index in same.get(later.index, ()):
                yield later.finding("OH108", f"{later} is registered twice, and runs twice")
                break
            if earlier.always_denies:
                yield later.finding("OH108", f"{later} is never reached: {earlier.name} (line {earlier.line}) always denies before it")
                break


def _covers(first: Handler, second: Handler) -> bool:
    """Whether the first handler receives every event that the second receives."""
    tools = not first.tools or "*" in first.tools or (bool(second.tools) and set(second.tools) <= set(first.tools))
    hosts = not first.hosts or (bool(second.hosts) and set(second.hosts) <= set(first.hosts))
    return first.event == second.event and tools and hosts


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
