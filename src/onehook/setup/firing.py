"""The written command, started as the host starts it: through its shell, from another folder, with a payload of its own."""

from __future__ import annotations

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
from onehook.hostkit.config import Finding, Found, Machine
from onehook.hostkit.reverse import sample
from onehook.hosts import load, wire_of
from onehook.runner import PROBE_REASON, is_manifest
from onehook.setup.command import PORTABLE_FOLDER, read
from onehook.setup.survey import Spot

FIRE_SECONDS = 40
SLOW_RATIO = 4.0  # times a bare interpreter; a policy above that is worth a word
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


def fired(spot: Spot, machine: Machine) -> Iterator[Finding]:
    """One probe must be denied, one must not; what comes back is read as the host reads it."""
    wire = wire_of(spot.host)
    gates = [found for found in spot.ours if found.event in wire.EVENTS and wire.EVENTS[found.event].event == "PreToolUse"]
    if not gates:
        policy = next((str(line.policy_path(machine.project)) for found in spot.ours if (line := read(found.command))), "POLICY")
        yield Finding("warn", "no PreToolUse entry: no tool is stopped", f"onehook install {policy} --events PreToolUse")
    for gate in gates:
        yield from _fired_entry(spot, gate, machine)


def _fired_entry(spot: Spot, gate: Found, machine: Machine) -> Iterator[Finding]:
    rerun = f"mend what it says, then: onehook doctor --hosts {spot.host}"
    try:
        begun = time.perf_counter()
        denied, denial = fire(spot, gate, machine, "deny")
        took = time.perf_counter() - begun
        allowed, permission = fire(spot, gate, machine, "allow")
    except subprocess.TimeoutExpired:
        yield Finding("fail", f"fired through the host's shell, it gave no answer within {FIRE_SECONDS} s", rerun)
        return
    except OSError as error:
        yield Finding("fail", f"the host's shell cannot be started: {error.filename}: {error.strerror}", "chsh -s /bin/sh, or mend SHELL")
        return
    if denial is None or denial.decision != "deny":
        yield Finding("fail", f"fired through the host's shell, it did not deny: {_said(denied)}", rerun)
    elif PROBE_REASON not in f"{denial.reason}{denial.user_message}{denied.stderr}":
        yield Finding("fail", f"fired through the host's shell, the policy breaks, so that everything is denied: {_said(denied)}", rerun)
    elif permission is None or permission.decision == "deny":
        yield Finding("fail", f"fired through the host's shell, it denied what it must allow: {_said(allowed)}", rerun)
    else:
        yield Finding("ok", f"fired through the host's shell: denied and allowed as it should ({took * 1000:.0f} ms)")
        if not denied.stdout.strip().startswith("{") and denied.stdout.strip():
            text = (
                f"the login shell prints before the answer: {denied.stdout.strip().splitlines()[0][:80]!r}; some hosts cannot read it then"
            )
            yield Finding("warn", text, "print only in interactive shells: [ -t 1 ] && echo ...")
    yield from _slow(gate, took, machine)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """The last line, which names the error where there is a traceback before it."""
    text = (done.stderr.strip() or done.stdout.strip() or "nothing was printed").splitlines()[-1]
    return f"exit {done.returncode}: {text[:300]}"


def fire(spot: Spot, found: Found, machine: Machine, probe: str) -> tuple[subprocess.CompletedProcess[str], Response | None]:
    """What the command printed, and what the host makes of it; None if the host takes it for a failure."""
    reverse = load(spot.host, "reverse")
    event: Event = sample("PreToolUse", "Bash", command="true", session_id="onehook-doctor", cwd=str(machine.project))
    done = subprocess.run(
        [*_shell(spot, machine), f"{found.command} --probe {probe}"],
        input=dumps(reverse.payload(event, found.event)),
        capture_output=True,
        text=True,
        cwd=_folder(spot, found, machine),
        env=_environment(spot, machine),
        timeout=FIRE_SECONDS,
        check=False,
    )
    try:
        answer: Response = reverse.answer(event, done.stdout, done.stderr, done.returncode, found.event)
    except OnehookError:
        return done, None
    return done, answer


def _shell(spot: Spot, machine: Machine) -> list[str]:
    if machine.windows:
        return ["powershell", "-NoProfile", "-NonInteractive", "-Command"]
    if spot.config.TRAITS.shell == "login":
        return [machine.variables.get("SHELL") or "/bin/sh", "-lc"]
    return ["/bin/sh", "-c"]


def _folder(spot: Spot, found: Found, machine: Machine) -> Path:
    """Somewhere else than the project, unless the host starts its hooks there and the command counts on that."""
    named_from_there = spot.place.format == "own" or spot.config.PROJECT == "."
    counts_on_it = named_from_there or (PORTABLE_FOLDER in found.command and not spot.config.PROJECT)
    return machine.project if counts_on_it else Path("/")


def _environment(spot: Spot, machine: Machine) -> dict[str, str]:
    variable = re.search(r"\$\{?(\w+)", spot.config.PROJECT)
    given = {variable.group(1): str(machine.project)} if variable else {}
    return {**machine.variables, "HOME": str(machine.home), **given}


# ---- what a start costs


def _slow(found: Found, took: float, machine: Machine) -> Iterator[Finding]:
    written = read(found.command)
    if written is None or not os.access(written.interpreter, os.X_OK):
        return
    without_site = _best([written.interpreter, "-I", "-S", "-c", "pass"])
    if took > SLOW_RATIO * without_site + 0.1:
        policy = str(written.policy_path(machine.project))
        text = f"an event takes {took * 1000:.0f} ms, {took / without_site:.1f} times a bare start"
        if is_manifest(policy):
            yield Finding("note", f"{text}: the manifest's own programs, or the login shell", f"time each `run` of {policy}")
        else:
            fix = f"{written.interpreter} -X importtime {shlex.quote(policy)}"
            yield Finding("note", f"{text}: the policy's imports, or the login shell", fix)
    ratio = _best([written.interpreter, "-I", "-c", "pass"]) / without_site
    if ratio > SLOW_SITE_RATIO:
        listed = subprocess.run([written.interpreter, "-I", "-c", _PTH_FILES], capture_output=True, text=True, check=False).stdout.split(
            "\n"
        )
        files = ", ".join(name for name in listed if name) or "site"
        text = f"{files} make this interpreter {ratio:.1f} times slower to start; paid only if the policy imports what needs them"
        yield Finding("note", text, f"{sys.executable} -m venv DIR, and install onehook and the policy's packages there")


def _best(argv: list[str]) -> float:
    times: list[float] = []
    for _ in range(_BARE_RUNS):
        begun = time.perf_counter()
        subprocess.run(argv, check=False, capture_output=True)
        times.append(time.perf_counter() - begun)
    return min(times)
