"""One scenario on one agent: a fresh home and project, the policy installed as a user would, the agent run, the outcome collected."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.hostkit.config import Machine
from onehook.hostkit.live import Launch, Sandbox, Step
from onehook.hosts import load, wire_of
from onehook.prove import mcp_server
from onehook.prove.evidence import NOTES, Evidence
from onehook.prove.expectations import events_of, losses
from onehook.prove.model import ScriptedModel
from onehook.prove.person import present
from onehook.prove.process import Outcome, run_agent
from onehook.prove.scenarios import PROMPT, Scenario

if TYPE_CHECKING:
    from onehook.hosts.interface import Live

SECONDS = 90.0  # after the first request to the model
RESIDENT = "ONEHOOK_PROVE_RESIDENT"  # set by `onehook prove --resident` for all its processes
STARTUP_SECONDS = 180.0  # until that request; some agents need a minute on a busy machine


@dataclass(frozen=True)
class Agent:
    """An agent that can be started: its host, program and version."""

    host: str
    binary: Path
    version: str
    mode: str = ""
    node: Path | None = None  # the folder of the Node.js that it needs, if not the one on PATH

    @property
    def name(self) -> str:
        return f"{self.host} {self.mode}".strip()

    @property
    def folder(self) -> str:
        """The name of the folder for its runs."""
        return f"{self.name} {self.version}".replace(" ", "-")


class CannotPlay(Exception):
    """The agent lacks what the scenario needs (a tool, or a way to be started)."""


def live_of(host: str) -> Live:
    return load(host, "live")


def abilities(live: Live) -> frozenset[str]:
    """The optional features of a host's live module."""
    able = {"compacts", "prompts", "transcripts", *live.TRAITS.can}
    able |= {need for need, given in (("disable", live.TRAITS.disable), ("trust", live.TRAITS.asks)) if given}
    return frozenset(able)


def script_of(agent: Agent, scenario: Scenario, project: Path = Path("/project")) -> list[Step]:
    live = live_of(agent.host)
    steps = scenario.script(live, agent.mode, str(project))
    if any(step is None for step in steps):
        raise CannotPlay("the agent has no such tool")
    missing = [need for need in scenario.needs if need not in abilities(live)]
    if missing:
        raise CannotPlay(f"a headless run of the agent cannot show it ({missing[0]})")
    return [step for step in steps if step is not None]


def play(agent: Agent, scenario: Scenario, folder: Path, *, with_policy: bool, fail_closed: bool | None = None) -> Evidence:
    """Run one scenario (or, without the policy, its control) in a separate folder. An agent that hangs is tried once more."""
    evidence = _play_once(agent, scenario, folder / "first", with_policy, fail_closed)
    if evidence.outcome.timed_out:
        evidence = _play_once(agent, scenario, folder / "second", with_policy, fail_closed)
    return evidence


def _play_once(agent: Agent, scenario: Scenario, folder: Path, with_policy: bool, fail_closed: bool | None) -> Evidence:
    home, project = folder / "home", folder / "project"
    for path in (home, project / ".hooks"):
        path.mkdir(parents=True)
    for name in scenario.copied:
        _copy(scenario.copied_from, project, name)
    for name, text in scenario.files.items():
        if with_policy or name != scenario.imports:
            _put(project / name, text)
    subprocess.run(["git", "init", "-q"], cwd=project, check=False, env={"PATH": os.environ["PATH"], "HOME": str(home)})
    live = live_of(agent.host)
    steps = script_of(agent, scenario, project)
    with ScriptedModel([] if live.TRAITS.report else steps) as model:
        sandbox = Sandbox(home, project, model.url, PROMPT, agent.binary, "strict" in scenario.needs, tuple(steps))
        if scenario.mcp:
            live.mcp_server(sandbox, "proof", [sys.executable, "-I", mcp_server.__file__, str(home / NOTES)])
        launch = _launch(live, sandbox, agent, scenario)
        if with_policy:
            _install(agent, scenario, sandbox, scenario.fail_closed if fail_closed is None else fail_closed)
            if scenario.disabled:
                assert live.TRAITS.disable is not None  # a need of the scenario
                launch = live.TRAITS.disable(sandbox, launch)
        environment = {**launch.env, "HOME": str(sandbox.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        resident = with_policy and bool(os.environ.get(RESIDENT))
        if resident:
            _serve(sandbox, launch.env, str(_policy(scenario, project)))
        with present(*scenario.person, environment):
            outcome = run_agent(launch, SECONDS, STARTUP_SECONDS, lambda: bool(live.TRAITS.report or model.turns))
        if resident:
            (folder / "resident.json").write_text(_serve(sandbox, launch.env, "--stop", "--json"), encoding="utf-8")
        evidence = _evidence(live, sandbox, outcome, model)
        evidence = replace(evidence, lost=losses(agent.host, scenario), events=events_of(agent.host))
        if scenario.asks_doctor:
            evidence = replace(evidence, doctor_failed=_doctor(agent, sandbox, launch.env))
    _keep(folder, outcome)
    return evidence


def _copy(root: Path | None, project: Path, name: str) -> None:
    assert root is not None
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(root / name, project / name)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if text.startswith("#!"):
        path.chmod(0o755)


def _launch(live: Live, sandbox: Sandbox, agent: Agent, scenario: Scenario) -> Launch:
    launch = live.prepare(sandbox, agent.mode)
    if "trust" in scenario.needs and live.TRAITS.asks:
        launch = live.TRAITS.asks(sandbox, launch)
    if agent.node:
        launch = replace(launch, env={"PATH": f"{agent.node}{os.pathsep}{os.environ['PATH']}", **launch.env})
    return live.TRAITS.compactable(launch) if "compacts" in scenario.needs else launch


def _install(agent: Agent, scenario: Scenario, sandbox: Sandbox, fail_closed: bool) -> None:
    """Run `onehook install`, as a user would."""
    policy = _policy(scenario, sandbox.project)
    if scenario.imports:
        _onehook(sandbox, "import", "--from", "claude", "--output", f".hooks/{scenario.policy_name}", "--take-over")
    elif scenario.plugin:
        _onehook(sandbox, "import", "--plugin", str(sandbox.project / scenario.plugin), "--output", f".hooks/{scenario.policy_name}")
    elif not scenario.policy_path:
        policy.write_text(scenario.policy, encoding="utf-8")
    host = wire_of(agent.host).TRAITS.reads_config_of[0] if scenario.borrowed else agent.host
    resident = ["--resident" if os.environ.get(RESIDENT) else "--no-resident"]
    more = [*(["--fail-closed"] if fail_closed else []), *(["--trust"] if scenario.trusted else []), *resident]
    more += ["--scope", _scope(host, sandbox)]
    environment = sandbox.home / "venv"
    python = sys.executable if scenario.interpreter is None else _interpreter(environment)
    scope = load(host, "config").places(Machine(sandbox.home, sandbox.project))[0].scope  # an agent may have only a file for the user
    _onehook(sandbox, "install", str(policy), "--hosts", host, "--scope", scope, "--yes", *more, python=python)
    if scenario.interpreter is not None:
        shutil.rmtree(environment)
    if scenario.interpreter:
        _put(Path(python), scenario.interpreter.format(python=shlex.quote(sys.executable)))
    if scenario.later:
        policy.write_text(scenario.policy + scenario.later, encoding="utf-8")


def _scope(host: str, sandbox: Sandbox) -> str:
    """The project's scope, if the agent has hooks there."""
    return load(host, "config").places(Machine(sandbox.home, sandbox.project))[0].scope


def _policy(scenario: Scenario, project: Path) -> Path:
    if not scenario.policy_path:
        return project / ".hooks" / scenario.policy_name
    path = Path(scenario.policy_path)
    return project / path.relative_to(scenario.copied_from) if scenario.copied_from else path


def _interpreter(environment: Path) -> str:
    """The interpreter of a new virtual environment that has the same packages as this one."""
    import venv

    venv.create(environment, symlinks=sys.platform != "win32")
    binaries = environment / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(binaries / "python")
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True
    )
    Path(packages.stdout.strip(), "proof.pth").write_text("\n".join(filter(None, sys.path)), encoding="utf-8")
    return python


def _onehook(sandbox: Sandbox, verb: str, *arguments: str, python: str = sys.executable) -> None:
    argv = [python, "-I", "-m", "onehook", verb, *arguments, "--project", str(sandbox.project)]
    environment = {"HOME": str(sandbox.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(argv, cwd=sandbox.project, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError(f"onehook {verb} failed: {done.stderr.strip() or done.stdout.strip()}")


def _serve(sandbox: Sandbox, variables: dict[str, str], *words: str) -> str:
    """Start the process that answers in resident mode, so that it is ready for the first event; or stop it, which returns what it
    answered."""
    argv = [sys.executable, "-I", "-m", "onehook", "serve", *words]
    environment = {**os.environ, **variables, "HOME": str(sandbox.home), "PATH": os.environ["PATH"]}
    done = subprocess.run(argv, cwd=sandbox.project, env=environment, capture_output=True, text=True, timeout=60, check=False)
    state = sandbox.home / ".local" / "state" / "onehook" / "resident"
    until = time.monotonic() + 20
    while "--stop" not in words and time.monotonic() < until and not any(state.glob("*.state")):
        time.sleep(0.05)
    return done.stdout


def _doctor(agent: Agent, sandbox: Sandbox, variables: dict[str, str]) -> bool:
    argv = [sys.executable, "-I", "-m", "onehook", "doctor", "--hosts", agent.host, "--project", str(sandbox.project), "--no-fire"]
    environment = {**variables, "HOME": str(sandbox.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(argv, env=environment, cwd=sandbox.project, capture_output=True, timeout=60, check=False).returncode == 1


def _evidence(live: Live, sandbox: Sandbox, outcome: Outcome, model: ScriptedModel) -> Evidence:
    if live.TRAITS.report:
        return Evidence(sandbox.project, sandbox.home, outcome, *live.TRAITS.report(outcome.stdout))
    shown = f"{outcome.stdout}\n{outcome.stderr}"
    return Evidence(sandbox.project, sandbox.home, outcome, len(model.turns), (model.told(),), shown)


def _keep(folder: Path, outcome: Outcome) -> None:
    """Keep the agent's output, so that a failure can be explained."""
    (folder / "stdout.txt").write_text(outcome.stdout, encoding="utf-8")
    (folder / "stderr.txt").write_text(outcome.stderr, encoding="utf-8")
