"""The PIN: only its key signs, attempts are counted across all processes, and a broken file does not mean "no PIN"."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from onehook.desk import pin
from onehook.desk.requests import DeskError

CHEAP = 1 << 4


def test_the_pin_gives_the_key_and_the_file_does_not_hold_it():
    path = Path(pin.set_pin("correct horse", cost=CHEAP))
    key = pin.unlock("correct horse")
    assert pin.is_set() and key.public == pin.public_key()
    text = path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and "horse" not in text and key._seed.hex() not in text


@pytest.mark.parametrize("bad", ["", "1234", "111111", "123456", "fedcba"])
def test_a_pin_that_anyone_would_try_is_refused(bad):
    with pytest.raises(DeskError, match="PIN"):
        pin.set_pin(bad, cost=CHEAP)
    assert not pin.is_set()


def test_after_three_wrong_pins_one_has_to_wait_even_with_the_right_one(monkeypatch):
    pin.set_pin("correct horse", cost=CHEAP)
    for _ in range(3):
        with pytest.raises(pin.WrongPin):
            pin.unlock("wrong horse")
    with pytest.raises(pin.TooManyTries, match="try again in"):
        pin.unlock("correct horse")
    later = time.time() + 1000
    monkeypatch.setattr(time, "time", lambda: later)
    assert pin.unlock("correct horse").public == pin.public_key()
    with pytest.raises(pin.WrongPin):  # the count has started again
        pin.unlock("wrong horse")


@pytest.mark.parametrize("damage", ["content", "mode", "link"])
def test_a_file_that_cannot_be_used_lets_nobody_in(damage, tmp_path):
    path = Path(pin.set_pin("correct horse", cost=CHEAP))
    if damage == "content":
        path.write_text("{", encoding="utf-8")
    elif damage == "mode":
        path.chmod(0o644)
    else:
        os.replace(path, tmp_path / "pin")
        path.symlink_to(tmp_path / "pin")
    assert pin.is_set() and pin.public_key() == pin.UNREADABLE
    with pytest.raises(DeskError, match="set the PIN again"):
        pin.unlock("correct horse")


def test_the_machines_pin_wins_and_must_be_roots(monkeypatch, tmp_path):
    machine = tmp_path / "etc"
    monkeypatch.setattr(pin, "managed_folder", lambda: str(machine))
    pin.set_pin("correct horse", cost=CHEAP)
    mine = pin.public_key()
    path = Path(pin.set_pin("battery staple", machine=True, cost=CHEAP))
    if os.getuid() == 0:
        assert pin.public_key() not in ("", mine, pin.UNREADABLE) and pin.unlock("battery staple")
    path.chmod(0o666)
    assert pin.public_key() == pin.UNREADABLE
