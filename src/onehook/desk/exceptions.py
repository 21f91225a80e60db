"""An answer that counts for longer: an [[exception]] in a rules file, shown before it is written."""

from __future__ import annotations

import difflib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.core import UsageError
from onehook.desk.answers import Asked
from onehook.desk.requests import DeskError
from onehook.places import config_folder
from onehook.rules.compile import compile_layers
from onehook.textedit.document import ConfigError, Document

DAYS = 7  # until an exception ends, if the person names no date
LONGEST = 366


@dataclass(frozen=True)
class Draft:
    """What would be written: the file, the lines that are added, and the whole text before and after."""

    path: Path
    added: str
    before: bytes | None
    after: bytes


def rules_of(asked: Asked) -> list[dict[str, Any]]:
    """The rules that ask, and that can have exceptions: those of packs and of rules files. Python policies have none."""
    return [one for one in asked.content["by"] if one["kind"] == "rule" and one["said"] == "ask" and "exception" not in one]


def suggested(asked: Asked) -> str:
    """A pattern for exactly the requested command; "" if it has to be written by hand."""
    command = asked.content["command"]
    return "" if set(command) & set("*?<>|&;$`\n\\\"'(){}!") else " ".join(command.split())


def default_until() -> str:
    return time.strftime("%Y-%m-%d", time.localtime(time.time() + DAYS * 24 * 3600))


def draft(asked: Asked, rule: str, *, command: str = "", path: str = "", until: str = "", reason: str = "") -> Draft:
    """The exception for a rule; DeskError if it cannot be, with the reason. `command`: a pattern; `path`: files, as in permissions."""
    said = next((one for one in rules_of(asked) if one["name"] == rule), None)
    if said is None:
        raise DeskError(f"{rule} is not the rule that asked; exceptions are possible only for rules of packs and rules files")
    if not command and not path:
        raise DeskError("an exception must name the command or the files that it is for")
    file = _file_for(said)
    item = {"rule": rule, **({"command": command} if command else {"path": path})}
    item |= {"until": _checked(until or default_until()), "reason": reason or f"approved in request {asked.id}"}
    try:
        document = Document(file, "toml")
        before = document.before
        document.append(("exception",), item)
    except ConfigError as error:
        raise DeskError(str(error)) from None
    after = document.after
    lines = difflib.ndiff((before or b"").decode().splitlines(), after.decode().splitlines())
    return Draft(file, "\n".join(line[2:] for line in lines if line.startswith("+ ")).strip(), before, after)


def _file_for(said: dict[str, Any]) -> Path:
    """The user's own file; for a rule that is not of a pack, the file that has the rule, since the name means nothing elsewhere."""
    own = Path(config_folder(), "onehook.toml")
    if said.get("pack"):
        return own
    file = Path(str(said.get("file", "")))
    try:
        rules = Document(file, "toml").data().get("rule", [])
        known = file.suffix == ".toml" and any(isinstance(one, dict) and one.get("id") == said["name"] for one in rules)
    except (ConfigError, OSError, AttributeError):
        known = False
    if not known:
        raise DeskError(f"{file} does not have the rule {said['name']}")
    return file


def _checked(until: str) -> str:
    try:
        end = time.mktime(time.strptime(until, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise DeskError(f"{until!r} is not a date such as {default_until()}") from None
    if not -24 * 3600 < end - time.time() < LONGEST * 24 * 3600:
        raise DeskError(f"{until} is in the past, or more than a year away")
    return until


def write(made: Draft) -> None:
    """Write it, if the file has not changed since the draft was made and the result is a rules file that loads."""
    path = made.path
    before = path.read_bytes() if path.exists() else None
    if before != made.before:
        raise DeskError(f"{path} was changed in the meantime; nothing was written")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if before is not None else 0o600
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(made.after)
        compile_layers([("project", str(temporary))])
        os.replace(temporary, path)
    except UsageError as error:
        raise DeskError(f"nothing was written: {str(error).replace(str(temporary), str(path))}") from None
    finally:
        temporary.unlink(missing_ok=True)
