from __future__ import annotations

from pathlib import Path

import pytest

from onehook.prove.model import Call, ScriptError, Turn, load_script, parse_script


def test_every_form_of_a_step_is_read() -> None:
    steps = [
        {"call": "Bash", "input": {"command": "ls"}},
        {"call": "exec", "input": "text(1)", "when": "child"},
        {"calls": [{"call": "A"}, {"call": "B", "input": {"b": 1}}]},
        {"say": "bye", "wait": True, "usage": 5000},
    ]
    assert parse_script(steps) == [
        Turn(calls=(Call("Bash", {"command": "ls"}),)),
        Turn(calls=(Call("exec", "text(1)"),), when="child"),
        Turn(calls=(Call("A", {}), Call("B", {"b": 1}))),
        Turn(text="bye", wait=True, usage=5000),
    ]


@pytest.mark.parametrize("text", ['[{"say": "x"}]', '{"steps": [{"say": "x"}]}', '\ufeff[{"say": "x"}]'])
def test_a_script_file_is_a_list_or_an_object_with_steps(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    assert load_script(path) == [Turn(text="x")]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("say", "a script is a list"),
        ({"say": "x"}, "a script is a list"),
        (["x"], "step 1 is str"),
        ([{"say": "x"}, {}], "step 2 needs exactly one of"),
        ([{"say": "x", "call": "A"}], "step 1 needs exactly one of"),
        ([{"say": ""}], '"say" must be a non-empty string'),
        ([{"call": 1}], '"call" must be a non-empty string'),
        ([{"call": "A", "input": [1]}], '"input" of A must be an object'),
        ([{"call": "A", "arguments": {}}], "unknown key 'arguments'"),
        ([{"say": "A", "input": {}}], "unknown key 'input'"),
        ([{"say": "A", "when": 1}], '"when" must be a string'),
        ([{"say": "A", "wait": 1}], '"wait" must be true or false'),
        ([{"say": "A", "usage": -1}], '"usage" must be a number of tokens'),
        ([{"say": "A", "usage": True}], '"usage" must be a number of tokens'),
        ([{"say": "A", "usage": "many"}], '"usage" must be a number of tokens'),
        ([{"calls": []}], "at least one"),
        ([{"calls": [{"say": "A"}]}], "step 1, call 1 needs the form"),
        ([{"calls": [{"call": "A", "x": 1}]}], "step 1, call 1 has an unknown key 'x'"),
    ],
)
def test_a_wrong_step_is_named_in_the_error(steps: object, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_script(steps)


def test_a_file_that_cannot_be_used_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot read the script"):
        load_script(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ScriptError, match="is not JSON"):
        load_script(tmp_path / "bad.json")
