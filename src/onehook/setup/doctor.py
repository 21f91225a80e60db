"""Would a deny take effect? Every check looks at the real thing: the file, the interpreter, the command fired through the host's shell."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onehook.codec import dumps
from onehook.core import Response
from onehook.hosts import load, wire_of
from onehook.hosts.configuring import DEFAULT_EVENTS, Finding, Found, Machine
from onehook.hosts.effects import compile_response
from onehook.hosts.reversing import sample
from onehook.setup.command import LAUNCHER, PORTABLE_FOLDER
from onehook.setup.plan import config_of, present
from onehook.setup.portable import installed_version
from onehook.setup.survey import Spot, policy_of, readable, survey, words_of
from onehook.version import VERSION

FIRE_SECONDS = 40
SLOW_RATIO = 4.0  # times a bare interpreter; a policy above that is worth a word


@dataclass(frozen=True)
class Report:
    host: str
    where: str
    finding: Finding


def examine(machine: Machine, hosts: list[str], *, fire: bool = True) -> Iterator[Report]:
    """Every finding of every host, as it is found."""
    spots = survey(machine, hosts)
    for host in hosts:
        mine = [spot for spot in spots if spot.host == host]
        title = config_of(host).TITLE
        if not any(spot.ours for spot in mine):
            where = present(host, machine)
            level, fix = ("warn", "onehook install POLICY --hosts " + host) if where else ("note", "")
            yield Report(title, "", Finding(level, "nothing of onehook is installed" if where else "not here", fix))
        for spot in mine:
            yield from (Report(title, str(spot.place.path), finding) for finding in _examine_spot(spot, machine, fire))
        yield from (Report(title, "", finding) for finding in _duplicates(mine))
    yield from (Report("all hosts", "", finding) for finding in _across(spots, machine))


def _examine_spot(spot: Spot, machine: Machine, fire: bool) -> Iterator[Finding]:
    if not spot.exists:
        return
    if spot.problem:
        yield Finding("fail", spot.problem, f"mend {spot.place.path}")
        return
    wrong = spot.config.problems(spot.data) if readable(spot.place) else []
    for problem in wrong:
        yield Finding("fail" if spot.ours else "warn", problem, f"mend {spot.place.path}")
    if not spot.ours:
        yield from (f for f in spot.config.checks(machine, spot.place, spot.data, []) if f.level == "fail" and "hooks" in f.what.lower())
        return
    if not wrong:
        yield Finding("ok", "the file is valid by the host's own rules")
    yield from _entries(spot, machine)
    yield from spot.config.checks(machine, spot.place, spot.data, spot.ours)
    if spot.foreign:
        events = ", ".join(sorted({found.event for found in spot.foreign} & {found.event for found in spot.ours}))
        if events:
            yield Finding("note", f"other hooks answer the same events too: {events}")
    if fire:
        yield from _fired(spot, machine)


def _entries(spot: Spot, machine: Machine) -> Iterator[Finding]:
    covered = {wire_of(spot.host).EVENTS[found.event].event for found in spot.ours if found.event in wire_of(spot.host).EVENTS}
    missing = [event for event in DEFAULT_EVENTS if event in config_of(spot.host).EVENTS and event not in covered]
    if missing:
        yield Finding("note", f"not installed for {', '.join(missing)}")
    for command in dict.fromkeys(found.command for found in spot.ours):
        policy = policy_of(command, machine)
        if policy is None or not policy.is_file():
            yield Finding("fail", f"the policy {policy} is not there", "onehook uninstall, or put it back")
            return
    yield from _programs(spot.ours[0], machine)


def _programs(found: Found, machine: Machine) -> Iterator[Finding]:
    words = words_of(found.command)
    if PORTABLE_FOLDER in found.command:
        version = installed_version(machine.project)
        if version != VERSION:
            yield Finding(
                "warn", f"the runtime in {PORTABLE_FOLDER}/ is {version or 'gone'}, this is {VERSION}", "install again with --portable"
            )
        return
    interpreter = words[0]
    launcher = next((word for word in words if word.endswith("launch.py")), "")
    if not os.access(interpreter, os.X_OK):
        yield Finding("fail", f"the interpreter {interpreter} is gone", "onehook install POLICY")
    elif "/shims/" in interpreter:
        yield Finding("warn", f"{interpreter} is a shim: every event pays for it", "install with the interpreter itself")
    if launcher and not Path(launcher).is_file():
        yield Finding("fail", f"the launcher {launcher} is gone", "onehook install POLICY")
    elif launcher and Path(launcher) != LAUNCHER:
        yield Finding("note", f"the entries start another onehook than this one: {launcher}", "onehook install POLICY")


# --- firing ---------------------------------------------------------------------------------------------------------------------


def _fired(spot: Spot, machine: Machine) -> Iterator[Finding]:
    """The written command, through the host's shell, from another folder: one probe must be denied, one must not."""
    wire = wire_of(spot.host)
    gate = next((found for found in spot.ours if wire.EVENTS[found.event].event == "PreToolUse"), None)
    if gate is None:
        yield Finding("warn", "no PreToolUse entry: tools are not stopped", "onehook install POLICY")
        return
    begun = time.perf_counter()
    denied = _fire(spot, gate, machine, "deny")
    took = time.perf_counter() - begun
    allowed = _fire(spot, gate, machine, "allow")
    expected = _expected_deny(spot.host, gate.event)
    if (denied.stdout.strip(), denied.returncode) == expected and allowed.returncode == 0:
        yield Finding("ok", f"fired through the host's shell: a deny is said as the host obeys it, an allow goes on ({took * 1000:.0f} ms)")
    else:
        said = (denied.stderr or denied.stdout or allowed.stderr).strip()[:300]
        yield Finding(
            "fail", f"fired through the host's shell, it did not deny (exit {denied.returncode}): {said}", "see the message; onehook run"
        )
    yield from _slow(gate, took)


def _fire(spot: Spot, found: Found, machine: Machine, probe: str) -> subprocess.CompletedProcess[str]:
    payload = load(spot.host, "reverse").payload(
        sample("PreToolUse", "Bash", command="true", session_id="onehook-doctor", cwd=str(machine.project))
    )
    environment = {**os.environ, "HOME": str(machine.home), "CLAUDE_PROJECT_DIR": str(machine.project)}
    shell = [os.environ.get("SHELL") or "/bin/sh", "-lc"] if config_of(spot.host).SHELL == "login" else ["/bin/sh", "-c"]
    line = f"{found.command} --probe {probe}"
    starts_there = PORTABLE_FOLDER in found.command or config_of(spot.host).PROJECT == "."
    folder = machine.project if starts_there else Path("/")
    return subprocess.run(
        [*shell, line], input=dumps(payload), capture_output=True, text=True, cwd=folder, env=environment, timeout=FIRE_SECONDS, check=False
    )


def _expected_deny(host: str, native_event: str) -> tuple[str, int]:
    from onehook.core import Options
    from onehook.runner import PROBE_REASON

    wire = wire_of(host)
    event = wire.parse(load(host, "reverse").payload(sample("PreToolUse", "Bash", command="true")), native_event)
    answer, _ = compile_response(wire, event, Response("deny", PROBE_REASON), Options())
    output = wire.render(event, answer, False)
    return output.stdout, output.exit_code


def _slow(found: Found, took: float) -> Iterator[Finding]:
    interpreter = words_of(found.command)[0]
    begun = time.perf_counter()
    subprocess.run([interpreter, "-I", "-c", "pass"], check=False, capture_output=True)
    bare = time.perf_counter() - begun
    begun = time.perf_counter()
    subprocess.run([interpreter, "-I", "-S", "-c", "pass"], check=False, capture_output=True)
    without_site = time.perf_counter() - begun
    if bare > 3 * without_site:
        text = (
            f"site and .pth files make this interpreter {bare / without_site:.1f} times slower to start; onehook's entries skip them (-S)"
        )
        yield Finding("note", text)
    if took > SLOW_RATIO * without_site + 0.1:
        text = (
            f"an event takes {took * 1000:.0f} ms, {took / without_site:.1f} times a bare start: the policy's own imports, or a login shell"
        )
        yield Finding("note", text, "python -X importtime -c 'import ...' shows which import")


# --- what several places do together ---------------------------------------------------------------------------------------------


def _duplicates(spots: list[Spot]) -> Iterator[Finding]:
    """User and project both: the same policy would answer twice."""
    seen: dict[tuple[str, str], str] = {}
    for spot in spots:
        for found in spot.ours:
            key = (found.event, " ".join(words_of(found.command)[4:5]).rpartition("/")[2])
            other = seen.setdefault(key, str(spot.place.path))
            if other != str(spot.place.path):
                yield Finding(
                    "warn", f"installed in {other} and in {spot.place.path}: events are handled twice", "onehook uninstall --scope user"
                )
                return


def _across(spots: list[Spot], machine: Machine) -> Iterator[Finding]:
    """Cursor also runs what stands in Claude Code's files; it drops an entry only if its own command is exactly the same."""
    ours = {spot.host: {found.command for found in spot.ours} for spot in spots if spot.ours and spot.place.scope != "enterprise"}
    for host, borrowers in ((spot.host, wire_of(spot.host).BORROWED_BY) for spot in spots if spot.ours):
        for borrower, _ in borrowers:
            if borrower in ours and not ours[host] & ours[borrower]:
                one, other = config_of(borrower).TITLE, config_of(host).TITLE
                text = f"{one} also runs the entries of {other}, and they differ: events are handled twice"
                yield Finding("warn", text, f"onehook install POLICY --hosts {host},{borrower}")
                return
