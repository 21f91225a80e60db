"""A local program as the scanner: gitleaks, semgrep, ggshield, detect-secrets, yara, or your own.

It gets the content on stdin, or in a separate file if its arguments contain {file}. It is started without a shell, in an empty folder (a
settings file in the project could make it ignore things), and ended at the deadline, together with every process that it has started.
"""

from __future__ import annotations

import os
import time

from onehook.codec import loads
from onehook.core import PayloadError
from onehook.scan.backends import paths
from onehook.scan.model import Found, ScanError, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.scan.model import Sample
    from onehook.scan.settings import Settings

OPTIONS = {
    "run": "the program and its arguments, as a list; {file} stands for a file with the content, and {config} for the option config",
    "config": "a file that the program uses: rules, settings",
    "arguments": "more arguments, as a list",
    "output": '"json" (default), "lines" (the first word of each is a category) or "none" (the exit code alone counts)',
    "clean": "the exit codes that mean that nothing was found (default: [0])",
    "found": "the exit codes that mean that something was found (default: [1]); any other is an error",
    **paths.OPTIONS,
}
REQUIRED = ("run",)
URL = ""
KEY_ENV = ""
MAX_CHARS = 1_000_000
MAX_OUTPUT = 4 << 20
BAD_SAMPLE = ""

PRESETS: dict[str, dict[str, Any]] = {
    "gitleaks": {
        # By default its exit code for a leak is the same as for an error.
        "run": ["gitleaks", "stdin", "--no-banner", "--report-format", "json", "--report-path", "-", "--exit-code", "77"],
        "found": [77],
        "findings": "[]",
        "category": "RuleID",
        "text": "Secret",
    },
    "semgrep": {
        "run": ["semgrep", "scan", "--json", "--quiet", "--metrics", "off", "--config", "{config}", "{file}"],
        "found": [],
        "findings": "results[]",
        "category": "check_id",
        "start": "start.offset",
        "end": "end.offset",
    },
    "ggshield": {
        "run": ["ggshield", "secret", "scan", "path", "--json", "--yes", "--show-secrets", "{file}"],
        "findings": "entities_with_incidents[].incidents[]",
        "category": "type",
        "text": "occurrences[].match",
    },
    "detect-secrets": {
        "run": ["detect-secrets", "scan", "--all-files", "{file}"],
        "found": [],
        "findings": "results[][]",
        "category": "type",
    },
    "yara": {"run": ["yara", "{config}", "{file}"], "found": [], "output": "lines"},
}


def scan(settings: Settings, sample: Sample, deadline: float) -> Verdict:
    given = {"clean": [0], "found": [1], **PRESETS.get(settings.backend, {}), **settings.options}
    code, output = _run(given, sample, deadline)
    if code not in (*given["clean"], *given["found"]):
        raise ScanError(f"{given['run'][0]} ended with exit code {code}")
    if given["found"] and code not in given["found"]:
        return Verdict()
    found = _read(given, output, sample)
    return Verdict(found or ([Found("finding")] if code in given["found"] else []))


def _read(given: dict[str, Any], output: str, sample: Sample) -> list[Found]:
    form = given.get("output", "json")
    if form == "none" or not output.strip():
        return []
    if form == "lines":
        return [Found(name) for name in dict.fromkeys(line.split()[0] for line in output.splitlines() if line.strip())]
    try:
        return paths.findings(loads(output), given, sample.text)
    except PayloadError:
        raise ScanError(f"{given['run'][0]} did not print JSON") from None


def _run(given: dict[str, Any], sample: Sample, deadline: float) -> tuple[int, str]:
    from shutil import which
    from tempfile import TemporaryDirectory

    words = [str(word) for word in [*given["run"], *given.get("arguments", ())]]
    program = which(os.path.expanduser(words[0]))
    if program is None:
        raise ScanError(f"the program {words[0]} was not found", counts=False)
    if "{config}" in words and not given.get("config"):
        raise ScanError(f"{words[0]} needs options.config", counts=False)
    with TemporaryDirectory(prefix="onehook-scan-") as folder:
        path = os.path.join(folder, f"content.{_ending(sample.language)}")
        filled = [word.replace("{file}", path).replace("{config}", os.path.expanduser(str(given.get("config", "")))) for word in words[1:]]
        data = sample.text.encode("utf-8", "backslashreplace")
        if filled != words[1:] and any("{file}" in word for word in words):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            data = b""
        return _finished([os.path.abspath(program), *filled], data, folder, deadline)


def _finished(words: list[str], data: bytes, folder: str, deadline: float) -> tuple[int, str]:
    import subprocess

    name = os.path.basename(words[0])
    own = {"start_new_session": True} if os.name == "posix" else {}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=folder, **own)  # type: ignore[call-overload]
    except OSError as error:
        raise ScanError(f"{name} cannot be started: {error.strerror}", counts=False) from None
    try:
        output, _ = process.communicate(data, max(0.01, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise ScanError(f"{name} did not finish in time") from None
    finally:
        _end(process)
    if len(output) > MAX_OUTPUT:
        raise ScanError(f"the output of {name} is longer than {MAX_OUTPUT >> 20} MB")
    return process.returncode, output.decode("utf-8", "replace")


def _end(process: Any) -> None:
    """End the process, and every process that it has started."""
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):
        pass
    if process.poll() is None:
        process.kill()
        process.wait()
    process.stdin.close()
    process.stdout.close()


# The names of languages in fences and files for which a program expects another file extension.
_ENDINGS = {"python": "py", "javascript": "js", "typescript": "ts", "ruby": "rb", "rust": "rs", "bash": "sh", "shell": "sh", "yaml": "yml"}


def _ending(language: str) -> str:
    ending = _ENDINGS.get(language, language)
    return ending if ending.isalnum() and ending.isascii() and len(ending) <= 10 else "txt"
