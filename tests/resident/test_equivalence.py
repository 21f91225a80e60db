"""Every case file, and any kind of event, through the server: the output is what the same code gives when it is called directly.

The tests of processes already go through the server (see warm.py), and are compared with new processes in test_resident.py.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile

import pytest
import warm
from harness import fire
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.runner import answer
from tests.hosts import test_cases as cases
from tests.rows import check_each
from tests.test_properties import answers, distorted, event_names, hosts, json_values, policy, unsaid

pytestmark = pytest.mark.skipif(not warm.POSSIBLE, reason="no fork here")
some = settings(max_examples=40, deadline=None)

# Answers as a file in its folder tells it to.
TOLD = """
import pickle
from onehook import Hooks
from onehook.core import EVENTS, EXTENDED_EVENTS

with open("told", "rb") as file:
    options, returned, name = pickle.load(file)
hooks = Hooks(**options)

def handler(event):
    return returned

handler.__name__ = name  # which errors are told by
for event in EVENTS + EXTENDED_EVENTS:
    hooks.on(event)(handler)
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    path = tmp_path_factory.mktemp("told") / "policy.py"
    path.write_text(TOLD)
    return path


def by_server(told, data, host="", event_name="", given=None, options=None, returned=None, handler="handler"):
    """(stdout, stderr, exit code)"""
    told.with_name("told").write_bytes(pickle.dumps((options or {}, returned, handler)))
    words = {"--host": host, "--event": event_name, **{f"--{name}": value for name, value in (given or {}).items()}}
    result = fire(told, data, *(word for pair in words.items() if pair[1] for word in pair), cwd=told.parent)
    return result.stdout, result.stderr, result.exit_code


def as_written(output):
    return *(f"{text}\n" if text else "" for text in (output.stdout, output.stderr)), output.exit_code


@pytest.mark.parametrize("name", cases.FILES)
def test_the_cases_of_a_file(told, name):
    def check(case):
        output, _ = cases.walk(case)
        os.environ["ONEHOOK_STATE_DIR"] += "-server"  # where stops are counted
        stdin = case["stdin"] if "stdin" in case else json.dumps(case["payload"])
        asked = {name: case.get(name) for name in ("host", "event_name", "given", "options")}
        assert by_server(told, stdin.encode(), **asked, returned=case["response"], handler="answer") == as_written(output)

    check_each(check, {case["id"]: case for case in cases.FILES[name]})


def check_any(told, data, host, event_name, returned, fail):
    """Each in a separate state folder."""
    both = []
    for way in (
        lambda: by_server(told, data, host, event_name, {"fail": fail}, returned=returned),
        lambda: as_written(
            answer(data, lambda: policy(returned), hosts=[host] if host else [], event_name=event_name, given={"fail": fail})
        ),
    ):
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setenv("ONEHOOK_STATE_DIR", folder)
            both.append(way())
    assert both[0] == both[1]


fails = st.sampled_from(["open", "closed"])
wrong = st.just({"decision": "no"})  # an error without a traceback, which would name another file


@some
@given(json_values, hosts, event_names, answers | wrong, fails)
def test_any_json_value(told, value, host, event_name, returned, fail):
    check_any(told, json.dumps(value).encode(), host, event_name, returned, fail)


@some
@given(st.binary(max_size=60), hosts, event_names, fails)
def test_any_bytes(told, data, host, event_name, fail):
    check_any(told, data, host, event_name, None, fail)


@some
@given(distorted(), st.booleans(), answers | wrong, fails)
def test_any_distorted_payload(told, given_payload, named, returned, fail):
    host, name, payload = given_payload
    check_any(told, json.dumps(payload).encode(), host if named else "", unsaid(host, name), returned, fail)
