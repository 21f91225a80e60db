"""Local programs as scanners: real processes, with output in the formats that the presets describe."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest

from onehook.scan.content import pieces_of
from onehook.scan.engine import Engine
from onehook.scan.model import Piece, Sample
from onehook.scan.settings import Settings
from tests.scan.service import SECRET

pytestmark = pytest.mark.skipif(os.name == "nt", reason="programs with a #! line")
# The real output of each (gitleaks 8, semgrep 1, ggshield 1, detect-secrets 1.5, yara 4), reduced to what is read.
PLACE = {"check_id": "rules.key", "start": {"offset": 4}, "end": {"offset": 4 + len(SECRET)}}
INCIDENT = {"type": "AWS Keys", "occurrences": [{"match": SECRET}]}
# name: its output when it finds something, its exit code then, its output otherwise, the category, and the options that it needs
KNOWN = {
    "gitleaks": ([{"RuleID": "aws", "Secret": SECRET, "StartLine": 0}], 77, [], "aws", {}),
    "semgrep": ({"errors": [], "results": [PLACE]}, 0, {"errors": [], "results": []}, "rules.key", {"config": "r.yml"}),
    "ggshield": ({"entities_with_incidents": [{"incidents": [INCIDENT]}]}, 1, {"total_incidents": 0}, "AWS Keys", {}),
    "detect-secrets": ({"results": {"f": [{"type": "AWS Key", "line_number": 1}]}}, 0, {"results": {}}, "AWS Key", {}),
    "yara": ("aws_key /tmp/content.txt\n", 0, "", "aws_key", {"config": "rules.yar"}),
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Creates a program with this name on PATH, from the body of a Python script in which `text` is what to scan."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def make(name, body):
        file = folder / name
        read = "import sys, os, json, time\nfiles = [word for word in sys.argv[1:] if word.startswith('/')]\n"
        read += "text = open(files[-1]).read() if files else sys.stdin.read()\n"
        file.write_text(f"#!{sys.executable} -I\n{read}{body}")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return str(file)

    return make


def scanned(settings, text=f"key {SECRET}", pieces=None, seconds=20.0):
    return Engine(settings).scan([Sample("writes", "the file", pieces or pieces_of(text))], seconds)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_known_program(program, name):
    printed, code, otherwise, category, options = KNOWN[name]
    found, clean = (one if isinstance(one, str) else json.dumps(one) for one in (printed, otherwise))
    program(name, f"hit = {SECRET!r} in text\nprint({found!r} if hit else {clean!r}, end='')\nsys.exit({code} if hit else 0)")
    settings = Settings(name, cache=0, options=options)
    bad, good = scanned(settings), scanned(settings, "nothing here")
    assert (bad.error, {one.category for _, one in bad.found}) == ("", {category})
    assert (good.error, good.found) == ("", [])
    if name in ("gitleaks", "semgrep", "ggshield"):
        assert {one.quote(sample.text) for sample, one in bad.found} == {SECRET}


def test_a_program_of_ones_own_by_its_exit_code(program):
    path = program("check", f"sys.exit(9 if {SECRET!r} in text else 0)")
    settings = Settings("program", cache=0, options={"run": [path], "output": "none", "found": [9]})
    assert [one.category for _, one in scanned(settings).found] == ["finding"] and not scanned(settings, "fine").found


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "exit code 3"), ("print('oops')", "JSON"), ("time.sleep(60)", "in time"),
        ("os.kill(os.getpid(), 9)", "exit code -9"),
        ("print(json.dumps({'error': 'no'}))", "no list"), ("print('[' + ' ' * (5 << 20) + ']')", "longer than"),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_an_error(program, body, why):
    path = program("check", body)
    outcome = scanned(
        Settings("program", cache=0, options={"run": [path], "found": [], "findings": "[]"}), seconds=3.0 if "sleep" in body else 30
    )
    assert why in outcome.error and SECRET not in outcome.error


def test_a_program_that_is_missing_is_named_and_says_nothing_about_the_scanner():
    outcome = scanned(Settings("program", failures=1, options={"run": ["no-such-scanner"]}))
    assert "no-such-scanner was not found" in outcome.error and outcome.breaker == "closed"


def test_the_content_is_in_a_file_of_its_own_with_the_ending_of_its_language(program, tmp_path):
    note = tmp_path / "note"
    noted = "[files[-1], oct(os.stat(files[-1]).st_mode & 0o777), os.getcwd(), os.listdir('.'), text]"
    path = program("check", f"open({str(note)!r}, 'w').write(json.dumps({noted}))")
    settings = Settings("program", cache=0, options={"run": [path, "{file}"], "output": "none"})
    assert not scanned(settings, pieces=[Piece("code", "x = 1", "python")]).error
    file, mode, folder, beside, text = json.loads(note.read_text())
    assert file.endswith("content.py") and mode == "0o600" and beside == ["content.py"] and text == "x = 1"
    assert os.path.realpath(os.path.dirname(file)) == folder and not os.path.exists(file)


def test_what_a_program_starts_ends_with_it(program, tmp_path):
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(2); open({str(mark)!r}, 'w')"
    path = program("check", f"import subprocess\nsubprocess.Popen([sys.executable, '-I', '-c', {child!r}])\ntime.sleep(60)")
    assert "in time" in scanned(Settings("program", cache=0, options={"run": [path], "output": "none"}), seconds=1.0).error
    import time

    time.sleep(2.5)
    assert not mark.exists()
