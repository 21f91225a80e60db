"""What a rules file may contain: one table for the checks, the suggestions and the JSON Schema."""

from __future__ import annotations

from onehook.core import ASK_VIA, DECISIONS, Options, UsageError
from onehook.rules.levels import LEVELS, MODES, SEVERITIES
from onehook.rules.permissions import suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

# key: (type, what it is for). "strings" is one or a list; a tuple is a choice.
TOP: dict[str, tuple[Any, str]] = {
    "$schema": ("string", "the JSON Schema of this file, for editors"),
    "mode": (MODES, 'whether rules act ("enforce") or only record what they would do ("observe")'),
    "packs": ("list", 'ready-made rules: "recommended", "all", or names such as "git" and "cloud.aws"'),
    "domains": ("list", "domains that the network pack lets through"),
    "extends": ("strings", "other rules files to include, by path relative to this one; settings in this file win"),
    "self_protect": ("boolean", "whether the agent is kept from switching its policy off (default: true)"),
    "permissions": ("table", "what tools may do, as Tool(specifier)"),
    "levels": ("table", "a level for a pack or a rule, by name"),
    "policies": ("table", "ready-made policies in Python, with their options"),
    "rule": ("tables", "rules of your own"),
    "exception": ("tables", "what a rule lets through, with a reason and an end date"),
    "hook": ("tables", "programs in any language; docs/bring-your-own.md"),
    "model": ("table", "the model that decides for hooks with a prompt; docs/bring-your-own.md"),
    "fail": (Options.CHOICES["fail"], 'what happens on an error: "open" lets the action happen, "closed" blocks it'),
    "timeout": ("number", "seconds for the whole event"),
    "ask_fallback": ("fallback", "what ask becomes on agents that cannot ask; a table sets it per agent"),
    "ask_via": (ASK_VIA, "who asks a person: the agent, the desk if the agent cannot ask, or always the desk; docs/approvals.md"),
    "ask_wait": ("number", "the longest time that the desk waits for a person, in seconds"),
    "desk": ("table", "how the desk notifies people of a request; only in the user's own file"),
    "on_unsupported": (Options.CHOICES["on_unsupported"], "what to do if the agent does not support part of an answer"),
    "stop_limit": ("number", "how many times in a row a stop may be refused"),
    "pausable": ("boolean", "whether `onehook pause` applies to this file (default: true, but false for the machine's file)"),
    "log": ("log", 'whether decisions are logged; "required" makes a failure to log an error; a table sets more options'),
    "telemetry": ("table", "where the log is sent"),
}
DESK: dict[str, tuple[Any, str]] = {
    "notify": ("boolean", "whether to show a notification on this desktop (default: true)"),
    "link": ("string", "the address of the page where you answer, for use in messages: https://desk.example.com"),
    "ntfy": ("strings", "topics of ntfy: https://ntfy.sh/my-topic"),
    "slack": ("strings", "incoming webhooks of Slack, Mattermost, Discord (with /slack) and the like"),
    "webhook": ("strings", "addresses that the request is sent to as JSON"),
}
TELEMETRY: dict[str, tuple[Any, str]] = {
    "otlp": ("string", "an OpenTelemetry collector: http://localhost:4318 (OTLP over HTTP) or grpc://localhost:4317"),
}
LOG: dict[str, tuple[Any, str]] = {
    "write": (Options.CHOICES["log"], "the same as log = ... without a table"),
    "keep": ("number", "how many days to keep; older files are deleted"),
    "size": ("number", "size limit for all log files together, in MB; the oldest are deleted"),
    "content": ("boolean", "whether to log whole payloads, with credentials masked"),
}
PERMISSIONS: dict[str, tuple[Any, str]] = {
    "deny": ("list", "what is denied"),
    "ask": ("list", "what a person is asked about"),
    "allow": ("list", "what runs without asking"),
}
RULE: dict[str, tuple[Any, str]] = {
    "id": ("string", "the rule's name, for messages, [levels] and exceptions"),
    "reason": ("string", "why, and what to do instead: the model reads it"),
    "level": (LEVELS, "what a match does"),
    "mode": (MODES, "for this rule only"),
    "ask_via": (ASK_VIA, "for this rule only: who asks a person"),
    "severity": (SEVERITIES, "how bad it would be"),
    "tools": ("list", "the tools that the rule applies to; default: all that fit the other keys"),
    "command": ("strings", "command patterns; one of them must match (docs/command-patterns.md)"),
    "text": ("strings", "text in the command's arguments or input, in lower case; wildcards or <sql>"),
    "unless_via": ("strings", "wrappers behind which the rule does not apply"),
    "paths": ("strings", "files, as in permissions; ! excludes some"),
    "access": (("any", "read", "write"), "what kind of access to those files"),
    "urls": ("strings", "host names, or URLs if there is a slash; ! excludes some"),
    "mcp": ("strings", "MCP tools: mcp__server__tool, with wildcards"),
    "content": ("strings", "text that a change adds; wildcards"),
    "bytes": ("number", "matches changes with more text than this"),
    "matches": ("list", "commands, or Tool(argument), that the rule must match"),
    "passes": ("list", "commands, or Tool(argument), that the rule must not match"),
}
EXCEPTION: dict[str, tuple[Any, str]] = {
    "rule": ("string", "the rule, or the pack"),
    "command": ("strings", "patterns that must cover the whole command"),
    "path": ("string", "files, as in permissions"),
    "until": ("date", "the last day on which the exception applies"),
    "reason": ("string", "why"),
}
REQUIRED = {"rule": ("id", "reason"), "exception": ("rule", "reason")}


def problem_with(data: Mapping[str, Any], keys: Mapping[str, tuple[Any, str]], required: Collection[str] = ()) -> tuple[str, str] | None:
    """The key that is wrong in a table, and why; ("", why) for one that is missing."""
    for key, value in data.items():
        if key not in keys:
            return key, f"unknown key {key!r}{suggestion(key, keys) or '; the keys are ' + ', '.join(keys)}"
        if why := _type_problem(keys[key][0], value):
            return key, f"{key} {why}"
    missing = [key for key in required if key not in data]
    return ("", f"{missing[0]} is missing") if missing else None


def _type_problem(kind: Any, value: Any) -> str:
    if isinstance(kind, tuple):
        return "" if value in kind else f"must be one of {', '.join(kind)}, not {value!r}{suggestion(str(value), kind)}"
    strings = isinstance(value, list) and all(isinstance(item, str) and item for item in value)
    good = {
        "string": isinstance(value, str) and value != "",
        "strings": (isinstance(value, str) and value != "") or (strings and bool(value)),
        "list": strings,
        "number": isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0,
        "boolean": isinstance(value, bool),
        "date": hasattr(value, "isoformat") or (isinstance(value, str) and _is_date(value)),
        "table": isinstance(value, dict),
        "fallback": isinstance(value, dict) or value in DECISIONS,
        "log": isinstance(value, dict) or value in Options.CHOICES["log"],
        "tables": isinstance(value, list) and all(isinstance(item, dict) for item in value),
    }
    wanted = {
        "string": "a string", "strings": "a string or a list of strings", "list": "a list of strings", "number": "a number above 0",
        "boolean": "true or false", "date": "a date such as 2026-12-31", "table": "a table", "tables": "a list of tables",
        "fallback": f"one of {', '.join(DECISIONS)}, or a table",
        "log": f"one of {', '.join(map(str, Options.CHOICES['log']))}, or a table",
    }  # fmt: skip
    return "" if good[kind] else f"must be {wanted[kind]}"


def _is_date(text: str) -> bool:
    parts = text.split("-")
    return len(parts) == 3 and [len(part) for part in parts] == [4, 2, 2] and all(part.isdigit() for part in parts)


def line_of(text: str, table: str, number: int, key: str) -> int:
    """The line of a key: in the table of that name (the number-th of several), or of the table itself for "". 1 if it cannot be found."""
    inside, count, found = table == "", -1, 1
    for at, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("["):
            name = line.strip("[]# ").partition("]")[0].replace('"', "").replace("'", "").strip()
            same = name == table
            count += 1 if same else 0
            inside = same and (count == number or not line.startswith("[["))
            found = at if inside else found
            if inside and not key:
                return at
        elif inside and line.partition("=")[0].strip().strip("\"'") == key:
            return at
    return found


class WrongKey(UsageError):
    """Something in a rules file is wrong: in which line, and what."""

    def __init__(self, path: str, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")
        self.line, self.what = line, what


def complain(path: str, text: str, table: str, number: int, key: str, why: str) -> WrongKey:
    where = f"[[{table}]] {number + 1}: " if table in ("rule", "exception") else f"[{table}]: " if table else ""
    return WrongKey(path, line_of(text, table, number, key), f"{where}{why}")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rules file."""
    schema = _object_schema(TOP)
    properties = schema["properties"]
    properties["permissions"] = _object_schema(PERMISSIONS)
    properties["log"]["anyOf"][1] = _object_schema(LOG)
    properties["telemetry"] = _object_schema(TELEMETRY)
    properties["desk"] = _object_schema(DESK)
    properties["levels"] = {"type": "object", "additionalProperties": {"enum": list(LEVELS)}, "description": TOP["levels"][1]}
    properties["policies"] = {"type": "object", "additionalProperties": {"type": "object"}, "description": TOP["policies"][1]}
    properties["rule"]["items"] = _object_schema(RULE, REQUIRED["rule"])
    properties["exception"]["items"] = _object_schema(EXCEPTION, REQUIRED["exception"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "onehook rules", **schema}


def _object_schema(keys: Mapping[str, tuple[Any, str]], required: Collection[str] = ()) -> dict[str, Any]:
    strings: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    kinds: dict[str, dict[str, Any]] = {
        "string": {"type": "string"},
        "strings": {"anyOf": [{"type": "string"}, strings]},
        "list": strings,
        "number": {"type": "number", "exclusiveMinimum": 0},
        "boolean": {"type": "boolean"},
        "date": {"type": "string", "format": "date"},
        "table": {"type": "object"},
        "fallback": {"anyOf": [{"enum": list(DECISIONS)}, {"type": "object", "additionalProperties": {"enum": list(DECISIONS)}}]},
        "log": {"anyOf": [{"enum": list(Options.CHOICES["log"])}, {"type": "object"}]},
        "tables": {"type": "array", "items": {"type": "object"}},
    }
    properties = {
        key: {**({"enum": list(kind)} if isinstance(kind, tuple) else kinds[kind]), "description": about}
        for key, (kind, about) in keys.items()
    }
    out: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**out, "required": list(required)} if required else out
