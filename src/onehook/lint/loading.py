"""Runs the policy in separate processes, to describe it, run it on sample events, and time it. It is never imported here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from onehook.core import OnehookError
from onehook.lint import child
from onehook.lint.model import Handler, Policy, Shape
from onehook.setup.command import interpreter

PATIENCE = 30  # seconds after which a policy that is being loaded or run counts as hung
_RUNS = 3  # times that imports are measured; the shortest counts

Rounds = list[tuple[str, str, dict[str, Any]]]  # host, native event, payload


class DoesNotLoad(OnehookError):
    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


@dataclass
class Probed:
    """The outcome of running one handler."""

    errors: list[dict[str, Any]] = field(default_factory=list)
    shapes: set[Shape] = field(default_factory=set)
    first_ms: float = 0.0
    about: str = ""
    hung: bool = False
    calls: int = 0


class Described(NamedTuple):
    policy: Policy  # its options and handlers
    same: dict[int, list[int]]  # for each handler, the others that are the same function
    imports: dict[str, float]  # milliseconds of each import, measured once


def describe(path: str, python: str = "") -> Described:
    """python: what loads the policy, if not this interpreter."""
    documents, stderr = _run("describe", path, options=_MEASURED, python=python)
    if not documents:
        raise DoesNotLoad(f"loading the policy ended the process or took longer than {PATIENCE} s", 1)
    given = documents[0]
    if "error" in given:
        raise DoesNotLoad(given["error"], given["line"])
    handlers = [
        Handler(
            index, row["name"], row["event"], tuple(row["tools"]), tuple(row["hosts"]), row["file"], row["line"], tuple(row["stood_in_on"])
        )
        for index, row in enumerate(given["handlers"])
    ]  # fmt: skip
    same = {index: row["same_as"] for index, row in enumerate(given["handlers"])}
    policy = Policy(os.path.abspath(path), given["options"], handlers, given["joins"], given["unshared"])
    return Described(policy, same, _imports(stderr))


def probe(path: str, rounds: Mapping[int, Rounds]) -> dict[int, Probed]:
    """Run each handler on its events. A handler that hangs is killed, and the handlers after it do not run."""
    request = {"handlers": [{"index": index, "rounds": list(events)} for index, events in rounds.items() if events]}
    documents, _ = _run("probe", path, json.dumps(request).encode())
    found: dict[int, Probed] = {}
    for document in documents:
        if "begun" in document:
            found[document["begun"]] = Probed(hung=True)
        elif "index" in document:
            shapes = {Shape(row["decision"], frozenset(row["fields"]), frozenset(row["keys"])) for row in document["answers"]}
            found[document["index"]] = Probed(document["errors"], shapes, document["first_ms"], document["about"], calls=document["calls"])
    return found


_MEASURED = ("-X", "importtime")
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)")


def import_times(path: str, described: Described) -> dict[str, float]:
    """Milliseconds of each import that the policy makes while it loads, including nested imports. It was loaded once to be described."""
    best = dict(described.imports)
    for _ in range(_RUNS - 1):
        _, stderr = _run("load", path, options=_MEASURED)
        for name, milliseconds in _imports(stderr).items():
            best[name] = min(best.get(name, milliseconds), milliseconds)
    return best


def _imports(account: str) -> dict[str, float]:
    """The outermost imports between the two marks."""
    _, _, rest = account.partition(child.BEGIN_MARK)
    rows = [row for row in map(_LINE.match, rest.partition(child.END_MARK)[0].splitlines()) if row]
    shallowest = min((len(row.group(3)) for row in rows), default=0)
    return {row.group(4): int(row.group(2)) / 1000 for row in rows if len(row.group(3)) == shallowest}


def _run(mode: str, path: str, stdin: bytes = b"", options: Sequence[str] = (), python: str = "") -> tuple[list[dict[str, Any]], str]:
    """A child's documents and its stderr, as far as it got if it hung."""
    with tempfile.TemporaryDirectory(prefix="onehook-lint-") as folder:
        result = Path(folder, "result")
        result.touch()
        argv = [python or interpreter(), "-I", "-S", *options, str(Path(child.__file__)), mode, os.path.abspath(path), str(result)]
        work = Path(folder, "work")  # an empty folder, for whatever a handler does to the current one
        work.mkdir()
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=work,
            env={**os.environ, "ONEHOOK_STATE_DIR": str(Path(folder, "state"))},
            start_new_session=True,
        )
        try:
            _, stderr = process.communicate(stdin, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            _end(process)
            stderr = b""
        return [json.loads(line) for line in result.read_text(encoding="ascii").splitlines()], stderr.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and everything that its handlers started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
