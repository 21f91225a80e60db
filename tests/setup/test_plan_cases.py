"""Every case in tests/hosts/<id>/install: the file before, after install, and after uninstall, which restores it to the byte.

A case: {"file", "before" (null: there is none), "after" or "refused", and what was requested: "scope", "options", "variables",
"platform", "also" (other files that exist)}. PYTHON, LAUNCH and ROOT stand for this machine's paths.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import Machine
from onehook.hosts import load
from onehook.setup.files import FilesError
from onehook.setup.plan import configurable
from onehook.textedit.document import ConfigError
from tests.host_folders import FOLDER
from tests.setup.installing import Place

CASES = sorted(FOLDER.glob("*/install/*.json"))


def text_of(lines: list[str] | None) -> bytes | None:
    return None if lines is None else "".join(lines).encode()


def prepared(case: dict[str, Any], root: Path) -> tuple[Place, Path]:
    place = Place(root, variables=case.get("variables", {}), platform=case.get("platform", "linux"))
    for name, lines in {**case.get("also", {}), case["file"]: case["before"]}.items():
        if lines is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text_of(lines) or b"")
    return place, root / case["file"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_before_after_install_and_after_uninstall(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    host, options = path.parts[-3], case.get("options", {"events": ["PreToolUse"]})
    place, file = prepared(case, tmp_path)
    before = place.snapshot()
    if "refused" in case:
        with pytest.raises((ConfigError, FilesError)) as caught:
            place.install([host], case.get("scope", "project"), **options)
        assert case["refused"] in place.plain(str(caught.value))
        assert "nothing was changed" in str(caught.value).lower()
        assert place.snapshot() == before
        return
    place.install([host], case.get("scope", "project"), **options)
    assert place.plain(file.read_bytes().decode()) == (text_of(case["after"]) or b"").decode()
    written = place.snapshot()
    assert not place.install([host], case.get("scope", "project"), **options).edits
    assert place.snapshot() == written
    place.uninstall([host])
    assert place.snapshot() == before


def edits(host: str, machine: Machine) -> bool:
    """Whether the agent reads its hooks from a file of the user; otherwise the file is only ours."""
    return any(place.format != "own" for place in load(host, "config").places(machine))


def test_every_host_whose_config_file_is_edited_has_cases(tmp_path: Path) -> None:
    assert {path.parts[-3] for path in CASES} == {host for host in configurable() if edits(host, Place(tmp_path).machine)}
