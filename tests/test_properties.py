"""Claims that hold for any input: no crash, one JSON object or nothing on stdout, and no allow by accident under fail=closed."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import PRE, answered, honours, tool_payload, with_tool
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from onehook import Event, Hooks, Response, allow, deny
from onehook.codec import _c_codec, _stdlib_codec, dumps, loads, text_of
from onehook.core import EVENTS, EXTENDED_EVENTS, STOPS, PayloadError, wildcard
from onehook.hostkit.effects import Row
from onehook.hosts import HOSTS, load, resolve, wire_of
from onehook.hosts.cursor.wire import version_of
from onehook.runner import answer
from tests.host_folders import facts, payloads

PAYLOADS: dict[str, dict[str, dict[str, Any]]] = {host: payloads(host) for host in HOSTS}
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

scalars = (
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10)
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4), max_leaves=12
)
hosts = st.sampled_from(["", *HOSTS])
event_names = st.sampled_from(["", *EVENTS, *EXTENDED_EVENTS, "preToolUse", "nonsense"])
answers = st.sampled_from(
    [None, allow(), allow(modified_input={"command": "ls"}), deny("no"), Response("ask"), Response(additional_context="c")]
)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path))


def policy(returned: object) -> Hooks:
    def handler(event: Event) -> object:
        if isinstance(returned, Exception):
            raise returned
        return returned

    hooks = Hooks()
    for name in EVENTS + EXTENDED_EVENTS:
        hooks.on(name)(handler)
    return hooks


def fire(data: bytes, host: str = "", event_name: str = "", returned: object = None, fail: str = "open") -> tuple[str, Any, int]:
    """(stderr, stdout as data, exit code); checks what holds for every output."""
    output = answer(data, lambda: policy(returned), hosts=[host] if host else [], event_name=event_name, given={"fail": fail})
    assert output.exit_code in (0, 1, 2)
    said: Any = None
    # Where an agent takes plain text, only the context is written.
    if output.stdout and not (output.answer is not None and output.stdout == output.answer.additional_context):
        said = json.loads(output.stdout)
        assert isinstance(said, dict)
        assert "\n" not in output.stdout
        assert output.stdout.isascii()
    return output.stderr, said, output.exit_code


def every_event(row: Row) -> bool:
    return True


@st.composite
def distorted(draw: st.DrawFn, wanted: Callable[[Row], bool] = every_event) -> tuple[str, str, dict[str, Any]]:
    """A real payload of a host with some of its fields, or fields of its tool's input, replaced or removed."""
    host = draw(st.sampled_from(HOSTS))
    name = draw(st.sampled_from([name for name, row in wire_of(host).EVENTS.items() if wanted(row)]))
    payload = dict(PAYLOADS[host][name])
    place: Any = payload
    if isinstance(payload.get("tool_input"), dict) and draw(st.booleans()):
        payload["tool_input"] = place = dict(payload["tool_input"])
    keys = st.sampled_from(sorted(set(place) - {"hook_event_name"} | {"edits", "url", "file_path", "path", "cwd", "cursor_version"}))
    for key in draw(st.lists(keys, max_size=3)):
        if draw(st.booleans()):
            place[key] = draw(json_values)
        else:
            place.pop(key, None)
    if "tool_name" in payload and draw(st.booleans()):
        tools = sorted(wire_of(host).TOOLS)  # type: ignore[attr-defined]
        payload["tool_name"] = draw(st.sampled_from([*tools, "mcp__a__b", "mcp__", "MCP:x", "New"]))
    return host, name, payload


# --- any input -------------------------------------------------------------------------------------------------------------------


@quick
@given(json_values, hosts, event_names, answers)
def test_any_json_value_is_answered(value: Any, host: str, event_name: str, returned: object) -> None:
    fire(json.dumps(value).encode(), host, event_name, returned)


@quick
@given(st.binary(max_size=60), hosts, event_names)
def test_any_bytes_are_answered(data: bytes, host: str, event_name: str) -> None:
    fire(data, host, event_name)


def unsaid(host: str, name: str) -> str:
    """The event, for --event, if the payload does not name it."""
    return "" if wire_of(host).parse(PAYLOADS[host][name], "").native_event == name else name


@quick
@given(distorted(), st.booleans(), answers)
def test_a_distorted_payload_is_answered(given_payload: tuple[str, str, dict[str, Any]], named: bool, returned: object) -> None:
    host, name, payload = given_payload
    fire(json.dumps(payload).encode(), host if named else "", unsaid(host, name), returned)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("text", ["[", '{"a":', '{"tool_input":{"a":'])
def test_a_payload_nested_without_end_is_answered(host: str, closed: bool, text: str) -> None:
    stderr, said, exit_code = fire((text * 100_000).encode(), host, fail="closed" if closed else "open")
    assert exit_code == (2 if closed else wire_of(host).TRAITS.unreadable[1])
    assert said is None or not closed
    assert stderr


rewriting = Hooks()
rewriting.on("PreToolUse")(lambda event: allow(modified_input={"command": "ls"}))


@pytest.mark.parametrize("host", HOSTS)
def test_an_input_as_deep_as_can_be_read_is_not_let_through_for_being_too_deep_to_write(host: str) -> None:
    call = json.dumps(with_tool(host, tool_payload(host), name="New", input={"command": "x", "deep": 0}))
    event = wire_of(host).parse(tool_payload(host), PRE[host])
    taken = honours(host, "PreToolUse", "modified_input")  # otherwise there is nothing to write
    for depth in range(900, 1010):
        payload = call.replace('"deep": 0', '"deep": ' + "[" * depth + "]" * depth)
        result = answered(host, payload.encode(), lambda: rewriting, PRE[host], fail="closed")
        read = load(host, "reverse").answer(event, result.stdout, result.stderr, result.exit_code)
        assert read.modified_input or read.decision == "deny" or not taken, (depth, result)


# --- fail=closed -----------------------------------------------------------------------------------------------------------------


def denied(said: Any, exit_code: int) -> bool:
    """Whether some host's proven form of a denial was given."""
    if exit_code == 2:
        return True
    body = said or {}
    specific = body.get("hookSpecificOutput", {})
    forms = (
        body.get("permission") == "deny",
        body.get("cancel") is True,
        body.get("continue") is False,
        body.get("decision") in ("block", "deny"),
        specific.get("permissionDecision") == "deny",
        body.get("permissionDecision") == "deny",
        body.get("behavior") == "deny",
        isinstance(specific.get("decision"), dict) and specific["decision"].get("behavior") == "deny",
    )
    return exit_code == 0 and any(forms)


@quick
@given(distorted(lambda row: row.gates))
def test_under_fail_closed_an_error_on_a_gating_event_is_never_an_allow(given_payload: tuple[str, str, dict[str, Any]]) -> None:
    host, name, payload = given_payload
    stderr, said, exit_code = fire(json.dumps(payload).encode(), host, unsaid(host, name), returned=RuntimeError("broken"), fail="closed")
    if facts(host).EVENTS_ARE_TOOLS and payload.get("tool_name") != PAYLOADS[host][name]["tool_name"]:
        return
    assert denied(said, exit_code)
    assert said or stderr.strip()


@quick
@given(st.binary(max_size=40), hosts)
def test_under_fail_closed_a_payload_that_cannot_be_read_is_a_denial(data: bytes, host: str) -> None:
    try:
        json.loads(text_of(data))
        readable = True
    except (ValueError, PayloadError):
        readable = False
    assume(not readable)
    stderr, said, exit_code = fire(data, host, fail="closed")
    assert (said, exit_code) == (None, 2)
    assert "blocked: fail=closed" in stderr


@quick
@given(distorted(lambda row: row.event in STOPS))
def test_under_fail_closed_a_stop_is_not_denied_for_an_error(given_payload: tuple[str, str, dict[str, Any]]) -> None:
    host, _, payload = given_payload
    _, said, exit_code = fire(json.dumps(payload).encode(), host, returned=RuntimeError("broken"), fail="closed")
    try:
        event = resolve([host], payload).parse(payload, "")
    except PayloadError:
        return  # a payload that cannot be read may be anything
    if event.event not in STOPS:
        return  # in the contract, the tool's name is the event's name
    assert (said, exit_code) == (None, wire_of(event.host).TRAITS.error_exit)


# --- JSON ------------------------------------------------------------------------------------------------------------------------


CODECS = [_c_codec(), _stdlib_codec()]


@quick
@given(json_values)
def test_writing_agrees_with_json(value: Any) -> None:
    assert dumps(value) == json.dumps(value)
    for _, encode, encode_compact in CODECS:
        assert encode(value) == json.dumps(value)
        assert encode_compact(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@quick
@given(json_values, st.sampled_from([None, 1]), st.booleans())
def test_reading_agrees_with_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert loads(f" {text}\r\n") == value
    for scan, *_ in CODECS:
        assert scan(text, 0) == (value, len(text))


@quick
@given(st.text(max_size=12) | st.text('{}[]",:0123456789.eE+-truefalsn \n', max_size=12))
def test_reading_refuses_what_json_refuses(text: str) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        wanted: tuple[bool, Any] = (True, json.loads(text, parse_constant=refuse))
    except ValueError:
        wanted = (False, None)
    try:
        got: tuple[bool, Any] = (True, loads(text))
    except PayloadError:
        got = (False, None)
    assert got == wanted


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_what_is_no_json_number_is_refused_by_both_codecs(text: str) -> None:
    with pytest.raises(PayloadError):
        loads(text)
    for scan, *_ in CODECS:
        with pytest.raises(ValueError, match="is not JSON"):
            scan(text, 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object(), {"a": [{"b": {1}}]}])
def test_what_is_no_json_is_not_written(value: object) -> None:
    for encode in (dumps, *(encode for _, *encoders in CODECS for encode in encoders)):
        with pytest.raises((TypeError, ValueError)):
            encode(value)


@given(st.text(max_size=20), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_is_read_in_every_encoding_that_hosts_use(text: str, encoding: str) -> None:
    assume(not text.startswith("\ufeff"))
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        assume(False)
    assume(encoding != "utf-8" or not data.startswith((b"\xff\xfe", b"\xfe\xff")))
    assert text_of(data) == text


# --- small things ----------------------------------------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_wildcards_are_those_of_fnmatch(pattern: str, text: str) -> None:
    assert wildcard(pattern, text) is fnmatch.fnmatchcase(text, pattern)


@given(st.text(max_size=30) | st.text("0123456789.-v", max_size=30))
def test_a_version_is_numbers_whatever_the_text(text: str) -> None:
    version = version_of(text)
    assert all(isinstance(number, int) and number >= 0 for number in version)


@given(st.lists(st.integers(0, 10**8), min_size=1, max_size=4), st.sampled_from(["", "-pre", ".x", "+build.7"]))
def test_a_version_is_its_leading_numbers(numbers: list[int], suffix: str) -> None:
    assert version_of(".".join(map(str, numbers)) + suffix) == tuple(numbers)
