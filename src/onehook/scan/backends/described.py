"""Any scanner with an HTTP API that takes and returns JSON: options describe the request and where the verdict is."""

from __future__ import annotations

from onehook.scan.backends import paths
from onehook.scan.model import ScanError, Verdict
from onehook.scan.transport import exchange, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.scan.model import Sample
    from onehook.scan.settings import Settings

OPTIONS = {
    "headers": "headers of the request; ${NAME} stands for a variable of the environment, and ${key} for the key",
    "body": "the JSON of the request; {text}, {kind}, {gate}, {language} and {session} in its strings are filled in",
    "id": "the path of the id of a scan",
    **paths.OPTIONS,
}
REQUIRED = ("url", "body")
URL = ""
KEY_ENV = ""
MAX_CHARS = 100_000
BAD_SAMPLE = ""


def scan(settings: Settings, sample: Sample, deadline: float) -> Verdict:
    given = settings.options
    values = {"text": sample.text, "kind": sample.kind, "gate": sample.gate, "language": sample.language, "session": sample.session}
    headers = {str(name): _from_environment(str(value), settings) for name, value in (given.get("headers") or {}).items()}
    answer = exchange(settings, deadline, "", _filled(given["body"], values), headers)
    ids = paths.picked(answer, given.get("id") or "-")
    return Verdict(paths.findings(answer, given, sample.text), str(ids[0]) if ids else "")


def _filled(template: Any, values: dict[str, str]) -> Any:
    if isinstance(template, dict):
        return {name: _filled(inner, values) for name, inner in template.items()}
    if isinstance(template, list):
        return [_filled(inner, values) for inner in template]
    if not isinstance(template, str):
        return template
    parts = template.split("{")  # in one pass, so that a value that contains {kind} is not changed
    filled = parts[0]
    for part in parts[1:]:
        name, brace, rest = part.partition("}")
        filled += values[name] + rest if brace and name in values else "{" + part
    return filled


def _from_environment(value: str, settings: Settings) -> str:
    import os

    parts = value.split("${")
    filled = parts[0]
    for part in parts[1:]:
        name, brace, rest = part.partition("}")
        found = key_of(settings) if name == "key" else os.environ.get(name, "")
        if not brace or not found:
            raise ScanError(f"a header of the scanner needs {name}, which is not set", counts=False)
        filled += found + rest
    return filled
