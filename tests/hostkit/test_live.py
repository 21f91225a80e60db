"""What every host's live module promises, without starting the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onehook.hostkit.live import Sandbox
from onehook.hosts import having, load
from onehook.prove import agents
from onehook.prove.model import parse_script
from tests.host_folders import facts

if TYPE_CHECKING:
    from onehook.hosts.interface import Live

HOSTS = [host for host in having("live") if not load(host, "live").TRAITS.report]  # those driven by a model on loopback
AGENTS = agents.pins()
each_host = pytest.mark.parametrize("host", HOSTS)


def live(host: str) -> Live:
    return load(host, "live")


def files(sandbox: Sandbox) -> dict[Path, str]:
    return {path: path.read_text() for path in sandbox.home.parent.rglob("*") if path.is_file()}


@each_host
def test_every_mode_is_started_in_the_sandbox_and_pointed_at_the_model(host: str, sandbox: Sandbox) -> None:
    for mode in live(host).MODES:
        launch = live(host).prepare(sandbox, mode)
        assert "/bin/agent" in launch.argv[:4]  # the first word, unless one of our programs runs the session
        assert "the prompt" in launch.argv
        assert (launch.cwd, launch.home) == (sandbox.project, sandbox.home)
        written = [*launch.env.values(), *files(sandbox).values()]
        assert any("http://127.0.0.1:1234" in text for text in written)


@each_host
def test_every_step_is_a_step_of_a_script(host: str) -> None:
    module = live(host)
    for mode in module.MODES:
        steps = {
            ("a command",): module.shell("a command", mode),
            ("/p/a", "a text"): module.write("/p/a", "a text\n", mode),
            ("/p/a",): module.read("/p/a", mode),
            ("/p/a", "old words", "new words"): module.edit("/p/a", "old words", "new words", mode),
            ("a server", "a tool", "an argument"): module.mcp("a server", "a tool", {"a": "an argument"}, mode),
            ("a prompt",): module.subagent("a prompt", mode),
            ("the end",): module.subagent_end("the end", mode),
        }
        offered = [step for step in steps.values() if step]
        assert len(parse_script(offered)) == len(offered) >= 4
        for values, step in steps.items():
            assert step is None or all(value in json.dumps(step) for value in values)


@each_host
def test_a_compaction_is_made_by_a_context_that_is_reported_to_be_full(host: str) -> None:
    for mode in [mode for mode in live(host).MODES if mode not in facts(host).COMPACTED_WHEN_ASKED]:
        script = parse_script(live(host).compaction(mode))
        assert len([step for step in script if step.usage >= 180_000]) == 1
        assert not script[-1].text, "a summary and a last word follow; before them the agent must still be at work"


@each_host
def test_preparing_twice_is_preparing_once(host: str, sandbox: Sandbox) -> None:
    module = live(host)
    module.mcp_server(sandbox, "notes", ["/bin/server", "a file"])
    first = module.prepare(sandbox, module.MODES[-1])
    after_one = files(sandbox)
    assert module.prepare(sandbox, module.MODES[-1]) == first
    assert files(sandbox) == after_one


@pytest.mark.parametrize("host", [host for host in HOSTS if live(host).mcp("a server", "a tool", {})])
def test_two_mcp_servers_stand_side_by_side(host: str, sandbox: Sandbox) -> None:
    module = live(host)
    module.mcp_server(sandbox, "one", ["/bin/first", "x"])
    module.mcp_server(sandbox, "two", ["/bin/second", "y"])
    module.prepare(sandbox, module.MODES[0])
    text = "".join(files(sandbox).values())
    assert all(word in text for word in ("one", "/bin/first", "two", "/bin/second"))


@each_host
def test_hooks_that_share_a_file_with_our_settings_stay(host: str, sandbox: Sandbox) -> None:
    module = live(host)
    module.mcp_server(sandbox, "notes", ["/bin/server"])
    module.prepare(sandbox, module.MODES[0])
    for path in [path for path in files(sandbox) if path.suffix == ".json"]:
        content = {**json.loads(path.read_text()), "hooks": {"Stop": [1]}}
        path.write_text(json.dumps(content))
    module.prepare(sandbox, module.MODES[0])
    for path, text in files(sandbox).items():
        assert path.suffix != ".json" or json.loads(text)["hooks"] == {"Stop": [1]}


@pytest.mark.parametrize("host", sorted(AGENTS))
def test_every_agent_is_pinned(host: str) -> None:
    package = AGENTS[host].package
    assert all(part.isdigit() for part in AGENTS[host].version.split("."))
    assert package.binary and package.package and package.disk_mb > 0
