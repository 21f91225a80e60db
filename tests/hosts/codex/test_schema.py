"""What is written for Codex, checked against the schemas extracted from Codex 0.166.0 and the parser rules that they do not express.

If Codex rejects an answer, the hook has failed and the tool runs: so this is about enforcement, not about form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onehook.core import DECISIONS, Hooks, Output
from onehook.hosts import wire_of
from onehook.runner import answer
from tests.host_folders import captures, lines_of, payloads

SCHEMAS = Path(__file__).parent / "schemas-0.166.0"
PAYLOADS = payloads("codex")
# No output schema: these events take no answer.
MUTE = {"SessionEnd", "PreModelRequest", "PostModelRequest"}


def kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip("-")


def validator(event: str, direction: str) -> jsonschema.Draft7Validator:
    schema = json.loads((SCHEMAS / f"{kebab(event)}.command.{direction}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


OUTPUT = {name: validator(name, "output") for name in PAYLOADS if name not in MUTE}


def refused(event: str, body: dict[str, Any]) -> str:
    """Why Codex's parser would reject an answer that its schema accepts; "" for an answer that it accepts."""
    specific = body.get("hookSpecificOutput") or {}
    if event in ("PreToolUse", "PermissionRequest") and ("stopReason" in body or body.get("continue") is False):
        return "no stop on these events"
    if event in ("PreToolUse", "PermissionRequest", "PostToolUse") and body.get("suppressOutput"):
        return "suppressOutput"
    if "reason" in body and "decision" not in body:
        return "a reason without a decision"
    if "decision" in body and (body["decision"] != "block" or not body.get("reason", "").strip()):
        return "only block, and only with a reason"
    return refused_permission(specific) or refused_dialog(specific)


def refused_permission(specific: dict[str, Any]) -> str:
    decision = specific.get("permissionDecision")
    if decision == "ask":
        return "ask"
    if decision == "allow" and specific.get("updatedInput") is None:
        return "a bare allow"
    if decision == "deny" and not specific.get("permissionDecisionReason", "").strip():
        return "a denial without a reason"
    if decision != "deny" and "permissionDecisionReason" in specific:
        return "a reason without a denial"
    if decision != "allow" and "updatedInput" in specific:
        return "a rewrite without an allow"
    return ""


def refused_dialog(specific: dict[str, Any]) -> str:
    dialog = specific.get("decision") or {}
    if set(dialog) - {"behavior", "message"}:
        return "a dialog takes a behavior and a message"
    if dialog.get("behavior") == "deny" and not dialog.get("message", "").strip():
        return "a denied dialog without a message"
    return ""


texts = st.none() | st.text(max_size=20) | st.sampled_from(["", " ", "\n", "no", "é\ud800"])
responses = st.fixed_dictionaries(
    {
        "decision": st.sampled_from([None, *DECISIONS]),
        "reason": texts,
        "user_message": texts,
        "modified_input": st.none() | st.just({}) | st.dictionaries(st.sampled_from(["command", "other"]), st.text(max_size=5)),
        "additional_context": texts,
        "message": texts,
        "lint_command": texts,
    }
)
options = st.fixed_dictionaries(
    {
        "ask_fallback": st.sampled_from(DECISIONS),
        "on_unsupported": st.sampled_from(["warn", "deny"]),
        "fail": st.sampled_from(["open", "closed"]),
    }
)


def fire(event: str, response: dict[str, Any], given_options: dict[str, Any], changed: dict[str, Any] | None = None) -> Output:
    hooks = Hooks(**given_options)
    hooks.on(wire_of("codex").EVENTS[event].event)(lambda _: response)
    return answer(json.dumps({**PAYLOADS[event], **(changed or {})}).encode(), lambda: hooks, hosts=["codex"])


def check(event: str, output: Output) -> None:
    if event in MUTE:
        assert output.stdout == ""
    if output.stdout:
        body = json.loads(output.stdout)
        OUTPUT[event].validate(body)
        assert refused(event, body) == ""
    assert output.exit_code in (0, 1, 2)
    if output.exit_code == 2:
        # Then stdout is ignored and stderr is the reason; if that is empty, the hook has failed.
        assert output.stderr.strip()
        assert output.stderr == reason_in(json.loads(output.stdout))
        assert event in ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop")


def reason_in(body: dict[str, Any]) -> Any:
    specific = body.get("hookSpecificOutput", {})
    return body.get("reason") or specific.get("permissionDecisionReason") or specific["decision"]["message"]


@pytest.mark.parametrize("event", PAYLOADS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(response=responses, given_options=options)
def test_codex_takes_every_answer(
    event: str, response: dict[str, Any], given_options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path))
    output = fire(event, response, given_options)
    check(event, output)
    if response["decision"] == "deny" and wire_of("codex").EVENTS[event].gates:
        assert denies(event, output)


def denies(event: str, output: Output) -> bool:
    """Whether Codex stops the action for this output."""
    if output.exit_code == 2:
        return bool(output.stderr.strip())
    body = json.loads(output.stdout) if output.stdout else {}
    specific = body.get("hookSpecificOutput", {})
    dialog = (specific.get("decision") or {}).get("behavior")
    return output.exit_code == 0 and (
        body.get("decision") == "block" or body.get("continue") is False or "deny" in (specific.get("permissionDecision"), dialog)
    )


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"])
def test_an_error_under_fail_closed_is_a_denial_that_codex_takes(event: str) -> None:
    output = fire(event, {"decision": "nonsense"}, {"fail": "closed"})
    check(event, output)
    assert denies(event, output)


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit"])
def test_ask_is_a_denial_that_codex_takes(event: str) -> None:
    output = fire(event, {"decision": "ask"}, {})
    check(event, output)
    assert denies(event, output)


def test_the_oracle_knows_what_codex_refuses() -> None:
    def specific(**fields: Any) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}

    for body in (
        specific(permissionDecision="ask"),
        specific(permissionDecision="allow"),
        specific(permissionDecision="deny"),
        specific(permissionDecision="deny", permissionDecisionReason=" "),
        specific(permissionDecisionReason="alone"),
        specific(updatedInput={}),
        {"continue": False},
        {"stopReason": "x"},
        {"suppressOutput": True},
        {"reason": "alone"},
        {"decision": "approve", "reason": "x"},
        {"decision": "block"},
    ):
        assert not list(OUTPUT["PreToolUse"].iter_errors(body)), "the schema alone would have been enough"
        assert refused("PreToolUse", body)


def test_the_schemas_refuse_an_unknown_key() -> None:
    for name, schema in OUTPUT.items():
        assert list(schema.iter_errors({"terminalSequence": "x"})), name


def captured() -> list[dict[str, Any]]:
    return [line["stdin"] for path in captures("codex") for line in lines_of(path)]


@pytest.mark.parametrize("payload", [*captured(), *PAYLOADS.values()], ids=lambda payload: payload["hook_event_name"])
def test_real_and_sample_payloads_fit_the_input_schemas(payload: dict[str, Any]) -> None:
    event = payload["hook_event_name"]
    if event in ("PreModelRequest", "PostModelRequest"):
        assert not (SCHEMAS / f"{kebab(event)}.command.input.schema.json").exists()
    else:
        validator(event, "input").validate(payload)
