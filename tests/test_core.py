"""Handlers, what they may return, how answers merge, which handlers an event reaches, and the options."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from onehook import Change, Event, Hooks, Mcp, Response, allow, ask, define_hook, deny
from onehook.core import EVENTS, EXTENDED_EVENTS, HandlerError, Options, UsageError, as_response, merge, tool_matches
from onehook.hosts import wire_of
from onehook.policy import settled
from onehook.runner import answer


def tool_event(name: str = "Bash", tool_input: dict[str, Any] | None = None, host: str = "claude", native: str = "PreToolUse") -> Event:
    given = {"command": "ls"} if tool_input is None else tool_input
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": native, "tool_name": name, "tool_input": given}
    return wire_of(host).parse(payload, "")


def dispatch(*handlers: Callable[[Event], Any], event: Event | None = None) -> Response:
    hooks = Hooks()
    for handler in handlers:
        hooks.on("PreToolUse")(handler)
    return hooks.dispatch(event or tool_event())


# --- handlers and what they return -----------------------------------------------------------------------------------------------


async def async_deny(_: Event) -> Response:
    return deny("no")


class Guard:
    def __call__(self, event: Event) -> Response:
        return deny("no")


class Later:
    def __await__(self) -> Any:
        return async_deny(tool_event()).__await__()


@pytest.mark.parametrize(
    "handler",
    [
        lambda event: deny("no"),
        lambda event: Response("deny", "no"),
        lambda event: {"decision": "deny", "reason": "no"},
        lambda event: Later(),
        async_deny,
        Guard(),
    ],
    ids=["helper", "Response", "dict", "awaitable", "async", "callable object"],
)
def test_all_ways_to_say_no(handler: Callable[[Event], Any]) -> None:
    assert dispatch(handler) == deny("no")


@pytest.mark.parametrize("handler", [async_deny, lambda event: Later()], ids=["async", "awaitable"])
def test_an_async_handler_answers_inside_a_running_loop(handler: Callable[[Event], Any]) -> None:
    async def embedding() -> Response:
        return dispatch(handler)

    assert asyncio.run(embedding()) == deny("no")


def test_nothing_is_no_opinion() -> None:
    assert dispatch(lambda event: None) == Response()
    assert dispatch(lambda event: {}) == Response()
    assert dispatch() == Response()


def test_the_helpers_set_what_they_say() -> None:
    assert allow("r", user_message="u", modified_input={"a": 1}, additional_context="c").to_dict() == {
        "decision": "allow",
        "reason": "r",
        "user_message": "u",
        "modified_input": {"a": 1},
        "additional_context": "c",
    }
    assert ask("r", user_message="u").to_dict() == {"decision": "ask", "reason": "r", "user_message": "u"}
    assert deny().to_dict() == {"decision": "deny", "reason": "denied by policy"}
    assert deny("r", user_message="u", additional_context="c").given() == ["decision", "reason", "user_message", "additional_context"]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (True, "returned bool; return allow(), deny(reason), ask(reason), a Response, a dict with its keys, or nothing"),
        ("deny", "returned str; return allow()"),
        (["deny"], "returned list; return allow()"),
        ({"permission": "deny"}, "unknown key 'permission' in the returned dict; the keys are decision, reason, user_message"),
        ({1: 2}, "unknown key '1' in the returned dict"),
        ({"decision": "block"}, "unknown decision 'block'; a decision is one of allow, deny, ask"),
        ({"decision": True}, "unknown decision True"),
        ({"decision": ["deny"]}, "unknown decision ['deny']"),
        (Response("DENY"), "unknown decision 'DENY'"),
        ({"reason": 3}, "reason must be a str, not int"),
        ({"user_message": ["x"]}, "user_message must be a str, not list"),
        ({"modified_input": "ls"}, "modified_input must be a dict, not str"),
        ({"additional_context": b"x"}, "additional_context must be a str, not bytes"),
        ({"message": 1}, "message must be a str, not int"),
    ],
)
def test_a_wrong_return_is_an_error_that_says_what_is_right(returned: object, message: str) -> None:
    def careless(event: Event) -> object:
        return returned

    with pytest.raises(HandlerError) as raised:
        dispatch(careless)
    assert str(raised.value).startswith("handler 'careless': " + message)


def test_a_raising_handler_is_named() -> None:
    def broken(event: Event) -> None:
        raise KeyError("x")

    with pytest.raises(HandlerError, match=r"handler 'broken' raised KeyError: 'x'") as raised:
        dispatch(broken)
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), RecursionError(), MemoryError()])
def test_an_exit_inside_a_handler_is_no_answer(error: BaseException) -> None:
    def leaves(event: Event) -> None:
        raise error

    with pytest.raises(HandlerError, match=f"handler 'leaves' raised {type(error).__name__}"):
        dispatch(leaves)


def test_an_async_handler_that_raises() -> None:
    async def broken(event: Event) -> None:
        raise ValueError("x")

    with pytest.raises(HandlerError, match="handler 'broken' raised ValueError: x"):
        dispatch(broken)


def test_a_rewrite_that_is_not_json_is_an_error_and_under_fail_closed_a_denial() -> None:
    hooks = define_hook({"PreToolUse": lambda event: allow(modified_input={"command": {1, 2}})}, fail="closed")
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {}}
    output = answer(json.dumps(payload).encode(), lambda: hooks)
    assert output.exit_code == 2
    assert "modified_input cannot be written as JSON: set is not JSON" in output.stderr


# --- merging ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [None, "allow", "ask", "deny"])
@pytest.mark.parametrize("second", [None, "allow", "ask", "deny"])
def test_the_stronger_decision_wins_with_its_reason(first: str | None, second: str | None) -> None:
    order: list[str | None] = [None, "allow", "ask", "deny"]
    merged = merge(Response(first, "first"), Response(second, "second"))
    stronger = max(first, second, key=order.index)
    assert merged.decision == stronger
    assert merged.reason == ("second" if order.index(second) > order.index(first) else "first")


def test_a_decision_without_a_reason_does_not_borrow_another_decisions_reason() -> None:
    assert merge(allow("fine"), Response("ask")).reason is None


def test_a_reason_without_a_decision_survives_only_beside_no_decision() -> None:
    assert merge(Response(reason="note"), Response()).reason == "note"
    assert merge(Response(reason="note"), allow()).reason is None


def test_texts_are_joined_by_a_blank_line_and_rewrites_are_laid_over_each_other() -> None:
    first = Response(None, None, "u1", {"a": 1, "b": 1}, "c1", "m1", "l1")
    second = Response(None, None, "u2", {"b": 2}, "c2", "m2", "l2")
    assert merge(first, second) == Response(None, None, "u1\n\nu2", {"a": 1, "b": 2}, "c1\n\nc2", "m1\n\nm2", "l2")
    assert merge(first, Response()) == first
    assert merge(Response(), second) == second


def test_a_denial_takes_the_rewrite_out() -> None:
    assert merge(allow(modified_input={"a": 1}), deny("no")) == deny("no")
    assert merge(Response(), Response("deny", "no", modified_input={"a": 1})) == deny("no")


def test_the_first_denial_ends_it() -> None:
    ran: list[str] = []

    def after(event: Event) -> None:
        ran.append("after")

    assert dispatch(lambda event: allow(additional_context="c"), lambda event: deny("first"), after) == deny(
        "first", additional_context="c"
    )
    assert ran == []


def test_ask_beats_allow_in_either_order() -> None:
    assert dispatch(lambda event: ask("a"), lambda event: allow("b")) == ask("a")
    assert dispatch(lambda event: allow("b"), lambda event: ask("a")) == ask("a")


def test_a_rewrite_is_seen_by_the_handlers_after_it_and_not_by_the_one_before() -> None:
    seen: list[tuple[str, dict[str, Any]]] = []

    def look(event: Event) -> None:
        seen.append((event.command, dict(event.tool_input)))

    event = tool_event(tool_input={"command": "rm x", "timeout": 1})
    answered = dispatch(
        look, lambda event: {"modified_input": {"command": "ls"}}, look, lambda event: {"modified_input": {"timeout": 2}}, event=event
    )
    assert seen == [("rm x", {"command": "rm x", "timeout": 1}), ("ls", {"command": "ls", "timeout": 1})]
    assert answered.modified_input == {"command": "ls", "timeout": 2}
    assert event.command == "rm x", "the event itself is not changed"


def test_a_rewrite_can_be_denied_by_a_later_handler() -> None:
    def guard(event: Event) -> Response | None:
        return deny("no rm") if "rm" in event.command else None

    assert dispatch(lambda event: allow(modified_input={"command": "rm x"}), guard).decision == "deny"


def test_a_rewritten_path_is_read_again() -> None:
    seen: list[tuple[list[str], list[Change]]] = []
    event = tool_event("Write", {"file_path": "a", "content": "x"})
    dispatch(lambda event: allow(modified_input={"file_path": "b"}), lambda event: seen.append((event.paths, event.changes)), event=event)
    assert seen == [(["/p/b"], [Change("/p/b", "write", None, "x")])]


# --- which handlers an event reaches ---------------------------------------------------------------------------------------------


def reaches(tool: str | list[str] | None, event: Event, host: str | list[str] | None = None) -> bool:
    hooks = Hooks()
    hooks.on("PreToolUse", tool=tool, host=host)(lambda event: None)
    return bool(list(hooks.wanting(event)))


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (None, True),
        ("*", True),
        ("Bash", True),
        ("Bash|Write", True),
        ("Write | Bash", True),
        (["Write", "Bash"], True),
        ("Write", False),
        ("bash", False),
        ("Bas", False),
        ("MCP", False),
        ("mcp__*", False),
    ],
)
def test_tool_patterns_on_a_command(pattern: str | list[str] | None, wanted: bool) -> None:
    assert reaches(pattern, tool_event()) is wanted


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("MCP", True),
        ("mcp__github__create_issue", True),
        ("mcp__github__*", True),
        ("mcp__*__create_issue", True),
        ("mcp__git?ub__create_*", True),
        ("mcp__*", True),
        ("mcp__gitlab__*", False),
        ("mcp__github__delete_*", False),
        ("github", False),
    ],
)
def test_tool_patterns_on_an_mcp_tool(pattern: str, wanted: bool) -> None:
    assert reaches(pattern, tool_event("mcp__github__create_issue", {})) is wanted


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("MCP", True),
        ("MCP:create_issue", True),
        ("mcp__github__create_issue", True),
        ("mcp__gitlab__create_issue", True),
        ("mcp__github__*", True),
        ("mcp__github", True),
        ("mcp__github__delete_*", False),
    ],
)
def test_where_the_server_is_not_said_the_tools_name_decides(pattern: str, wanted: bool) -> None:
    event = tool_event("MCP:create_issue", {}, "cursor", "preToolUse")
    assert event.mcp == Mcp("", "create_issue")
    assert reaches(pattern, event) is wanted


def test_a_server_that_is_named_is_compared() -> None:
    payload = {"conversation_id": "c", "hook_event_name": "beforeMCPExecution", "tool_name": "create_issue", "tool_input": "{}"}
    event = wire_of("cursor").parse({**payload, "mcp_server_name": "github"}, "")
    assert reaches("mcp__github__*", event)
    assert not reaches("mcp__gitlab__*", event)


def test_one_tool_with_two_names_reaches_handlers_of_both_once() -> None:
    event = tool_event("apply_patch", {"command": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}, "codex")
    assert [reaches(name, event) for name in ("Edit", "Write", "apply_patch", "Bash")] == [True, True, True, False]
    hooks = Hooks()
    hooks.on("PreToolUse", tool="Edit|Write|apply_patch")(lambda event: None)
    assert len(list(hooks.wanting(event))) == 1


@pytest.mark.parametrize(
    ("host", "native", "tool", "tool_input", "names"),
    [
        ("cursor", "preToolUse", "Write", {"file_path": "a", "content": "x"}, ["Write", "Edit"]),
        ("cursor", "preToolUse", "Shell", {"command": "ls"}, ["Bash", "Shell"]),
        ("cursor", "afterFileEdit", "", {}, ["Edit", "Write"]),
        ("claude", "PreToolUse", "Agent", {"prompt": "p"}, ["Agent", "Task"]),
        ("claude", "PreToolUse", "Task", {"prompt": "p"}, ["Agent", "Task"]),
        ("claude", "PreToolUse", "NotebookEdit", {"notebook_path": "a", "new_source": "x"}, ["Edit", "NotebookEdit"]),
    ],
)
def test_unified_and_native_names_both_match(host: str, native: str, tool: str, tool_input: dict[str, Any], names: list[str]) -> None:
    payload = {"session_id": "s", "hook_event_name": native, "tool_name": tool, "tool_input": tool_input, "file_path": "/p/a"}
    event = wire_of(host).parse(payload, "")
    assert [
        name for name in ("Agent", "Task", "Edit", "Write", "Bash", "Shell", "NotebookEdit", "Read") if tool_matches(name, event)
    ] == sorted(names, key=["Agent", "Task", "Edit", "Write", "Bash", "Shell", "NotebookEdit", "Read"].index)


def test_a_tool_pattern_never_covers_an_event_without_a_tool() -> None:
    event = wire_of("claude").parse({"session_id": "s", "hook_event_name": "Stop"}, "")
    assert not tool_matches("Bash", event)
    assert not tool_matches("mcp__*", event)


def test_a_handler_for_some_hosts() -> None:
    assert reaches(None, tool_event(), "claude")
    assert reaches(None, tool_event(), "codex|claude")
    assert reaches(None, tool_event(), ["claude"])
    assert not reaches(None, tool_event(), "codex")


@pytest.mark.parametrize("names", ["", "|", "Bash||Write", [], [""], [3]])
def test_an_empty_name_is_refused(names: Any) -> None:
    with pytest.raises(ValueError, match="give a name"):
        Hooks().on("PreToolUse", tool=names)
    with pytest.raises(ValueError, match="give a name"):
        Hooks().on("PreToolUse", host=names)


@pytest.mark.parametrize(
    ("wrong", "right"), [("PreToolUsed", "PreToolUse"), ("preToolUse", "PreToolUse"), ("stop", "Stop"), ("SessionEnds", "SessionEnd")]
)
def test_an_unknown_event_is_refused_with_a_suggestion(wrong: str, right: str) -> None:
    with pytest.raises(ValueError, match=f"unknown event '{wrong}', did you mean '{right}'\\?; the events are SessionStart, PreToolUse"):
        Hooks().on(wrong)


def test_an_unknown_event_like_none_is_refused_without_one() -> None:
    with pytest.raises(ValueError, match="unknown event 'xyzzy'; the events are"):
        Hooks().on("xyzzy")


def test_every_event_that_a_host_gives_can_be_asked_for() -> None:
    from onehook.hosts import HOSTS

    given = {row.event for host in HOSTS for row in wire_of(host).EVENTS.values()}
    assert given <= set(EVENTS + EXTENDED_EVENTS)
    for name in given:
        Hooks().on(name)(lambda event: None)


def test_what_is_not_callable_is_refused() -> None:
    with pytest.raises(TypeError, match="the handler for Stop is not callable: 'x'"):
        Hooks().on("Stop")("x")  # type: ignore[type-var]


def test_the_decorator_gives_the_function_back() -> None:
    def handler(event: Event) -> None: ...

    assert Hooks().on("Stop")(handler) is handler


def test_use_adds_the_other_policys_handlers_after_ones_own() -> None:
    ran: list[str] = []
    first, second = Hooks(), Hooks(fail="closed")
    first.on("PreToolUse")(lambda event: ran.append("first"))
    second.on("PreToolUse")(lambda event: ran.append("second"))
    assert first.use(second) is first
    first.dispatch(tool_event())
    assert ran == ["first", "second"]
    assert len(second.registrations) == 1


@pytest.mark.parametrize(
    ("own", "other", "joined"),
    [
        ({}, {"fail": "closed", "timeout": 5}, {"fail": "closed", "timeout": 5}),
        ({"fail": "closed", "timeout": 5}, {}, {"fail": "closed", "timeout": 5}),
        ({"fail": "open", "timeout": 5}, {"fail": "closed", "timeout": 9}, {"fail": "closed", "timeout": 5}),
        ({"fail": "closed", "timeout": 9}, {"fail": "open", "timeout": 5}, {"fail": "closed", "timeout": 5}),
        (
            {"on_unsupported": "warn", "stop_limit": 9},
            {"on_unsupported": "deny", "stop_limit": 2},
            {"on_unsupported": "deny", "stop_limit": 2},
        ),
        ({"ask_fallback": "allow"}, {"ask_fallback": "ask"}, {"ask_fallback": "ask"}),
        ({"ask_fallback": "ask"}, {"ask_fallback": "deny"}, {"ask_fallback": "deny"}),
        ({"ask_fallback": "allow"}, {"ask_fallback": {"codex": "ask"}}, {"ask_fallback": "allow", "codex_ask_fallback": "ask"}),
        ({"ask_fallback": {"codex": "ask"}}, {"ask_fallback": "deny"}, {"ask_fallback": "deny", "codex_ask_fallback": "deny"}),
    ],
)
def test_use_takes_the_stricter_of_the_two_policies_options(own: dict[str, Any], other: dict[str, Any], joined: dict[str, Any]) -> None:
    hooks = Hooks(**own).use(Hooks(**other))
    assert {name: value for name, value in hooks.options.items() if value is not None} == joined


def test_define_hook_is_the_same_from_a_mapping() -> None:
    hooks = define_hook({"PreToolUse": lambda event: deny("no"), "Stop": lambda event: None}, fail="closed", timeout=3)
    assert hooks.dispatch(tool_event()) == deny("no")
    assert [registration.event for registration in hooks.registrations] == ["PreToolUse", "Stop"]
    assert Options(hooks.options).fail == "closed"
    with pytest.raises(ValueError, match="unknown event"):
        define_hook({"Nonsense": lambda event: None})


# --- options ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fail": "maybe"}, "fail='maybe': must be one of open, closed"),
        ({"ask_fallback": "never"}, "ask_fallback='never': must be one of allow, deny, ask"),
        ({"cursor_ask_fallback": "x"}, "cursor_ask_fallback='x': must be one of"),
        ({"on_unsupported": "ignore"}, "on_unsupported='ignore': must be one of warn, deny"),
        ({"isolation": "none"}, "isolation='none': must be one of process, thread"),
        ({"timeout": 0}, "timeout=0: must be a number above 0"),
        ({"timeout": -1}, "timeout=-1: must be a number"),
        ({"timeout": "5"}, "timeout='5': must be a number"),
        ({"timeout": True}, "timeout=True: must be a number"),
        ({"timeout": float("nan")}, "timeout=nan: must be a number"),
        ({"timeout": float("inf")}, "timeout=inf: must be a number"),
        ({"stop_limit": 0}, "stop_limit=0: must be a number"),
        ({"timeouts": 3}, "unknown option 'timeouts'; the options are ask_fallback, ask_via, ask_wait, fail"),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_right(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        Options.checked(given)
    assert str(raised.value).startswith(message)


def test_a_policy_with_a_wrong_option_cannot_be_made() -> None:
    with pytest.raises(UsageError, match="fail='x'"):
        Hooks(fail="x")


def test_the_defaults_hold_where_nothing_is_given() -> None:
    assert Options(Hooks().options).to_dict() == Options.DEFAULTS
    assert Options({"timeout": 3}).timeout == 3


def test_the_command_lines_options_win_over_the_policys() -> None:
    options = settled({"options": {"fail": "closed", "timeout": 7.0}}, {"fail": "open", "timeout": None})
    assert (options.fail, options.timeout) == ("open", 7.0)


# --- values ----------------------------------------------------------------------------------------------------------------------


def test_an_event_is_plain_data() -> None:
    event = tool_event("mcp__a__b", {"x": 1})
    plain = json.loads(json.dumps(event.to_dict()))
    assert plain["mcp"] == {"server": "a", "tool": "b"}
    assert plain["tool_input"] == {"x": 1}
    assert not any(name.startswith("_") for name in plain)
    assert tool_event("Write", {"file_path": "a", "content": "x"}).to_dict()["changes"] == [
        {"path": "/p/a", "kind": "write", "old": None, "new": "x", "to": None}
    ]


def test_values_compare_by_what_they_say() -> None:
    assert Mcp("a", "b") == Mcp("a", "b") != Mcp("a", "c")
    assert len({Mcp("a", "b"), Mcp("a", "b")}) == 1
    assert Change("a", "edit", "x", "y") == Change("a", "edit", "x", "y") != Change("a", "edit", "x", "z")
    assert len({Change("a", "delete"), Change("a", "delete")}) == 1
    assert deny("a") == deny("a") != deny("b")
    assert repr(deny("a")) == "Response(decision='deny', reason='a')"
    assert repr(tool_event()) == "<Event claude PreToolUse Bash>"


def test_run_is_the_function_even_after_the_runner_was_loaded() -> None:
    import onehook.runner
    from onehook import run

    assert run is onehook.runner.run


# --- results ---------------------------------------------------------------------------------------------------------------------


def result_event(text: str) -> Event:
    event = Event("PostToolUse", "claude")
    event.tool_response = text
    return event


def test_a_function_in_modified_output_is_called_with_the_text_of_the_result() -> None:
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda event: Response(modified_output=lambda text: text.replace("secret", "***")))
    assert hooks.dispatch(result_event("a secret")) == Response(modified_output="a ***")
    assert hooks.dispatch(result_event("nothing")) == Response()


def test_masks_of_several_handlers_add_up_and_a_deny_does_not_keep_them_from_running() -> None:
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda event: Response("deny", "look at it", modified_output=event.result.text.replace("one", "1")))
    hooks.on("PostToolUse")(lambda event: {"modified_output": lambda text: text.replace("two", "2")})
    answer = hooks.dispatch(result_event("one two"))
    assert (answer.decision, answer.reason, answer.modified_output) == ("deny", "look at it", "1 2")


def test_a_mask_that_returns_no_string_is_the_handlers_error() -> None:
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda event: Response(modified_output=lambda text: None))  # type: ignore[arg-type, return-value]
    with pytest.raises(HandlerError, match="returned NoneType; it has to return a string"):
        hooks.dispatch(result_event("text"))
    with pytest.raises(HandlerError, match="modified_output must be a str, not int"):
        as_response({"modified_output": 1})
