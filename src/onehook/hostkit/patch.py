"""The changes inside an apply_patch text ("*** Begin Patch" ...), several files at once."""

from __future__ import annotations

from onehook.core import Change, PayloadError

_FILE_HEADERS = (("*** Add File: ", "add"), ("*** Delete File: ", "delete"), ("*** Update File: ", "update"))
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"


def changes_of_patch(text: str) -> list[Change]:
    """One Change per added, deleted or moved file and per hunk of an updated one."""
    changes: list[Change] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        kind, path = _header(lines[at])
        at += 1
        if not kind:
            continue
        body: list[str] = []
        quoted: list[Change] = []
        # Only a line that opens another file ends this one, so that a hunk that quotes "*** End Patch" hides nothing after it.
        while at < len(lines):
            opened, other = _header(lines[at])
            if opened and not (kind == "update" and lines[at].startswith(" ")):
                break
            if opened:  # a context line that looks like a header: this file's text, but that file is reported too, to be safe
                quoted.append(Change(other, "edit", "", ""))
            body.append(lines[at].rstrip("\r"))
            at += 1
        changes += _file_changes(kind, path, body) + quoted
    if not changes and text.strip():
        raise PayloadError("apply_patch: no file could be read out of the patch")
    return changes


def _header(line: str) -> tuple[str, str]:
    stripped = line.strip()  # the host's own parser trims these lines too
    for prefix, kind in _FILE_HEADERS:
        if stripped.startswith(prefix):
            return kind, stripped[len(prefix) :].strip()
    return "", ""


def _file_changes(kind: str, path: str, body: list[str]) -> list[Change]:
    if kind == "delete":
        return [Change(path, "delete")]
    if kind == "add":
        return [Change(path, "write", None, "".join(line[1:] + "\n" for line in body if line.startswith("+")))]
    changes: list[Change] = []
    if body and body[0].strip().startswith(_MOVE):
        target = body[0].strip()[len(_MOVE) :].strip()
        changes.append(Change(path, "move", to=target))
        path = target
    return changes + [Change(path, "edit", old, new) for old, new in _hunks(body)] or [Change(path, "edit", "", "")]


def _hunks(body: list[str]) -> list[tuple[str, str]]:
    hunks: list[tuple[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    blank = 0  # empty lines are context, unless they are between hunks

    def close() -> None:
        if old or new:
            hunks.append(("".join(old), "".join(new)))
            old.clear()
            new.clear()

    for line in body:
        if line[:1] in ("+", "-", " "):
            old.extend("\n" * blank)
            new.extend("\n" * blank)
        blank = blank + 1 if not line and (old or new) else 0
        if line.startswith("@@"):
            close()
        elif line.startswith("-"):
            old.append(line[1:] + "\n")
        elif line.startswith("+"):
            new.append(line[1:] + "\n")
        elif line.startswith(" "):
            old.append(line[1:] + "\n")
            new.append(line[1:] + "\n")
        elif line.strip() == _END_OF_FILE:
            close()
    close()
    return hunks
