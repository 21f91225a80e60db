"""The person's key: derived from a PIN that only the person knows, and checked with data that anyone may read.

scrypt makes a secret of the PIN, and the secret is an Ed25519 key. On disk are the salt and the public key alone: with these an answer can
be checked and not given. Someone who has the file can try PINs against it, at a third of a second each: a PIN has six characters at least.

A PIN for the whole machine lies beside the machine's rules file. Then it is that one which counts, and the agent cannot put its own there.
"""

from __future__ import annotations

import os
import sys
import time

from onehook.codec import dumps
from onehook.desk.requests import PIN, DeskError, folder, make_folder, parsed, read
from onehook.lock import Lock
from onehook.places import managed_folder, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHORTEST = 6
UNREADABLE = "unreadable"  # instead of a public key: no answer fits it
COST = 1 << 17  # of scrypt, with blocks of 8: 128 MB, and a third of a second
_FREE_TRIES = 3  # wrong PINs before one has to wait
_LONGEST_WAIT = 900  # seconds
WRONG = "wrong PIN"


class WrongPin(DeskError):
    """It is not the PIN."""


class TooManyTries(DeskError):
    """Too many wrong PINs: wait."""


class Key:
    """What a person's answers are signed with."""

    __slots__ = ("_seed", "public")

    def __init__(self, seed: bytes) -> None:
        from onehook.desk.signature import public_of

        self._seed = seed
        self.public = public_of(seed).hex()

    def sign(self, message: bytes) -> str:
        from onehook.desk.signature import sign

        return sign(self._seed, message).hex()


def places() -> tuple[str, str]:
    """Where a PIN may be set: for the whole machine, which wins, and for this user."""
    return os.path.join(managed_folder(), PIN), f"{folder()}/{PIN}"


def public_key() -> str:
    """What answers are checked with; "" if no PIN is set."""
    return str(_stored().get("public", ""))


def is_set() -> bool:
    return bool(_stored())


def _stored() -> dict[str, Any]:
    for path in places():
        if os.path.lexists(path):
            data = parsed(_machine(path) if path == places()[0] else read(path))
            # An unusable file does not mean "no PIN": otherwise damaging the file would remove the PIN.
            return data if _is_usable(data) else {"public": UNREADABLE}
    return {}


def _is_usable(data: dict[str, Any]) -> bool:
    return isinstance(data.get("salt"), str) and isinstance(data.get("public"), str) and isinstance(data.get("cost"), int)


def _machine(path: str) -> bytes | None:
    """The machine's file, which everyone may read and only root may write."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            return file.read(4096) if sys.platform == "win32" or (status.st_uid == 0 and not status.st_mode & 0o022) else None
    except OSError:
        return None


# --- what a person's side does ----------------------------------------------------------------------------------------------------


def unlock(pin: str) -> Key:
    """The key, if this is the PIN. Tries are counted for all processes together."""
    stored = _stored()
    if not stored:
        raise DeskError("no PIN is set: run `onehook approve --set-pin`")
    if stored["public"] == UNREADABLE:
        raise DeskError(f"the PIN file is damaged, or others can write to it ({' or '.join(places())}): set the PIN again")
    tries = f"{folder()}/tries"
    with Lock(f"{tries}.lock", 30):
        wrong, since = _tries(tries)
        wait = since + min(2.0 ** (wrong - _FREE_TRIES), _LONGEST_WAIT) - time.time() if wrong >= _FREE_TRIES else 0
        if wait > 0:
            raise TooManyTries(f"{wrong} wrong PINs: try again in {int(wait) + 1} s")
        # Counted before it is tried: who ends the process half-way has used up a try.
        replace_file(tries, f"{wrong + 1} {time.time()}\n".encode(), 0o600)
        key = _key_of(pin, bytes.fromhex(stored["salt"]), stored["cost"])
        if key.public != stored["public"]:
            raise WrongPin(WRONG)
        os.unlink(tries)
    return key


def keep_private() -> None:
    """Of a process that has the key: no other process of the user may look into its memory. (Linux; elsewhere nothing is done.)"""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def _tries(path: str) -> tuple[int, float]:
    words = (read(path) or b"").split()
    try:
        return int(words[0]), float(words[1])
    except (IndexError, ValueError):
        return 0, 0.0


def problem_with(pin: str) -> str:
    """Why this cannot be a PIN; "" if it can."""
    if len(pin) < SHORTEST:
        return f"a PIN must have at least {SHORTEST} characters"
    steps = {ord(b) - ord(a) for a, b in zip(pin, pin[1:])}
    return "a PIN such as 111111 or 123456 is too easy to guess" if len(steps) == 1 and abs(min(steps)) <= 1 else ""


def set_pin(pin: str, *, machine: bool = False, cost: int = COST) -> str:
    """Set a new PIN; returns the file. The caller must have made sure that a person asks for it."""
    if problem := problem_with(pin):
        raise DeskError(problem)
    salt = os.urandom(16)
    path = places()[0 if machine else 1]
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    content = {"salt": salt.hex(), "cost": cost, "public": _key_of(pin, salt, cost).public, "set": made}
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True) if machine else make_folder()
    replace_file(path, dumps(content).encode("ascii") + b"\n", 0o644 if machine else 0o600)
    return path


def _key_of(pin: str, salt: bytes, cost: int) -> Key:
    from hashlib import scrypt

    return Key(scrypt(pin.encode("utf-8"), salt=salt, n=cost, r=8, p=1, maxmem=1 << 28, dklen=32))
