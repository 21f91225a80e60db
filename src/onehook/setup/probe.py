"""Run the installed command as the agent does, through its shell and with one of its payloads, and check that it denies and allows."""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from onehook.codec import dumps
from onehook.core import Event, OnehookError, Response
from onehook.hostkit.config import Diagnosis, Found, Machine
from onehook.hostkit.reverse import sample
from onehook.hosts import load, wire_of
from onehook.policy import is_manifest
from onehook.setup.command import PORTABLE_FOLDER, read, without_guard
from onehook.setup.installed import ConfigFile
from onehook.setup.plan import is_rewritten
from onehook.setup.runtime import LAUNCH, edited_files
from onehook.words import PROBE_REASON

FIRE_SECONDS = 40
SLOW_RATIO = 4.0  # times a bare interpreter; slower policies get a note
SLOW_SITE_RATIO = 3.0
_BARE_RUNS = 3

_PTH_FILES = """
import os, site, sys
for folder in site.getsitepackages():
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(".pth"):
            with open(os.path.join(folder, name), errors="replace") as file:
                if any(line.startswith(("import ", "import\\t")) for line in file):
                    print(os.path.join(folder, name))
"""


def may_run(file: ConfigFile, found: Found, machine: Machine) -> str:
    """Why doctor does not run an entry; "" if it does. It runs only what this onehook's own install would write.

    A config file may come with a cloned repository, and so may a runtime: neither is a reason to run anything.
    """
    if not is_rewritten(file.host, file.place, found, machine):
        return f"the {found.event} entry differs from what this version of onehook writes, so it was not run: {found.command[:120]}"
    written = read(found.command)
    folder = written.launcher_path(machine.project).parent if written and written.launcher.endswith(LAUNCH) else None
    if folder and edited_files(folder):
        shown = f"{PORTABLE_FOLDER}/" if folder.name == PORTABLE_FOLDER else folder
        return f"the {found.event} entry runs the runtime in {shown}, which does not match this version of onehook, so it was not run"
    return ""


def probe_entries(file: ConfigFile, machine: Machine, again: str) -> Iterator[Diagnosis]:
    """Send each PreToolUse entry one call that it must deny and one that it must allow, and read the answer as the agent does."""
    wire = wire_of(file.host)
    for gate in file.ours:
        if gate.event in wire.EVENTS and wire.EVENTS[gate.event].event == "PreToolUse":
            refused = may_run(file, gate, machine)
            yield from [Diagnosis("fail", refused, again)] if refused else _probe_entry(file, gate, machine)


def _probe_entry(file: ConfigFile, gate: Found, machine: Machine) -> Iterator[Diagnosis]:
    rerun = f"fix the error, then run: onehook doctor --hosts {file.host}"
    try:
        begun = time.perf_counter()
        denied, denial = run_probe(file, gate, machine, "deny")
        between = time.perf_counter()
        allowed, permission = run_probe(file, gate, machine, "allow")
        took = min(between - begun, time.perf_counter() - between)  # the first event after a change compiles
    except subprocess.TimeoutExpired:
        yield Diagnosis("fail", f"run through the agent's shell, it did not answer within {FIRE_SECONDS} s", rerun)
        return
    except OSError as error:
        yield Diagnosis("fail", f"the agent's shell cannot be started: {error.filename}: {error.strerror}", "install it, or fix SHELL")
        return
    if denial is None or denial.decision != "deny":
        yield Diagnosis("fail", f"run through the agent's shell, it did not deny: {_last_line(denied)}", rerun)
    elif PROBE_REASON not in f"{denial.reason}{denial.user_message}{denied.stderr}":
        yield Diagnosis("fail", f"run through the agent's shell, the policy fails, and everything is denied: {_last_line(denied)}", rerun)
    elif permission is None or permission.decision == "deny":
        yield Diagnosis("fail", f"run through the agent's shell, it denied a call that it must allow: {_last_line(allowed)}", rerun)
    else:
        text = "a test event, run through the agent's shell without your handlers: denied and allowed as expected"
        yield Diagnosis("ok", f"{text} ({took * 1000:.0f} ms)")
        if not denied.stdout.strip().startswith("{") and denied.stdout.strip():
            first = denied.stdout.strip().splitlines()[0][:80]
            text = f"the login shell prints text before the answer, so some agents cannot read it: {first!r}"
            yield Diagnosis("warn", text, "print only in interactive shells: [ -t 1 ] && echo ...")
    yield from _slow(gate, took, machine)


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The exit code and the last line of output, which names the error if there is a traceback."""
    text = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
    return f"exit {done.returncode}: {text[:300]}"


def run_probe(file: ConfigFile, found: Found, machine: Machine, probe: str) -> tuple[subprocess.CompletedProcess[str], Response | None]:
    """What the command printed, and how the agent reads it; None if the agent treats it as a failure."""
    reverse = load(file.host, "reverse")
    command, guard = without_guard(found.command)
    event: Event = sample("PreToolUse", "Bash", command="true", session_id="onehook-doctor", cwd=str(machine.project))
    done = subprocess.run(
        [*_shell(file, machine), f"{command} --probe {probe}{guard}"],
        input=dumps(reverse.payload(event, found.event)),
        capture_output=True,
        text=True,
        cwd=_folder(file, found, machine),
        env=_environment(file, machine),
        timeout=FIRE_SECONDS,
        check=False,
    )
    try:
        answer: Response = reverse.answer(event, done.stdout, done.stderr, done.returncode, found.event)
    except OnehookError:
        return done, None
    return done, answer


def _shell(file: ConfigFile, machine: Machine) -> list[str]:
    if machine.windows:
        return ["powershell", "-NoProfile", "-NonInteractive", "-Command"]
    program, *options = file.config.TRAITS.shell
    return [machine.variables.get("SHELL") or "/bin/sh" if program == "$SHELL" else program, *options]


def _folder(file: ConfigFile, found: Found, machine: Machine) -> Path:
    """The folder to run it in: not the project, unless the agent starts hooks there and the command relies on it."""
    relative_to_it = file.place.format == "own" or file.config.PROJECT == "."
    relies_on_it = relative_to_it or (PORTABLE_FOLDER in found.command and not file.config.PROJECT)
    return machine.project if relies_on_it else Path("/")


def _environment(file: ConfigFile, machine: Machine) -> dict[str, str]:
    variable = re.search(r"\$\{?(\w+)", file.config.PROJECT)
    given = {variable.group(1): str(machine.project)} if variable else {}
    return {**machine.variables, "HOME": str(machine.home), **given}


# ---- what a start costs


def _slow(found: Found, took: float, machine: Machine) -> Iterator[Diagnosis]:
    written = read(found.command)
    if written is None or not os.access(written.interpreter, os.X_OK):
        return
    without_site = _start_of(written.interpreter, "-I", "-S")
    if took > SLOW_RATIO * without_site + 0.1:
        policy = str(written.policy_path(machine.project))
        text = f"an event takes {took * 1000:.0f} ms, {took / without_site:.1f} times a bare interpreter"
        if is_manifest(policy):
            yield Diagnosis("note", f"{text}: caused by the manifest's programs, or by the login shell", f"time each `run` of {policy}")
        else:
            fix = f"{written.interpreter} -X importtime {shlex.quote(policy)}"
            yield Diagnosis("note", f"{text}: caused by the imports of the policy, or by the login shell", fix)
    ratio = _start_of(written.interpreter, "-I") / without_site
    if ratio > SLOW_SITE_RATIO:
        listed = subprocess.run([written.interpreter, "-I", "-c", _PTH_FILES], capture_output=True, text=True, check=False).stdout.split(
            "\n"
        )
        files = ", ".join(name for name in listed if name) or "site"
        text = f"{files} make this interpreter {ratio:.1f} times slower to start, but only for a policy that imports from site-packages"
        yield Diagnosis("note", text, f"{sys.executable} -m venv DIR, then install onehook and the packages of the policy there")


@functools.cache  # agents mostly share an interpreter
def _start_of(interpreter: str, *options: str) -> float:
    """The shortest of several starts, in seconds."""
    argv = [interpreter, *options, "-c", "pass"]
    times: list[float] = []
    for _ in range(_BARE_RUNS):
        begun = time.perf_counter()
        subprocess.run(argv, check=False, capture_output=True)
        times.append(time.perf_counter() - begun)
    return min(times)
