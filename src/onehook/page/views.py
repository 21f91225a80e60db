"""What the page shows, as JSON data. Requests and log lines quote others: whatever they contain, this returns only strings and values that
are safe to show."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import stat
from collections.abc import Iterator
from typing import Any

from onehook.core import OnehookError
from onehook.desk import exceptions
from onehook.desk.answers import Asked
from onehook.desk.show import subject
from onehook.hostkit.config import Machine
from onehook.log.reader import Entry, outcome
from onehook.log.stats import fields_of, marks_of

_LONGEST = 100_000  # characters of one text
_LINES = 400  # of a diff
_PARTS = 50  # of a command
_TOLD = (
    "project",
    "cwd",
    "session",
    "agent",
    "model",
    "host",
    "host_version",
    "event",
    "tool",
    "native_tool",
    "command",
    "url",
    "prompt",
    "reason",
    "policy",
)


def text_of(value: Any) -> str:
    """Any value as a string of bounded length, which states how much was cut."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… and {len(text) - _LONGEST:,} more characters not shown"


def told_of(asked: Asked) -> dict[str, Any]:
    """A request, with everything that is needed to judge it except its state."""
    content = asked.content
    told: dict[str, Any] = {name: text_of(content.get(name)) for name in _TOLD}
    told |= {"id": asked.id, "digest": asked.digest, "asked": content["time"], "until": content["until"]}
    told |= {"title": asked.title, "subject": subject(asked)[:500], "input": text_of(content["input"])}
    told["by"] = [
        {name: text_of(one.get(name)) for name in ("kind", "name", "said", "reason", "severity", "file", "line")} for one in content["by"]
    ]
    told["parts"] = parts(told["command"], content["cwd"], content["policy"]) if told["tool"] in ("", "Bash") else []
    told["changes"] = [difference(one) for one in _listed(content.get("changes")) if isinstance(one, dict)]
    told["rewritable"] = "command" in _listed(content.get("rewritable"))
    told["exception"] = _exception(asked)
    return told


def _exception(asked: Asked) -> dict[str, Any]:
    """What an exception could be, to start from."""
    rules = [text_of(one["name"]) for one in exceptions.rules_of(asked)]
    return {"rules": rules, "suggested": exceptions.suggested(asked), "until": exceptions.default_until()}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- a command ----------------------------------------------------------------------------------------------------------------------


def parts(command: str, cwd: str, policy: str) -> list[dict[str, Any]]:
    """The simple commands of a line as the rules read them: each with the wrappers that run it, and the rules that match it."""
    from onehook.rules.judge import Line

    if not command:
        return []
    try:
        commands = Line(command).commands[:_PARTS]
        sources = [one.source.strip() for one in commands]
        said = list(_said(command, cwd, policy))
        return [
            {
                "command": text_of(" ".join(map(_word, one.argv))),
                "via": [text_of(word) for word in one.via],
                # Of `sudo git push`, read as that and as `git push`: with the last.
                "said": [words for part, words in said if part == sources[at] and part not in sources[at + 1 :]],
            }
            for at, one in enumerate(commands)
        ]
    except Exception:  # it is hostile text, and what cannot be explained can still be judged
        return []


def _word(word: str) -> str:
    """A word as it would be typed. What cannot be known before it runs is enclosed in NULs, with its name if it has one."""
    pieces = str(word).split("\0")
    if len(pieces) > 1:
        return "".join(piece if at % 2 == 0 else f"${piece}" if piece.isidentifier() else "…" for at, piece in enumerate(pieces))
    return str(word) if not set(str(word)) & set(" \t\n'\"\\;&|<>()$`") and word else shlex.quote(str(word))


def _said(command: str, cwd: str, policy: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rules that match a part of the command, if the policy is a rules file. No code of the policy is run."""
    from onehook.policy import holds_rules, is_manifest
    from onehook.rules.explain import sample_event
    from onehook.rules.judge import rulings
    from onehook.rules.load import load_rules

    try:
        source = _content(policy) if is_manifest(policy) else None
        if source is None or not holds_rules(source):
            return
        for ruling in rulings(load_rules(policy).table, sample_event(command, cwd)):
            if ruling.effect != "off":
                yield ruling.part, {"rule": text_of(ruling.rule), "record": text_of(ruling.record), "reason": text_of(ruling.reason)}
    except (OnehookError, OSError, ValueError):
        return


def _content(path: str) -> bytes | None:
    """Of a regular file that is not large."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return None
        with open(path, "rb") as file:
            return file.read(_LONGEST + 1)
    except (OSError, ValueError):
        return None


# --- a change of a file -------------------------------------------------------------------------------------------------------------


def difference(change: dict[str, Any]) -> dict[str, Any]:
    """A change as the lines of a diff, each with a sign and its text. What a completely new text replaces is read from the file."""
    path, kind, to = (text_of(change.get(name)) for name in ("path", "kind", "to"))
    old, new = (value if isinstance(value := change.get(name), str) else None for name in ("old", "new"))
    replaced = _content(path) if kind == "write" and old is None else None
    if replaced is not None:
        old = replaced.decode("utf-8", "replace")
    lines = list(_diff(old or "", new or "")) if old or new else []
    note = "the file is new" if kind == "write" and old is None and not os.path.lexists(path) else ""
    if len(lines) > _LINES:
        lines, note = lines[:_LINES], f"{len(lines) - _LINES:,} more lines are not shown"
    return {"path": path, "kind": kind, "to": to, "lines": lines, "note": note}


def _diff(old: str, new: str) -> Iterator[tuple[str, str]]:
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > 5000:  # difflib would take minutes
        yield from (("+", text_of(line)) for line in after)
        return
    for line in list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]:
        yield ("@", line) if line.startswith("@@") else (line[0], text_of(line[1:]))


# --- decisions ----------------------------------------------------------------------------------------------------------------------


def decision(entry: Entry) -> dict[str, Any]:
    """A line of the decision log."""
    names = ("time", "id", "agent", "project", "session", "event", "tool", "subject", "reason", "error", "approver", "policy", "mode")
    told: dict[str, Any] = {name: text_of(entry[name]) for name in names}
    marks = marks_of(fields_of(entry))
    told |= {"outcome": outcome(entry), "mark": marks[0] if marks else "other", "ms": entry["ms"]}
    told["by"] = [{name: text_of(one.get(name)) for name in ("kind", "name", "said", "reason")} for one in entry["by"]]
    told["dropped"] = [text_of(drop["text"]) for drop in entry["dropped"]]
    return told


def figures(since: str) -> dict[str, Any]:
    """The counts of `onehook stats` and of the report."""
    from onehook.log.reader import moment
    from onehook.report.data import report

    found = report(0, moment(since))
    return {name: found[name] for name in ("total", "days", "by_agent", "rules", "projects")}


# --- what is installed --------------------------------------------------------------------------------------------------------------


def policies(machine: Machine) -> dict[str, Any]:
    """What `onehook status` shows."""
    from onehook.pause import entries
    from onehook.setup.installed import absent_hosts, in_force, rows
    from onehook.setup.plan import config_of

    found = rows(machine)
    layers = in_force(found)
    return {
        "project": str(machine.project),
        "installed": [
            {
                "agent": config_of(row.host).TITLE, "scope": row.scope, "file": row.file, "policy": row.policy, "mode": row.mode,
                "fail": row.fail, "events": list(row.events), "rules": dict(row.rules), "note": row.note, "pinned": row.pinned,
            }
            for row in found
        ],
        "layers": [{"layer": one.layer, "file": one.file, "rules": None if one.rules is None else len(one.rules)} for one in layers],
        "without": [config_of(host).TITLE for host in absent_hosts(machine, found)],
        "paused": [{"rule": one["rule"], "reason": one["reason"], "until": one["until"]} for one in entries()],
    }  # fmt: skip


def health(machine: Machine) -> dict[str, Any]:
    """What `onehook doctor` finds. It runs the installed commands, so it takes seconds."""
    from onehook.setup.doctor import NOT_HERE, examine
    from onehook.setup.plan import configurable

    reports = list(examine(machine, configurable()))
    found = [
        {"agent": one.host, "file": one.where, "level": one.diagnosis.level, "what": one.diagnosis.what, "fix": one.diagnosis.fix}
        for one in reports
        if one.diagnosis is not NOT_HERE
    ]
    return {"findings": found, "absent": [one.host for one in reports if one.diagnosis is NOT_HERE]}
