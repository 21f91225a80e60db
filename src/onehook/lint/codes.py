"""Everything that lint can report, as one table; the one in docs/testing.md is generated from it."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("note", "warning", "error")  # in rising order


@dataclass(frozen=True)
class Code:
    level: str
    meaning: str
    fix: str


CODES = {
    "OH001": Code("error", "the policy does not load", "fix what the message reports; `python POLICY` shows the traceback"),
    "OH002": Code("warning", "the policy has no handlers", 'register one: @hooks.on("PreToolUse", tool="Bash")'),
    "OH101": Code("warning", "a handler for an event that an agent does not have", 'name the agents it is for: hooks.on(..., host="a|b")'),
    "OH102": Code("warning", "a handler for tools that an agent does not have", "handle the tool that does this there, or name the agents"),
    "OH103": Code("note", "a handler for tools, some of which an agent does not have", "check that another tool covers this there"),
    "OH104": Code("error", "a tool pattern that matches nothing on any agent", 'use a unified tool, or "mcp__server__*" for MCP tools'),
    "OH105": Code("warning", "a tool name that only some agents use, or that is unknown", "use the unified name, or name the agents"),
    "OH106": Code("error", "tool= on an event without a tool: the handler never runs", "remove tool="),
    "OH107": Code("error", "a handler for an unknown agent", "fix the name in host="),
    "OH108": Code("warning", "a handler that is never reached, or registered twice", "remove one of the two, or move it up"),
    "OH201": Code("error", "a deny that does not prevent anything on an agent", "deny on an event that the agent lets a hook stop"),
    "OH202": Code("warning", "an ask that becomes something else on an agent", 'choose what it becomes: Hooks(ask_fallback="deny")'),
    "OH203": Code("warning", "a part of the answer is lost on an agent", 'remove it, name the agents, or use Hooks(on_unsupported="deny")'),
    "OH301": Code("warning", "a slow import, on every event", "import it inside the handler that needs it"),
    "OH302": Code("warning", "a slow handler", "decide from the event itself; run slow work in the background, or once, on Stop"),
    "OH303": Code(
        "note", "a thread, a file or a connection that is opened while the policy is loaded",
        "open it inside the handler that needs it; forks of a resident process cannot share it",
    ),
    "OH401": Code("warning", "the policy only denies, and an error in it lets everything through", 'use Hooks(fail="closed")'),
    "OH402": Code(
        "warning", "a handler that raises on an ordinary event",
        "use event.command, event.paths and event.changes, which are always set",
    ),
    "OH403": Code(
        "error", "a handler that returns something that is not an answer",
        "return allow(), deny(reason), ask(reason), a dict with those keys, or nothing",
    ),
    "OH404": Code(
        "note", "policies joined by use() differ in an option; the stricter value counts",
        "set the option to the value that counts in the policy that uses the other",
    ),
    "OH501": Code("warning", "an exception in a rules file has ended", "remove it, or give it a new `until` and a reason"),
    "OH502": Code("error", "an example of a rule fails", "change the pattern or the example; `onehook explain` shows how it is read"),
    "OH503": Code("note", "a rule without an example that it must match", "add `matches`, which `onehook test` checks"),
}  # fmt: skip
