"""What every host's live module promises, without starting the agent."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onehook.hostkit.live import Sandbox
from onehook.hosts import having, load
from onehook.prove import agents
from onehook.prove.model import parse_script

if TYPE_CHECKING:
    from onehook.hosts.interface import Live

HOSTS = [host for host in having("live") if not load(host, "live").TRAITS.report]  # those that a model on loopback drives
AGENTS = agents.pins()
each_host = pytest.mark.parametrize("host", HOSTS)


def live(host: str) -> Live:
    return load(host, "live")


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    home, project = tmp_path / "home", tmp_path / "my.project"
    home.mkdir()
    project.mkdir()
    return Sandbox(home, project, "http://127.0.0.1:1234", "the prompt", Path("/bin/agent"))


def files(sandbox: Sandbox) -> dict[Path, str]:
    return {path: path.read_text() for path in sandbox.home.parent.rglob("*") if path.is_file()}


@each_host
def test_every_mode_is_started_in_the_sandbox_and_pointed_at_the_model(host: str, sandbox: Sandbox) -> None:
    for mode in live(host).MODES:
        launch = live(host).prepare(sandbox, mode)
        assert "/bin/agent" in launch.argv[:4]  # the first word, unless a program of ours holds the session
        assert "the prompt" in launch.argv
        assert (launch.cwd, launch.home) == (sandbox.project, sandbox.home)
        written = [*launch.env.values(), *files(sandbox).values()]
        assert any("http://127.0.0.1:1234" in text for text in written)


@each_host
def test_every_step_is_a_step_of_a_script(host: str) -> None:
    module = live(host)
    for mode in module.MODES:
        steps = [
            module.shell("ls", mode),
            module.write("/p/a", "text\n", mode),
            module.read("/p/a", mode),
            module.edit("/p/a", "old", "new", mode),
            module.mcp("server", "tool", {"a": 1}, mode),
            module.subagent("a prompt", mode),
            module.subagent_end("the end", mode),
        ]
        assert len(parse_script([step for step in steps if step])) >= 6


@each_host
def test_a_compaction_is_made_by_a_context_that_is_said_to_be_full(host: str) -> None:
    for mode in [mode for mode in live(host).MODES if (host, mode) != ("droid", "session")]:
        script = parse_script(live(host).compaction(mode))
        assert len([step for step in script if step.usage >= 180_000]) == 1
        assert not script[-1].text, "a summary and a last word follow; before them the agent must still be at work"


def test_gemini_gets_a_second_prompt_since_a_first_one_has_nothing_to_compress(sandbox: Sandbox) -> None:
    module: Any = live("gemini")
    launch = module.prepare(sandbox)
    twice = module.compactable(replace(launch, argv=["/bin/echo", *launch.argv[1:]]))
    said = subprocess.run(twice.argv, capture_output=True, text=True, check=True, timeout=10).stdout.splitlines()
    assert said == [" ".join(launch.argv[1:]), " ".join([*launch.argv[1:], "--resume", "latest"])]


def test_a_session_of_droid_is_compacted_when_it_is_asked_to(sandbox: Sandbox) -> None:
    module: Any = live("droid")
    asked = module.compactable(module.prepare(sandbox, "session"))
    assert asked.argv[3:] == ["/bin/agent", "the prompt", "high", "--compact"]
    alone = module.prepare(sandbox, "exec")
    assert module.compactable(alone) == alone


@each_host
def test_preparing_twice_is_preparing_once(host: str, sandbox: Sandbox) -> None:
    module = live(host)
    module.mcp_server(sandbox, "notes", ["/bin/server", "a file"])
    first = module.prepare(sandbox, module.MODES[-1])
    after_one = files(sandbox)
    assert module.prepare(sandbox, module.MODES[-1]) == first
    assert files(sandbox) == after_one


@each_host
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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_the_config_of_codex_is_valid_and_keeps_what_was_there(sandbox: Sandbox) -> None:
    import tomllib

    config = sandbox.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('[hooks]\nx = 1\n[projects."/other"]\ntrust_level = "untrusted"\n')
    module = live("codex")
    module.mcp_server(sandbox, "no.tes", ['/bin/ser"ver', "back\\slash"])
    for mode in module.MODES:
        module.prepare(sandbox, mode)
        found = tomllib.loads(config.read_text())
        assert found["hooks"] == {"x": 1}
        assert found["projects"]["/other"] == {"trust_level": "untrusted"}
        assert found["projects"][str(sandbox.project)] == {"trust_level": "trusted"}
        assert found["mcp_servers"]["no.tes"] == {"command": '/bin/ser"ver', "args": ["back\\slash"]}
        assert found["model_providers"]["scripted"]["base_url"] == "http://127.0.0.1:1234/v1"
    assert config.read_text().count("model_provider =") == 1


@pytest.mark.parametrize("host", sorted(AGENTS))
def test_every_agent_is_pinned(host: str) -> None:
    assert all(part.isdigit() for part in AGENTS[host].version.split("."))
    assert AGENTS[host].binary and AGENTS[host].package and AGENTS[host].disk_mb > 0
