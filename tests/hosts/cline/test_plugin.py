"""Cline's plugin: the file that install writes, run by node against a fake Cline and the real launcher; and what keeps it from loading."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from onehook.hostkit.config import Commands, Machine, Place, Wish
from onehook.hosts.cline import config
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
    content = config.PLUGIN.content(where, lines, wish, machine)
    assert content.count(b"const MAX_SECONDS = 2.5\n") == 1
    # A busy machine gets more time than Cline allows.
    where.path.write_bytes(content.replace(b"MAX_SECONDS = 2.5\n", b"MAX_SECONDS = 60\n"))
    (where.path.parent / "package.json").write_text('{"type": "module"}')  # only node needs it


@needs_node
@pytest.mark.parametrize("before", [(), pytest.param(client(), marks=pytest.mark.slow)], ids=["process", "resident"])
def test_the_plugin_does_what_the_policy_says(tmp_path: Path, before: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    write_variant(tmp_path / "open", launcher("cline", HERE), Wish(stop_limit=2), before=before)
    write_variant(tmp_path / "closed", launcher("cline", HERE, "--fail", "closed"), Wish(fail_closed=True), before=before)
    for name, words in FAULTS.items():
        for fail in ("open", "closed"):
            timeout = -9.0 if name == "slow" else 20.0  # the plugin waits 10 s longer: 1 s
            write_variant(tmp_path / f"{name}-{fail}", words, Wish(fail == "closed", timeout))
    counting = (sys.executable, "-c", f"open({str(tmp_path / 'narrow' / 'started')!r}, 'a').write('x')")
    write_variant(tmp_path / "narrow", counting, Wish(matchers={"": "Bash"}), ("PreToolUse",))
    run_in_node(HERE / "plugin.test.mjs", tmp_path)
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    assert bool(answered_by_servers()) == bool(before)


def test_the_plugin_imports_nothing_but_nodes_own_modules_and_exports_one_thing() -> None:
    lines = config.PLUGIN.template(resident=True).splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    assert imports and all(' from "node:' in line for line in imports)
    (exported,) = [line for line in lines if line.startswith("export")]
    assert exported.startswith('export default { name: "onehook", manifest: { capabilities: ["hooks"] }')


def installed(folder: Path) -> tuple[Place, Machine]:
    where, machine = place(folder)
    where.path.parent.mkdir(parents=True)
    lines = {"PreToolUse": Commands("", "", "", ("python3", "/lib/onehook/launch.py"))}
    where.path.write_bytes(config.PLUGIN.content(where, lines, Wish(), machine))
    return where, machine


def diagnoses(where: Place, machine: Machine) -> list[tuple[str, str]]:
    text = where.path.read_text(encoding="utf-8")
    found = config.diagnose(machine, where, text, list(config.found(text)))
    assert all(diagnosis.fix for diagnosis in found)
    return [(diagnosis.level, diagnosis.what) for diagnosis in found]


# Each was tried with Cline 3.0.65: whether our plugin is loaded.
@pytest.mark.parametrize(
    ("variables", "disabled", "levels"),
    [
        ({config.LOADING: "60000"}, "", []),
        ({config.LOADING: "60000"}, "other.js", []),
        ({config.LOADING: "60000"}, "onehook.js", ["fail"]),
        ({config.LOADING: "60000", "PATH": "/nowhere"}, "", ["fail"]),
        ({config.LOADING: "60000", "PATH": "/nowhere", "CLINE_JS_RUNTIME_PATH": "/usr/bin/node"}, "", []),
        ({}, "", ["warn"]),
        ({config.LOADING: "4s"}, "", ["warn"]),
    ],
)
def test_doctor_says_what_keeps_cline_from_loading_it(tmp_path: Path, variables: dict[str, str], disabled: str, levels: list[str]) -> None:
    where, machine = installed(tmp_path / "p")
    (tmp_path / "node").write_text("")
    (tmp_path / "node").chmod(0o755)
    machine = Machine(machine.home, machine.project, {"PATH": str(tmp_path), **variables}, "linux")
    settings = machine.home / ".cline" / "data" / "settings" / "global-settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"disabledPlugins": [str(where.path.with_name(disabled))] if disabled else []}))
    assert [level for level, _ in diagnoses(where, machine)] == levels


def test_doctor_mentions_hook_files_that_end_a_run(tmp_path: Path) -> None:
    where, machine = installed(tmp_path)
    file = tmp_path / ".clinerules" / "hooks" / "PreToolUse.sh"
    file.parent.mkdir(parents=True)
    file.write_text("true")
    assert [what for level, what in diagnoses(where, machine) if level == "note" and str(file) in what]


def test_a_foreign_file_in_its_place_is_refused(tmp_path: Path) -> None:
    where, _ = place(tmp_path)
    assert config.text_problems(where, "export default {}", "export default {}")
    assert config.text_problems(where, "", "") == []
