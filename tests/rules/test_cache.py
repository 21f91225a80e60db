"""Compiled rules: made once, used only while their sources are unchanged, and loaded only as far as an event needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PACKAGE

from onehook.core import Pause
from onehook.rules import compile as compiling
from onehook.rules.explain import sample_event
from onehook.rules.load import Ready, cache_folder, cache_name, load, table_of

TEXT = 'packs = ["git"]\n'


@pytest.fixture
def counted(monkeypatch):
    """The calls that compiled rules."""
    calls = []
    real = compiling.compile_layers
    monkeypatch.setattr(compiling, "compile_layers", lambda layers: calls.append(layers) or real(layers))
    return calls


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text(TEXT)
    return path, str(tmp_path / "cache")


def decision(path, cache, line="git push -f", **kwargs):
    return load(str(path), cache=cache, **kwargs).dispatch(sample_event(line)).decision


def test_rules_are_compiled_once(place, counted):
    path, cache = place
    assert [decision(path, cache) for _ in range(3)] == ["deny"] * 3
    assert len(counted) == 1
    assert os.stat(next(Path(cache).iterdir())).st_mode & 0o777 == 0o600


def test_a_changed_file_is_compiled_again_whatever_its_time_and_size(place, counted):
    path, cache = place
    path.write_text(TEXT + '[levels]\ngit = "deny"\n')
    status = path.stat()
    assert decision(path, cache) == "deny"
    path.write_text(TEXT + '[levels]\ngit = "warn"\n')
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert decision(path, cache) is None
    assert len(counted) == 2


@pytest.fixture
def ready(place, monkeypatch):
    """Loads the rules file in advance, regardless of when it was written."""
    path, _ = place
    monkeypatch.setattr(Ready, "SETTLED", 0)
    monkeypatch.setattr(Ready, "kept", [])
    return lambda: Ready(str(path), {})


def taken(path):
    rules = Ready.taken(str(path), {})
    return rules and rules.dispatch(sample_event("git push -f")).decision


def test_rules_that_were_loaded_in_advance_serve_one_event(place, ready):
    path, _ = place
    ready()
    assert [taken(path), taken(path)] == ["deny", None]


def test_rules_that_were_loaded_in_advance_serve_no_other_policy_and_no_other_options(place, ready):
    path, _ = place
    ready()
    assert Ready.taken(f"{path}.toml", {}) is None
    ready()
    assert Ready.taken(str(path), {"mode": "observe"}) is None


def test_rules_that_were_loaded_in_advance_are_not_used_if_a_file_has_changed_since_whatever_its_time_and_size(place, ready):
    path, _ = place
    path.write_text(TEXT + '[levels]\ngit = "deny"\n')
    ready()
    status = path.stat()
    path.write_text(TEXT + '[levels]\ngit = "warn"\n')
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Ready.taken(str(path), {}) is None


def test_rules_that_were_loaded_in_advance_are_not_used_if_a_layer_has_appeared_since(place, ready, monkeypatch, tmp_path):
    path, _ = place
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    ready()
    (tmp_path / "onehook").mkdir()
    (tmp_path / "onehook" / "onehook.toml").write_text('[levels]\ngit = "warn"\n')
    assert Ready.taken(str(path), {}) is None


def test_rules_that_are_just_being_written_are_not_loaded_in_advance(place, ready, monkeypatch):
    path, _ = place
    monkeypatch.setattr(Ready, "SETTLED", 3600)
    ready()
    assert Ready.taken(str(path), {}) is None


def test_a_pause_that_began_after_the_rules_were_loaded_in_advance_counts(place, ready):
    path, _ = place
    ready()
    event = sample_event("git push -f")
    event._pause = Pause(until=4e9)
    assert Ready.taken(str(path), {}).dispatch(event).decision is None


def test_what_is_extended_and_a_layer_that_appears_count_too(place, counted, tmp_path):
    path, cache = place
    base, user = tmp_path / "base.toml", tmp_path / "user.toml"
    base.write_text('[levels]\ngit = "ask"\n')
    path.write_text('packs = ["git"]\nextends = "base.toml"\n')
    layers = [("user", str(user))]
    assert decision(path, cache, layers=layers) == "ask"
    base.write_text('[levels]\ngit = "log"\n')
    assert decision(path, cache, layers=layers) is None
    user.write_text('packs = ["git"]\n')
    assert decision(path, cache, layers=layers) == "deny"
    assert len(counted) == 3


@pytest.mark.parametrize("broken", [b"", b"x" * 500, b"onehook rules 1"])
def test_a_broken_cache_is_not_used(place, broken):
    path, cache = place
    decision(path, cache)
    stored = next(Path(cache).iterdir())
    stored.write_bytes(broken)
    assert decision(path, cache) == "deny"
    cut = stored.read_bytes()[:-2000]
    stored.write_bytes(cut)
    assert decision(path, cache) == "deny"


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_a_cache_that_others_can_write_is_not_used(place, counted):
    path, cache = place
    decision(path, cache)
    os.chmod(next(Path(cache).iterdir()), 0o666)
    decision(path, cache)
    assert len(counted) == 2


def test_without_a_place_for_the_cache_rules_hold_all_the_same(place, tmp_path):
    path, _ = place
    (tmp_path / "file").write_text("")
    assert decision(path, str(tmp_path / "file" / "x")) == "deny"
    assert decision(path, "") == "deny"


def test_compiled_rules_are_kept_beside_onehooks_own_code_and_a_forged_file_elsewhere_is_not_used(place, tmp_path, monkeypatch):
    path, _ = place
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))
    assert cache_folder().startswith(str(PACKAGE)) and "__pycache__" in cache_folder()
    # What an agent could write: rules that are switched off, with the sources of those that are on.
    layers = [("project", str(path))]
    path.write_text("packs = []\n# long enough\n")
    header, raw = compiling.compile_layers(layers)
    path.write_text(TEXT)
    real, _ = compiling.compile_layers(layers)
    forged = raw + TEXT.encode()
    header["sources"] = [*([str(path), 0, len(raw), len(TEXT)],), *(source for source in real["sources"] if source[0] != str(path))]
    for folder in (tmp_path / "cache-home" / "onehook" / "rules", tmp_path / ".cache" / "onehook" / "rules"):
        compiling.store(str(folder / cache_name(layers)), header, forged)
        assert load(str(path), cache=str(folder)).dispatch(sample_event("git push -f")).decision is None  # the forged file would work
    assert decision(path, None) == "deny"


def test_old_files_leave_the_cache(place, monkeypatch):
    path, cache = place
    monkeypatch.setattr(compiling, "_KEPT", 3)
    for number in range(6):
        other = path.with_name(f"rules-{number}.toml")
        other.write_text(TEXT)
        assert decision(other, cache) == "deny"
    assert len(list(Path(cache).iterdir())) == 3


def test_different_files_have_different_names_in_the_cache():
    names = {cache_name([("project", f"/a/{n}/onehook.toml")]) for n in range(1000)}
    assert len(names) == 1000


def test_a_command_loads_the_chunks_of_its_programs_only(place, tmp_path):
    path, cache = place
    path.write_text('packs = ["all"]\n')
    table_of([("project", str(path))], cache)
    table = table_of([("project", str(path))], cache)
    from onehook.rules.judge import rulings

    rulings(table, sample_event("npm test && make build"))
    assert set(table._chunks) <= {"npm", "make", "*", ""}


PROBE = """
import sys
sys.path.append({source!r})
from onehook.core import Event, Facts
from onehook.rules.load import load
rules = load({path!r}, cache={cache!r})
for line in {lines!r}:
    event = Event("PreToolUse", "")
    event.take_tool(("Bash",), "Bash", {{"command": line}}, lambda _: Facts(command=line))
    event.cwd = "/home/dev/project"
    print(rules.dispatch(event).decision)
print(" ".join(sys.modules))
"""


def probed(path, cache, *lines):
    code = PROBE.format(source=str(PACKAGE.parent), path=str(path), cache=cache, lines=lines)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    *decisions, modules = done.stdout.splitlines()
    return decisions, set(modules.split())


def test_an_event_imports_no_parser_and_no_library(place):
    path, cache = place
    path.write_text('packs = ["all"]\n[permissions]\ndeny = ["Read(./.env*)"]\n')
    decision(path, cache)
    decisions, modules = probed(path, cache, "npm test", "git commit -m 'a b' && make 2>&1 | tail -5")
    assert decisions == ["None", "None"]
    assert modules.isdisjoint({"re", "json", "tomllib", "tomlkit", "typing", "enum", "collections", "difflib", "hashlib"})
    own = {name for name in modules if name.startswith("onehook.")}
    assert own.isdisjoint({"onehook.rules.compile", "onehook.packs", "onehook.rules.keys", "onehook.policies.shell"})


def test_nor_does_one_that_is_stopped_or_needs_the_whole_reader(place):
    path, cache = place
    path.write_text('packs = ["all"]\n')
    decision(path, cache)
    decisions, modules = probed(path, cache, "git push -f", "for x in $(ls); do terraform destroy; done", "rm -rf ~", "cat ~/.netrc")
    assert decisions == ["deny"] * 4
    assert modules.isdisjoint({"re", "json", "tomllib", "tomlkit", "typing", "enum", "collections", "onehook.rules.compile"})
