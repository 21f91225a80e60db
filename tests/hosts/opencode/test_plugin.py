"""OpenCode's plugin: the file that install writes, run by node against a fake client and the real launcher."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from onehook.hostkit.config import Commands, Machine, Place, Wish
from onehook.hostkit.plugin import options_in
from onehook.hosts.kilo import config as kilo
from onehook.hosts.opencode import config
from onehook.setup.command import client
from tests.plugins import FAULTS, NODE, answered_by_servers, launcher, needs_node, run_in_node

HERE = Path(__file__).parent
EVERYTHING = tuple(config.EVENTS)
pytestmark = needs_node


def place(folder: Path) -> tuple[Place, Machine]:
    machine = Machine(folder / "home", folder, {}, "linux")
    return next(place for place in config.places(machine) if place.scope == "project"), machine


def write_variant(
    folder: Path, words: tuple[str, ...], wish: Wish, events: tuple[str, ...] = EVERYTHING, before: tuple[str, ...] = ()
) -> None:
    where, machine = place(folder)
    lines = {event: Commands("", "", "", (*before, *words), len(before)) for event in events}
    where.path.parent.mkdir(parents=True)
    where.path.write_bytes(config.PLUGIN.content(where, lines, wish, machine))
    (where.path.parent / "package.json").write_text('{"type": "module"}')  # only node needs it


@pytest.mark.parametrize("before", [(), pytest.param(client(), marks=pytest.mark.slow)], ids=["process", "resident"])
def test_the_plugin_does_what_the_policy_says(tmp_path: Path, before: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    write_variant(tmp_path / "open", launcher("opencode", HERE), Wish(stop_limit=2), before=before)
    write_variant(tmp_path / "closed", launcher("opencode", HERE, "--fail", "closed"), Wish(fail_closed=True), before=before)
    for name, words in FAULTS.items():
        for fail in ("open", "closed"):
            timeout = -9.0 if name == "slow" else 20.0  # the plugin waits 10 s longer: 1 s
            write_variant(tmp_path / f"{name}-{fail}", words, Wish(fail == "closed", timeout))
    counting = (sys.executable, "-c", f"open({str(tmp_path / 'narrow' / 'started')!r}, 'a').write('x')")
    write_variant(tmp_path / "narrow", counting, Wish(matchers={"": "Bash|MCP"}), ("PreToolUse",))
    run_in_node(HERE / "plugin.test.mjs", tmp_path, ONEHOOK_TEST_LOG=str(tmp_path / "log"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    assert bool(answered_by_servers()) == bool(before)


def test_the_template_is_a_module_that_node_can_read(tmp_path: Path) -> None:
    copy = tmp_path / "plugin.mjs"
    copy.write_text(config.PLUGIN.template(resident=True), encoding="utf-8")
    assert NODE
    checked = subprocess.run([NODE, "--check", str(copy)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_template_imports_nothing_but_nodes_own_modules_and_exports_one_thing() -> None:
    lines = config.PLUGIN.template(resident=True).splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    assert imports and all(' from "node:' in line for line in imports)
    assert [line.split("=")[0].strip() for line in lines if line.startswith("export")] == ["export const Onehook"]


def test_what_lies_in_the_project_is_named_from_there(tmp_path: Path) -> None:
    where, machine = place(tmp_path)
    words = (
        "/usr/bin/python3",
        "-I",
        "-S",
        "/lib/onehook/launch.py",
        f"{tmp_path}/policy.py",
        "--host",
        "opencode",
        "--event",
        "Stop",
        "--fail",
        "closed",
    )
    written = config.PLUGIN.content(where, {"Stop": Commands("", "", "", words)}, Wish(), machine).decode()
    assert options_in(written)["command"] == [*words[:4], "{project}/policy.py", "--host", "opencode", "--fail", "closed"]
    entry = next(iter(config.found(written)))
    assert entry.event == "session.idle"
    assert (
        entry.command == '/usr/bin/python3 -I -S /lib/onehook/launch.py "${CLAUDE_PROJECT_DIR:-.}"/policy.py --host opencode --fail closed'
    )


def test_a_users_plugin_names_everything_absolutely(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "p", {"XDG_CONFIG_HOME": str(tmp_path / "x")}, "linux")
    user = next(place for place in config.places(machine) if place.scope == "user")
    assert user.path == tmp_path / "x" / "opencode" / "plugins" / "onehook.js"
    words = ("python3", f"{tmp_path}/p/policy.py")
    assert options_in(config.PLUGIN.content(user, {"Stop": Commands("", "", "", words)}, Wish(), machine).decode())["command"] == list(
        words
    )


def test_kilo_gets_the_same_plugin_under_its_own_name(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "p", {}, "linux")
    where = next(place for place in kilo.places(machine) if place.scope == "project")
    assert where.path == tmp_path / "p" / ".kilo" / "plugins" / "onehook.js"
    lines = {"SessionEnd": Commands("", "", "", ("python3", "policy.py"))}
    written = kilo.PLUGIN.content(where, lines, Wish(), machine).decode()
    assert options_in(written)["host"] == "kilo"
    assert options_in(written)["events"] == ["dispose", "session.deleted"]


def test_a_file_of_somebody_else_is_not_ours() -> None:
    assert list(config.found("export const X = async () => ({})\n")) == []
    assert list(config.found("const OPTIONS = {broken\n")) == []
    assert config.problems("export const X = 1") != []


@pytest.mark.parametrize("variable", ["OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG"])
def test_doctor_says_what_switches_plugins_off(variable: str, tmp_path: Path) -> None:
    where, machine = place(tmp_path)
    written = config.PLUGIN.content(where, {"Stop": Commands("", "", "", ("python3", "/lib/onehook/launch.py"))}, Wish(), machine).decode()
    ours = list(config.found(written))
    assert config.diagnose(machine, where, written, ours) == []
    off = Machine(machine.home, machine.project, {variable: "1"}, "linux")
    assert [diagnosis.level for diagnosis in config.diagnose(off, where, written, ours)] == ["fail"]


def test_the_options_are_plain_json(tmp_path: Path) -> None:
    where, machine = place(tmp_path)
    written = config.PLUGIN.content(where, {"PreToolUse": Commands("", "", "", ("a",))}, Wish(matchers={"": "Write|MCP"}), machine).decode()
    options = options_in(written)
    assert options["tools"] == {"tool.execute.before": ["write", "apply_patch", "MCP"]}
    assert json.loads(json.dumps(options)) == options
