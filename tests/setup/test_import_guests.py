"""`onehook import` of hooks with nothing installed next to them: those of a guest, and those that are files."""

from __future__ import annotations

from click.testing import CliRunner

from onehook.cli.import_ import command as import_command
from onehook.hosts import GUESTS, HOSTS
from onehook.setup.runtime import closure


def test_take_over_leaves_them_where_they_are(machine, monkeypatch):
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(machine.home / "state"))
    path = machine.project / ".windsurf" / "hooks.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"pre_run_command": [{"command": "./guard"}]}}')
    before = path.read_bytes()
    result = CliRunner().invoke(import_command, ["--from", "windsurf,cline", "--take-over", "--project", str(machine.project)])
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == before
    manifest = (machine.project / "onehook.toml").read_text()
    assert 'events = ["pre_run_command"]' in manifest and 'speaks = "windsurf"' in manifest
    assert "Cline has no hooks and no permission lists in its project scope" in result.output


def test_a_portable_install_has_what_their_programs_need():
    packed = {path.parent.name for path in closure() if path.name == "reverse.py"}
    assert {*HOSTS, *GUESTS} <= packed
