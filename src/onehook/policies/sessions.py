"""loop_guard, budget, dry_run: what a session may do in total, tracked in event.session."""

from __future__ import annotations

from onehook.core import Hooks, deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from onehook.core import Event, Response

_LOOP, _BUDGET = "onehook.loop_guard", "onehook.budget"
_KEPT = 60  # calls that are remembered


def loop_guard(repeats: int = 3) -> Hooks:
    """Stop an agent that goes in circles.

    repeats  how often a call may give the same result, with no file changed in between, and how often the same change may be made

    Both a call that repeats and two that alternate are detected: what counts is a call with its result, not the order.
    """
    _positive("repeats", repeats)
    hooks = Hooks()

    @hooks.on("PostToolUse")
    def note_result(event: Event) -> None:
        _note(event, event.tool_response)

    @hooks.on("PostToolUseFailure")
    def note_failure(event: Event) -> None:
        _note(event, event.error)

    @hooks.on("PreToolUse")
    def not_again(event: Event) -> Response | None:
        known = event.session.get(_LOOP, {})
        times = known.get(_mark(event), [0, 0])[1]
        if times < repeats:
            return None
        what = "made this change" if event.changes else "made this call, with the same result each time"
        return deny(f"you have {what} {times} times: you are going in circles. Stop, say what you know, and try something else")

    return hooks


def _note(event: Event, result: Any) -> None:
    known: dict[str, list[int]] = event.session.get(_LOOP, {})
    mark, outcome = _mark(event), 0 if event.changes else _sum(result)
    if event.changes:  # a call may have another result now
        known = {name: entry for name, entry in known.items() if name[0] == "c"}
    before = known.pop(mark, [outcome, 0])
    known[mark] = [outcome, before[1] + 1 if before[0] == outcome else 1]
    event.session[_LOOP] = dict(list(known.items())[-_KEPT:])


def _mark(event: Event) -> str:
    changes = [[change.path, change.kind, change.old, change.new, change.to] for change in event.changes]
    return f"{'c' if changes else 't'}{_sum([event.native_tool, changes or event.tool_input]):08x}"


def _sum(value: Any) -> int:
    from zlib import crc32

    return crc32(repr(value).encode("utf-8", "backslashreplace"))


def budget(calls: int | None = None, minutes: float | None = None, tokens: int | None = None) -> Hooks:
    """Limit a session: budget(calls=200, minutes=60, tokens=2_000_000).

    calls    tool calls
    minutes  from the first event on
    tokens   as reported in the agent's transcript, if it reports them

    When a limit is reached, tool calls are denied; the agent can still answer.
    """
    limits = {"calls": calls, "minutes": minutes, "tokens": tokens}
    if all(limit is None for limit in limits.values()):
        raise ValueError("set at least one of calls, minutes and tokens")
    for name, limit in limits.items():
        if limit is not None:
            _positive(name, limit)
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def within_budget(event: Event) -> Response | None:
        import time

        used: dict[str, Any] = event.session.get(_BUDGET, {})
        used = {"since": used.get("since", time.time()), "calls": used.get("calls", 0) + 1, "usage": used.get("usage")}
        if tokens is not None:
            used["usage"] = type(event).count_tokens(event, used["usage"])
        event.session[_BUDGET] = used
        spent = {
            "calls": used["calls"] - 1,
            "minutes": (time.time() - used["since"]) / 60,
            "tokens": (used["usage"] or {}).get("tokens", 0),
        }
        for name, limit in limits.items():
            if limit is not None and spent[name] >= limit:
                return deny(f"the budget of this session is used up ({limit:g} {name}): end here, and say what is done and what is left")
        return None

    return hooks


# Programs that change nothing, and the subcommands of git that do not.
_LOOKING = frozenset([
    "ls", "cat", "head", "tail", "wc", "grep", "rg", "egrep", "fgrep", "fd", "tree", "file", "stat", "du", "df", "pwd", "cd",
    "echo", "printf", "which", "type", "env", "date", "whoami", "uname", "id", "ps", "sort", "uniq", "cut", "tr", "diff", "cmp",
    "jq", "yq", "true", "false", "test", "[", "basename", "dirname", "realpath", "readlink", "less", "more", "nl", "column",
    "comm", "md5sum", "sha256sum", "xxd", "hexdump", "man", "nproc", "hostname", "sleep",
])  # fmt: skip
_LOOKING_GIT = frozenset([
    "status", "log", "diff", "show", "blame", "grep", "ls-files", "rev-parse", "describe", "shortlog", "cat-file", "ls-tree",
])  # fmt: skip
_READING = ("<", "<<", "<<<", "<<-", ">&", "<&")  # redirects that write no file


def dry_run(allow: Iterable[str] = ()) -> Hooks:
    """Let the agent look at everything and change nothing; the model is told to describe what it would have done.

    allow  more programs that change nothing, by name
    """
    looking = _LOOKING | set(allow)
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def only_looking(event: Event) -> Response | None:
        if event.changes:
            return _dry(f"change {', '.join(dict.fromkeys(change.path for change in event.changes))}")
        if event.mcp is not None:
            return _dry(f"call {event.mcp.name}")
        if not event.command:
            return None
        from onehook.policies.shell import parse

        script = parse(event.command)
        for command in script.commands:
            if not _looks(command, looking):
                return _dry(f"run `{command.source.strip()[:200]}`")
        return _dry("run a command that cannot be read") if script.broken or script.cut else None

    return hooks


def _looks(command: Any, looking: set[str] | frozenset[str]) -> bool:
    if command.opaque or any(one.op not in _READING and one.target != "/dev/null" for one in command.redirects):
        return False
    if not command.argv:
        return True
    if command.name == "git":
        verb = next((str(word) for word in command.argv[1:] if not word.startswith("-")), "")
        return verb in _LOOKING_GIT and not any(word.startswith("--output") for word in command.argv)
    return command.name in looking and command.argv[0].known


def _dry(what: str) -> Response:
    return deny(f"this is a dry run, so nothing is changed: say that you would {what}, and continue as if it had been done")


def _positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError(f"{name} must be a number above 0, not {value!r}")
