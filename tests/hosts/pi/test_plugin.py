"""Pi's extension: the file that install writes, run by node against a fake Pi and the real launcher; and what keeps Pi from loading it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from onehook.hostkit.config import Commands, Machine, Place, Wish
from onehook.hosts.pi import config, trust
from onehook.setup.command import client
from tests.plugins import FAULTS, answered_by_servers, launcher, needs_node, run_in_node

HERE = Path(__file__).parent


def place(folder: Path) -> tuple[Place, Machine]:
    machine = Machine(folder / "home", folder, {}, "linux")
    return config.places(machine)[0], machine


def write_variant(
    folder: Path, words: tuple[str, ...], wish: Wish, events: tuple[str, ...] = tuple(config.EVENTS), before: tuple[str, ...] = ()
) -> None:
    where, machine = place(folder)
    lines = {event: Commands("", "", "", (*before, *words), len(before)) for event in events}
    where.path.parent.mkdir(parents=True)
    where.path.write_bytes(config.PLUGIN.content(where, lines, wish, machine))
    (where.path.parent / "package.json").write_text('{"type": "module"}')  # only node needs it


@needs_node
@pytest.mark.parametrize("before", [(), pytest.param(client(), marks=pytest.mark.slow)], ids=["process", "resident"])
def test_the_extension_does_what_the_policy_says(tmp_path: Path, before: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    write_variant(tmp_path / "open", launcher("pi", HERE), Wish(stop_limit=2), before=before)
    write_variant(tmp_path / "closed", launcher("pi", HERE, "--fail", "closed"), Wish(fail_closed=True), before=before)
    for name, words in FAULTS.items():
        for fail in ("open", "closed"):
            timeout = -9.0 if name == "slow" else 20.0  # the extension waits 10 s longer: 1 s
            write_variant(tmp_path / f"{name}-{fail}", words, Wish(fail == "closed", timeout))
    counting = (sys.executable, "-c", f"open({str(tmp_path / 'narrow' / 'started')!r}, 'a').write('x')")
    write_variant(tmp_path / "narrow", counting, Wish(matchers={"": "Bash"}), ("PreToolUse",))
    run_in_node(HERE / "plugin.test.mjs", tmp_path)
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    assert bool(answered_by_servers()) == bool(before)


def test_the_extension_imports_nothing_but_nodes_own_modules_and_exports_one_thing() -> None:
    lines = config.PLUGIN.template(resident=True).splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    assert imports and all(' from "node:' in line for line in imports)
    assert [line for line in lines if line.startswith("export")] == ["export default function onehook(pi) {"]


def installed(folder: Path) -> tuple[Place, Machine]:
    where, machine = place(folder)
    where.path.parent.mkdir(parents=True)
    lines = {"PreToolUse": Commands("", "", "", ("python3", "/lib/onehook/launch.py"))}
    where.path.write_bytes(config.PLUGIN.content(where, lines, Wish(), machine))
    return where, machine


def diagnoses(where: Place, machine: Machine) -> list[str]:
    text = where.path.read_text(encoding="utf-8")
    found = config.diagnose(machine, where, text, list(config.found(text)))
    assert all(diagnosis.level == "fail" and diagnosis.fix for diagnosis in found)
    return [diagnosis.what for diagnosis in found]


# Each was tried with Pi 0.87.1: whether our extension is loaded.
@pytest.mark.parametrize(
    ("file", "text", "loaded"),
    [
        ("settings.json", '{"extensions": ["-extensions/onehook.js"]}', False),
        ("settings.json", '{"extensions": ["-./extensions/onehook.js"]}', False),
        ("settings.json", '{"extensions": ["!extensions/*.js"]}', False),
        ("settings.json", '{"extensions": ["!onehook.js"]}', False),
        ("settings.json", '{"extensions": ["!onehook.js", "+extensions/onehook.js"]}', True),
        ("settings.json", '{"extensions": ["+extensions/onehook.js", "-extensions/onehook.js"]}', False),
        ("settings.json", '{"extensions": ["-extensions/other.js", "other"]}', True),
        ("settings.json", "{broken", True),
        ("extensions/index.ts", "export default function () {}", False),
        ("extensions/package.json", '{"pi": {"extensions": ["../kept.ts"]}}', False),
        ("extensions/package.json", '{"pi": {"extensions": ["../kept.ts", "onehook.js"]}}', True),
        ("extensions/package.json", '{"pi": {"extensions": ["./missing.ts"]}}', True),
        ("extensions/package.json", '{"type": "module"}', True),
        ("extensions/.gitignore", "# ours\n*.js\n", False),
        ("extensions/.ignore", "/onehook.js\n", False),
        ("extensions/.gitignore", "*.js\n!onehook.js\n", True),
    ],
)
def test_doctor_says_what_keeps_pi_from_loading_it(tmp_path: Path, file: str, text: str, loaded: bool) -> None:
    where, machine = installed(tmp_path)
    assert diagnoses(where, machine) == []
    (tmp_path / ".pi" / "kept.ts").write_text("export default function () {}\n")
    (tmp_path / ".pi" / file).write_text(text)
    assert (diagnoses(where, machine) == []) is loaded


@pytest.mark.parametrize(
    ("stored", "settings", "asked"),
    [
        ({}, {}, True),
        ({"PROJECT": True}, {}, False),
        ({"PARENT": True}, {}, False),
        ({"PARENT": True, "PROJECT": False}, {}, True),
        ({}, {"defaultProjectTrust": "always"}, False),
        ({"PROJECT": False}, {"defaultProjectTrust": "always"}, True),
        ([], {}, True),
    ],
)
def test_the_closest_folder_decides_on_trust(tmp_path: Path, stored: object, settings: dict[str, str], asked: bool) -> None:
    where, machine = installed(tmp_path / "work" / "p")
    names = {"PROJECT": str((tmp_path / "work" / "p").resolve()), "PARENT": str(tmp_path.resolve())}
    data = {names[name]: value for name, value in stored.items()} if isinstance(stored, dict) else stored
    user = config.agent_folder(machine)
    user.mkdir(parents=True)
    (user / "settings.json").write_text(json.dumps(settings))
    grants = trust.needed(machine, where, [], data)
    assert [(grant.path, grant.value) for grant in grants] == ([((names["PROJECT"],), True)] if asked else [])
    assert trust.needed(machine, config.places(machine)[1], [], data) == []
