"""With random user configs: nothing foreign is lost, a second install changes nothing, and uninstall restores the bytes."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onehook.hostkit.config import Machine
from onehook.hostkit.config import Place as ConfigPlace
from onehook.setup.command import resembles_ours
from onehook.setup.plan import config_of, configurable
from onehook.textedit.document import ConfigError, Document
from tests.host_folders import facts, folder
from tests.setup.installing import IN_PROJECTS, Place
from tests.textedit.documents import VALUES, documents

TOML = [host for host in IN_PROJECTS if config_of(host).places(Machine(Path("/h"), Path("/p")))[0].format == "toml"]
HOSTS = [host for host in IN_PROJECTS if host not in TOML]
COMMANDS = st.sampled_from(["./mine.sh", "npx lint --fix", "python3 'a b.py'", 'echo "$HOME" é', "x" * 40])


def hooks_in(host: str, data: Any) -> dict[str, Any]:
    return {event: data[event] for event in slots_of(host) if event in data} if facts(host).HOOKS_ARE_BARE else data.get("hooks", {})


def slots_of(host: str) -> list[str]:
    return list(config_of(host).EVENTS.values())


@st.composite
def user_configs(draw: st.DrawFn, host: str) -> dict[str, Any]:
    """A config that the host accepts: entries in its own format, written by hand, along with other settings."""
    config = config_of(host)
    data: dict[str, Any] = dict(config.TRAITS.skeleton)
    if facts(host).OTHER_SETTINGS:
        data.update(draw(st.dictionaries(st.sampled_from(["model", "env", "permissions", "x-y"]), VALUES, max_size=3)))
    hooks: dict[str, Any] = {}
    for event in draw(st.lists(st.sampled_from(slots_of(host)), unique=True, max_size=3)):
        lines = draw(st.lists(COMMANDS, max_size=3))
        hooks[event] = [facts(host).config_entry(line, draw(st.booleans())) for line in lines]
    if draw(st.booleans()) or hooks:
        data.update(hooks if facts(host).HOOKS_ARE_BARE else {"hooks": hooks})
    order = draw(st.permutations(list(data)))
    return {key: data[key] for key in order}


REQUESTS = st.fixed_dictionaries(
    {
        "events": st.lists(
            st.sampled_from(["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"]), min_size=1, unique=True
        ),
        "fail_closed": st.booleans(),
        "timeout": st.sampled_from([None, 5.0, 0.5]),
        "matchers": st.sampled_from([{}, {"": "Bash"}, {"PreToolUse": "Write|MCP"}]),
    }
)


def target(host: str, place: Place) -> ConfigPlace:
    return next(spot for spot in config_of(host).places(place.machine) if spot.scope == "project")


def without_ours(host: str, data: Any) -> Any:
    """The data as a person sees it without our entries, empty containers, and what the host requires in any file."""
    rest = copy.deepcopy(data)
    around = rest if facts(host).HOOKS_ARE_BARE else rest.get("hooks", {})
    for event, entries in list(hooks_in(host, rest).items()):
        around[event] = [entry for entry in entries if not resembles_ours(json.dumps(entry))]
        if not around[event]:
            del around[event]
    if not around:
        rest.pop("hooks", None)
    return {key: value for key, value in rest.items() if key not in config_of(host).TRAITS.skeleton}


def order_of_foreign(host: str, data: Any) -> dict[str, list[Any]]:
    return {event: [e for e in entries if not resembles_ours(json.dumps(e))] for event, entries in hooks_in(host, data).items() if entries}


@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=20)
@given(data=st.data())
def test_nothing_foreign_is_lost_and_the_bytes_come_back(host: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ["PYTEST_DEBUG_TEMPROOT"]) as root:
        place = Place(Path(root).resolve())
        spot = target(host, place)
        before = _written(host, spot, data)
        start = place.snapshot()
        first, second = data.draw(REQUESTS, "first"), data.draw(REQUESTS, "second")
        place.install([host], **first)
        assert not place.install([host], **first).edits
        if before is not None and spot.format != "own":
            now = Document(spot.path, spot.format).data()
            assert without_ours(host, now) == without_ours(host, before)
            for event, entries in hooks_in(host, before).items():
                assert hooks_in(host, now)[event][: len(entries)] == entries, "foreign entries keep their places"
            assert not config_of(host).text_problems(spot, spot.path.read_text(encoding="utf-8"), now)
            assert not config_of(host).problems(now)
        place.install([host], **second)
        place.uninstall([host])
        assert place.snapshot() == start


@pytest.mark.parametrize("host", TOML)
@settings(max_examples=20)
@given(data=st.data())
def test_the_bytes_of_a_toml_file_come_back(host: str, data: st.DataObject) -> None:
    """Starting from any of the files in the install cases."""
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder(host) / "install").glob("*.json"))]
    texts = [None, *("".join(case["before"]) for case in cases if case.get("before") and case.get("after"))]
    with tempfile.TemporaryDirectory(dir=os.environ["PYTEST_DEBUG_TEMPROOT"]) as root:
        place = Place(Path(root).resolve())
        spot = target(host, place)
        text = data.draw(st.sampled_from(texts), "text")
        if text is not None:
            spot.path.parent.mkdir(parents=True)
            spot.path.write_text(text, encoding="utf-8", newline="")
            assume(not config_of(host).problems(Document(spot.path, spot.format).data()))
        start = place.snapshot()
        first, second = data.draw(REQUESTS, "first"), data.draw(REQUESTS, "second")
        place.install([host], **first)
        assert not place.install([host], **first).edits
        place.install([host], **second)
        place.uninstall([host])
        assert place.snapshot() == start


@pytest.mark.parametrize("host", [host for host in configurable() if "SessionStart" not in config_of(host).EVENTS])
def test_an_install_again_for_events_that_an_agent_lacks_removes_all(host: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    start = place.snapshot()
    place.install([host], events=["SessionStart", "PreToolUse"])
    assert place.snapshot() != start
    place.install([host], events=["SessionStart"])
    assert not place.install([host], events=["SessionStart"]).edits
    place.uninstall([host])
    assert place.snapshot() == start


def _written(host: str, spot: ConfigPlace, data: st.DataObject) -> Any:
    """Write a random user config, or none; returns its data."""
    if spot.format == "own" or data.draw(st.integers(0, 5), "no file if 0") == 0:
        return None
    value = data.draw(user_configs(host), "config")
    _, text = data.draw(documents(st.just(value), jsonc=spot.format == "jsonc"), "text")
    content = text.encode("utf-8", "surrogatepass")
    spot.path.parent.mkdir(parents=True, exist_ok=True)
    spot.path.write_bytes(content)
    try:
        read = Document(spot.path, spot.format).data()
    except ConfigError:
        assume(False)
    assume(not config_of(host).text_problems(spot, text, read) and not config_of(host).problems(read))
    return value


@pytest.mark.parametrize("host", [host for host in HOSTS if config_of(host).places(Machine(Path("/h"), Path("/p")))[0].format != "own"])
@settings(max_examples=20)
@given(data=st.data())
def test_after_edits_of_the_user_only_our_entries_go(host: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ["PYTEST_DEBUG_TEMPROOT"]) as root:
        place = Place(Path(root).resolve())
        spot = target(host, place)
        _written(host, spot, data)
        place.install([host], **data.draw(REQUESTS, "first"))
        edited = Document(spot.path, spot.format).data()
        extra = facts(host).config_entry("added-later", False)
        event = data.draw(st.sampled_from(slots_of(host)), "event of the edit")
        entries = (edited if facts(host).HOOKS_ARE_BARE else edited.setdefault("hooks", {})).setdefault(event, [])
        entries.insert(data.draw(st.integers(0, len(entries)), "place of the edit"), extra)
        spot.path.write_text(json.dumps(edited, indent=data.draw(st.sampled_from([None, 2, "\t"]), "indent")), encoding="utf-8")
        wanted, order = without_ours(host, edited), order_of_foreign(host, edited)
        if data.draw(st.booleans(), "install again"):
            place.install([host], **data.draw(REQUESTS, "second"))
        place.uninstall([host])
        left = Document(spot.path, spot.format).data()
        assert without_ours(host, left) == wanted
        assert {event: entries for event, entries in order_of_foreign(host, left).items() if entries} == {
            event: entries for event, entries in order.items() if entries
        }
        assert not resembles_ours(spot.path.read_text(encoding="utf-8").replace("\\/", "/"))
