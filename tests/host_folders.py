"""Where a host's own test data is: everything below tests/hosts/<id>/. Shared tests look here, and name hosts only as examples.

*.json            cases for the wire (hosts/test_cases.py); payloads.json has the payloads that they start from
detect.json       payloads that are recognized as the host's by their content (hosts/test_captures.py)
answers.json      what the agent makes of a hook's answer (hostkit/test_reverse.py)
facts.py          what else the shared tests need to know about the host; see facts()
import_facts.py   a project with its hooks, for `onehook import` (setup/importing.py)
captures/         payloads that the real agent sent, and what each is read as
transcripts/      sessions that the real agent left, below the folder that its reader looks in
install/          its config file before and after an install (setup/test_plan_cases.py)
test_*.py         what is true only of this host
"""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FOLDER = Path(__file__).parent / "hosts"


def folder(host: str) -> Path:
    return FOLDER / host


def with_folders(name: str) -> list[str]:
    """The hosts that have such a file or folder."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{name}"))


def payloads(host: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((folder(host) / "payloads.json").read_text(encoding="utf-8"))
    return found


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def captures(host: str) -> list[Path]:
    return sorted((folder(host) / "captures").glob("*.jsonl"))


def transcripts(host: str) -> Path:
    """A home folder in which the agent left its sessions."""
    return folder(host) / "transcripts"


@functools.cache
def facts(host: str) -> Any:
    """The host's facts.py on top of the defaults."""
    default = importlib.import_module("tests.hosts.default_facts")
    own = importlib.import_module(f"tests.hosts.{host}.facts") if (folder(host) / "facts.py").exists() else default
    return SimpleNamespace(**{**vars(default), **vars(own)})
