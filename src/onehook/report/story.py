"""The details of one decision: how its command is parsed, which rules match it now, and the outcome on each agent."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from onehook.core import OnehookError, Options, Response
from onehook.log.reader import Entry
from onehook.testing.shots import Absent, Round


def policy_now(path: str) -> tuple[str, Any]:
    """The hash of a policy as it is, and its compiled rules if it has any."""
    from onehook.logger import hash_of_file
    from onehook.policy import holds_rules, is_manifest

    with open(path, "rb") as file:
        source = file.read()
    if is_manifest(path) and holds_rules(source):
        from onehook.rules.load import load_rules

        table = load_rules(path).table
        return table.header["hash"], table
    return hash_of_file(path), None


def story_of(entry: Entry, read: Callable[[str], tuple[str, Any]] = policy_now) -> dict[str, Any]:
    """What is known about a decision in addition to its line. `read`: policy_now, or a function that caches it."""
    story: dict[str, Any] = {"policy_now": "which cannot be read now", "parts": [], "findings": [], "agents": {}}
    if entry["event"] == "PreToolUse" and entry["tool"]:
        story["agents"] = held_on(entry["tool"], said_by(entry))
    try:
        now, table = read(entry["policy"])
    except (OnehookError, OSError, ValueError):  # ValueError: a name that no file can have
        return story
    story["policy_now"] = "unchanged since then" if now == entry["policy_hash"] else "changed since then"
    if table is not None and entry["event"] == "PreToolUse" and entry["subject"]:
        from onehook.rules.explain import explained, sample_event

        told_now = explained(table, sample_event(call_of(entry), entry["project"]))
        story.update(parts=told_now.parts, findings=[finding.to_dict() for finding in told_now.findings])
    return story


def said_by(entry: Entry) -> str:
    """What the policy decided, with or without effect."""
    return str(entry["decision"] if entry["decision"] != "none" else entry["would"] or "")


def reason_of(entry: Entry) -> str:
    """Why, as an agent is told."""
    said = said_by(entry)
    return str(entry["reason"] or next((one["reason"] for one in entry["by"] if one["said"] == said and one.get("reason")), ""))


def call_of(entry: Entry) -> str:
    """The call, in the form that `onehook explain` accepts."""
    tool, subject = entry["tool"], entry["subject"]
    if tool == "MCP":
        return f"mcp__{subject.replace('.', '__', 1)}"
    return str(subject) if tool == "Bash" else f"{tool}({subject.partition(', ')[0]})"


def _calls(tool: str, subject: str = "x") -> Iterator[tuple[str, list[Round] | Absent]]:
    """A call of a tool as each agent would send it, or why it would not."""
    from onehook.hostkit.reverse import sample
    from onehook.lint.samples import inputs, mcp_call
    from onehook.setup.plan import configurable
    from onehook.testing.shots import rounds

    text = "https://x" if tool == "WebFetch" and subject == "x" else subject
    given = mcp_call(f"mcp__{subject.replace('.', '__', 1)}") if tool == "MCP" else inputs(tool, text, subject)
    for host in configurable():
        try:
            yield host, rounds(sample("PreToolUse", tool, **given), host)
        except Absent as absent:
            yield host, absent


@functools.lru_cache(maxsize=64)
def held_on(tool: str, decision: str) -> dict[str, list[str]]:
    """The possible outcomes of a deny or an ask for this tool, each with its agents."""
    from onehook.hosts import wire_of

    found: dict[str, list[str]] = {}
    for host, calls in _calls(tool) if decision in ("deny", "ask") else ():
        if isinstance(calls, Absent):
            outcome = f"it {calls}"
        elif all(wire_of(host).caps(call.event)[decision].kind == "honoured" for call in calls):
            outcome = decision
        else:
            outcome = "cannot ask: ask_fallback decides (default: deny)" if decision == "ask" else "not honoured"
        found.setdefault(outcome, []).append(host)
    return found


def told_to(entry: Entry) -> dict[str, dict[str, Any]]:
    """The answer that each agent gets for such a decision: what is printed, the exit code, and what is dropped."""
    from onehook.hostkit.effects import compile_response
    from onehook.hosts import load

    decision, reason, answers = said_by(entry), reason_of(entry), dict[str, dict[str, Any]]()
    for host, calls in _calls(entry["tool"], entry["subject"] or "x") if decision in ("deny", "ask") else ():
        if isinstance(calls, list):
            event, wire = calls[0].event, load(host)
            answer, drops = compile_response(wire, event, Response(decision, reason), Options())
            output = wire.render(event, answer, False)
            answers[host] = {
                "stdout": output.stdout.strip(), "stderr": output.stderr.strip(), "exit_code": output.exit_code,
                "dropped": [drop.to_dict() for drop in drops],
            }  # fmt: skip
    return answers
