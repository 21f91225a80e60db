"""The list of what a policy is made of, and what has changed since it was pinned. For `install --pin` and `onehook trust`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.core import PinError, UsageError
from onehook.jsonc import read_jsonc
from onehook.pins import FOLDER, verify
from onehook.places import state_folder
from onehook.setup.files import FileEdit
from onehook.setup.policy_files import files_of
from onehook.system import digest
from onehook.textedit.document import content_of

if TYPE_CHECKING:
    from onehook.setup.plan import Plan

_MOST = 1 << 18  # the size in bytes up to which a copy of a file is kept, to show what has changed


def _in_place(file: str) -> str:
    return file


def listed(policy: Path, moved: Callable[[str], str] = _in_place) -> bytes:
    """The list of a policy and of everything that it loads, as sha256sum writes it. Paths in it start from the policy's folder.

    moved: where each file is going to be, of a policy that is about to be copied.
    """
    lines = []
    for file in files_of(str(policy)):
        name = os.path.relpath(moved(file), os.path.dirname(moved(str(policy)))).replace(os.sep, "/")
        if "\n" in name:
            raise UsageError(f"{file!r} cannot be pinned: its name has a line break")
        try:
            lines.append(f"{digest(Path(file).read_bytes())}  {name}\n")
        except OSError as error:
            raise UsageError(f"{file} cannot be pinned: {error.strerror}") from None
    return "".join(lines).encode("utf-8", "surrogateescape")


def pin_of(policy: Path, moved: Callable[[str], str] = _in_place) -> str:
    return digest(listed(policy, moved))


def lists_beside(launcher: Path) -> Path:
    """Where a launcher looks for the lists: next to a copy of the runtime, or else in the user's state."""
    return Path(state_folder()) / FOLDER if launcher.suffix == ".py" else launcher.parent / FOLDER


def plan_list(plan: Plan, policy: Path, pin: str, launcher: Path, moved: Callable[[str], str] = _in_place) -> None:
    """Plan to write the list that an entry with this pin needs. moved: as in `listed`."""
    content = listed(policy, moved)
    if digest(content) != pin:
        raise UsageError(f"{policy}, or a file that it loads, is being changed right now; nothing was written")
    folder = lists_beside(launcher)
    path = folder / pin
    plan.add(FileEdit(path, content_of(path) if path.is_file() else None, content, kind="pin"), folder)
    plan.copies[pin] = Path(moved(str(policy)))


# ---- copies, to show what has changed


def keep_copy(policy: Path, pin: str) -> None:
    """Keep what was pinned, as far as it is text."""
    texts: dict[str, str] = {}
    for line in listed(policy).decode("utf-8", "surrogateescape").splitlines():
        name = line.partition("  ")[2]
        content = (policy.parent / name).read_bytes()
        if len(content) <= _MOST and b"\0" not in content:
            texts[name] = content.decode("utf-8", "replace")
    folder = Path(state_folder()) / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(os.open(folder / f"{pin}.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(texts, file)


def changes(policy: Path, pin: str, launcher: Path) -> Iterator[tuple[str, FileEdit | None]]:
    """What has changed since a policy was pinned: a line for each file, and the edit if its old text is known."""
    before = _lines(_list(pin, launcher))
    after = _lines(listed(policy))
    texts = read_jsonc(Path(state_folder()) / FOLDER / f"{pin}.json")
    if not before:
        yield "the list of pinned files was deleted or changed", None
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) == after.get(name):
            continue
        path = policy.parent / name
        what = "is new" if name not in before else "is no longer loaded, or was deleted" if name not in after else "has changed"
        new = path.read_bytes() if name in after else None
        old = texts[name].encode() if name in texts else None
        yield f"{os.path.normpath(path)} {what}", FileEdit(path, old, new) if old is not None or name not in before else None


def _list(pin: str, launcher: Path) -> bytes:
    try:
        content = (lists_beside(launcher) / pin).read_bytes()
    except OSError:
        return b""
    return content if digest(content) == pin else b""


def _lines(content: bytes) -> dict[str, str]:
    pairs = (line.partition("  ")[::2] for line in content.decode("utf-8", "surrogateescape").splitlines())
    return {name: found for found, name in pairs}


def problem(policy: Path, pin: str, launcher: Path) -> str:
    try:
        verify(os.path.abspath(policy), pin, str(lists_beside(launcher)))
        return "" if pin_of(policy) == pin else f"{policy} loads files that were not pinned"
    except (PinError, UsageError) as error:
        return str(error)
