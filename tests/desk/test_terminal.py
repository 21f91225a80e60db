"""`onehook approve`: what it shows, that nothing in it can move the cursor, and its keys in a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import sys
import time

import pytest
from click.testing import CliRunner
from harness import PATIENCE, clean_environment

from onehook.cli import main
from onehook.desk import answers, exceptions
from onehook.desk.people import agent_above, processes_above
from onehook.desk.requests import DeskError
from onehook.desk.show import cut, details, plain, subject, width_of
from onehook.desk.terminal import List
from tests.desk.person import PIN
from tests.desk.test_hold import passes

HOSTILE = "echo \x1b[2J\x1b]0;x\x07 \r‮gnp.x\u200b\n\x9b31m"
inside_an_agent = pytest.mark.skipif(
    bool(agent_above({}, processes_above())), reason="an agent runs these tests, so that no person can be shown to be let through"
)


class Typist:
    """A person at their own terminal."""

    def __init__(self, *arguments, home):
        environment = {**clean_environment(), "HOME": str(home), "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
        environment["ONEHOOK_STATE_DIR"] = os.environ["ONEHOOK_STATE_DIR"]
        self.shown = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            words = [sys.executable, "-I", "-m", "onehook", "approve", *arguments]
            os.execve(words[0], words, environment)

    def until(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.shown and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.shown += os.read(self.terminal, 1 << 16).decode("utf-8", "replace")
                except OSError:
                    break
        assert text in self.shown, self.shown
        self.shown = self.shown.partition(text)[2]

    def types(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        try:
            while os.read(self.terminal, 1 << 16):
                pass
        except OSError:
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


@pytest.mark.parametrize("text", [HOSTILE, "\x00", "\x7f\x80", "\u2066", "\ud800", "ok"])
def test_every_character_is_seen(text):
    assert plain(text).isprintable() and plain("ok") == "ok"


def test_no_line_of_the_screen_is_longer_than_the_terminal_or_has_a_control_character(hook):
    waiting = hook(HOSTILE)
    waiting.asked()
    screen = List(None, "ana")
    screen.look()
    for columns in (40, 81, 200):
        for line in screen.lines(columns, 24):
            bare = re.sub(r"\x1b\[\d*m", "", line)
            assert bare.isprintable() and width_of(bare) <= columns, bare
    (asked,) = screen.asked
    assert "\\x1b[2J" in subject(asked) and any("\\u{202e}" in line for line in details(asked))
    assert width_of(cut("日本語テキスト", 7)) <= 7


@inside_an_agent
def test_without_a_pin_a_person_at_a_terminal_answers_by_keys(hook, tmp_path):
    first = hook("git push")
    first.asked()
    person = Typist(home=tmp_path)
    person.until("git push")
    person.types("a")
    assert passes(first.result())
    second = hook("git pull")
    person.until("git pull")
    person.types("d")
    person.until("Message for the model:")
    person.types("not on a Friday\n")
    assert "A person denied this: not on a Friday" in second.result().stdout
    third = hook("git fetch")
    person.until("git fetch")
    person.types("s")
    person.until("needs a PIN")
    person.types("r")
    person.until("Run instead: ")
    person.types(" --dry-run\n")
    assert "git fetch --dry-run" in third.result().stdout
    person.until("no open requests")
    person.types("q")
    assert person.end() == 0


@inside_an_agent
def test_with_a_pin_the_pin_is_asked_for_and_a_wrong_one_answers_nothing(hook, key, tmp_path):
    waiting = hook("git push")
    asked = waiting.asked()
    wrong = Typist(asked.id, home=tmp_path)
    wrong.until("PIN:")
    wrong.types("guessed\n")
    wrong.until("wrong PIN")
    assert wrong.end() == 1 and answers.one(asked.id).state == "waiting"
    person = Typist("--deny", asked.id[:12], "no", home=tmp_path)
    person.until("git push")
    person.until("PIN:")
    person.types(f"{PIN}\n")
    person.until("denied: the agent continues")
    assert person.end() == 0 and not passes(waiting.result())


@inside_an_agent
def test_a_pin_is_set_and_changed_only_with_the_one_before(tmp_path):
    for before, new in (("", "battery staple"), ("battery staple", "other words")):
        person = Typist("--set-pin", home=tmp_path)
        if before:
            person.until("Current PIN")
            person.types(f"{before}\n")
        person.until("New PIN")
        person.types(f"{new}\n")
        person.until("Again")
        person.types(f"{new}\n")
        person.until("The PIN is set")
        assert person.end() == 0
    from onehook.desk import pin

    assert pin.unlock("other words").public == pin.public_key()


def test_an_agent_cannot_answer_by_the_command_line(hook):
    asked = hook().asked()
    done = CliRunner().invoke(main, ["approve", asked.id])
    assert done.exit_code == 1 and "only a person can run onehook approve" in done.output
    assert answers.one(asked.id).state == "waiting"


def test_what_is_asked_can_be_listed_by_scripts(hook):
    assert json.loads(CliRunner().invoke(main, ["approve", "--json"]).output) == []
    asked = hook("git push").asked()
    (listed,) = json.loads(CliRunner().invoke(main, ["approve", "--json"]).output)
    assert (listed["id"], listed["command"], listed["state"]) == (asked.id, "git push", "waiting")
    assert "git push" in CliRunner().invoke(main, ["approve", "--list"]).output
    assert "is this right?" in CliRunner().invoke(main, ["approve", "--show", asked.id]).output
    assert "there is no request 'x'" in CliRunner().invoke(main, ["approve", "--show", "x"]).output


# --- exceptions


@pytest.fixture
def ruled(hook, monkeypatch, tmp_path):
    """A request made by a rule of a pack, and the user's own rules file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    policy = tmp_path / "onehook.toml"
    policy.write_text(
        'ask_via = "desk-always"\npacks = ["git"]\n[levels]\ngit = "ask"\n'
        '[[rule]]\nid = "mine"\nreason = "no"\nlevel = "ask"\ncommand = "rm"\n'
    )
    return lambda command: hook(command, policy=policy).asked()


def test_an_exception_is_shown_and_then_written_and_lifts_the_rule(ruled, hook, tmp_path):
    asked = ruled("git push --force origin mine")
    (rule,) = exceptions.rules_of(asked)
    made = exceptions.draft(asked, rule["name"], command=exceptions.suggested(asked), reason="my branch")
    own = tmp_path / "config" / "onehook" / "onehook.toml"
    assert made.path == own and not own.exists() and 'command = "git push --force origin mine"' in made.added
    exceptions.write(made)
    assert own.read_bytes() == made.after
    assert passes(hook("git push --force origin mine", "--ask-wait", "0.1", policy=tmp_path / "onehook.toml").result())
    assert not passes(hook("git push --force origin other", "--ask-wait", "0.1", policy=tmp_path / "onehook.toml").result())
    with pytest.raises(DeskError, match="changed in the meantime"):
        exceptions.write(made)


def test_an_exception_for_a_rule_of_a_file_goes_into_that_file(ruled, tmp_path):
    asked = ruled("rm x")
    made = exceptions.draft(asked, "mine", command="rm x")
    assert made.path == tmp_path / "onehook.toml"
    for bad in ({"command": "<nonsense"}, {"command": "rm", "until": "tomorrow"}, {"command": "rm", "until": "2001-01-01"}, {}):
        with pytest.raises(DeskError):
            exceptions.write(exceptions.draft(asked, "mine", **bad))
    with pytest.raises(DeskError):
        exceptions.draft(asked, "git.push-force", command="rm")
    assert "exception" not in made.path.read_text(encoding="utf-8")
