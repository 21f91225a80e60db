"""docs/schema: the published schemas of onehook's own format match what programs get and may answer."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from harness import ANY, fire, tool_payload

from onehook.core import CONTRACT_FIELDS, EVENTS, EXTENDED_EVENTS, RESPONSE_FIELDS, Event, HandlerError, as_response
from onehook.hosts import detect
from tests.hosts.test_captures import CAPTURED, named_event, named_lines
from tests.manifest.kit import manifest_of, sh
from tests.rows import check_each

SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schema"
EVENT = json.loads((SCHEMAS / "event.json").read_text(encoding="utf-8"))
RESPONSE = json.loads((SCHEMAS / "response.json").read_text(encoding="utf-8"))
FITS = jsonschema.Draft202012Validator(EVENT)  # jsonschema.validate would check the schema again for each event


@pytest.mark.parametrize("schema", [EVENT, RESPONSE], ids=["event", "response"])
def test_a_schema_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("host", CAPTURED)
def test_every_captured_event_of_every_host_fits(host):
    def check(line):
        event = detect(line["stdin"]).parse(line["stdin"], named_event(line))
        # No program sees events that the host only repeats, or that have no unified name.
        if not event.echo and event.event in (*EVENTS, *EXTENDED_EVENTS):
            FITS.validate(json.loads(json.dumps(event.to_dict())))

    check_each(check, named_lines(host))


def test_what_a_program_really_gets_fits(tmp_path):
    target = tmp_path / "seen"
    path = manifest_of(tmp_path / "m", sh(f"cat > {target}"))
    fire(path, tool_payload(ANY, "ls"), "--host", ANY)
    got = json.loads(target.read_text())
    FITS.validate(got)
    assert (got["event"], got["host"], got["command"]) == ("PreToolUse", ANY, "ls")


def test_the_event_schema_names_every_field_and_every_event():
    assert set(EVENT["properties"]) == set(EVENT["required"]) == set(Event("Stop", "x").to_dict())
    assert EVENT["properties"]["event"]["enum"] == [*EVENTS, *EXTENDED_EVENTS]


def test_the_response_schema_names_every_field():
    assert set(RESPONSE["properties"]) == {*RESPONSE_FIELDS, *CONTRACT_FIELDS}


@pytest.mark.parametrize(
    "answer",
    [{}, {"decision": "deny", "reason": "x"}, {"modified_input": {"command": "x"}},
     {"decision": "no"}, {"reason": 1}, {"verdict": "deny"}, {"modified_input": "x"}],
)  # fmt: skip
def test_an_answer_that_the_schema_takes_is_taken_and_no_other(answer):
    valid = jsonschema.Draft202012Validator(RESPONSE).is_valid(answer)
    try:
        as_response(dict(answer))
        taken = True
    except HandlerError:
        taken = False
    assert valid is taken
