"""One event for the programs of a manifest, in each program's dialect; the answers are read by the rules of the same dialect."""

from __future__ import annotations

import os
import sys

from onehook.codec import compact, loads
from onehook.core import Event, HandlerError, OnehookError, PayloadError, Response, merge
from onehook.hostkit.effects import gates
from onehook.hosts import HOSTS, load, wire_of
from onehook.manifest import programs
from onehook.manifest.programs import Run
from onehook.system import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from onehook.hosts.interface import Judge, Reverse
    from onehook.manifest.load import Program

OWN_DIALECT = "onehook"
_FALLBACK_GATES = ("PreToolUse", "PermissionRequest", "UserPromptSubmit")  # for events that did not come from a host


class _Part:
    """A program's run for one event, or for the part of it that is one call in the program's dialect.

    `event` is what the program receives; `heard_on` is what really happened, so the answer is for that.
    """

    __slots__ = ("dialect", "event", "heard_on", "problem", "program", "run")

    def __init__(self, program: Program, dialect: Reverse, event: Event, heard_on: Event) -> None:
        self.program = program
        self.dialect = dialect
        self.event = event
        self.heard_on = heard_on
        self.problem = ""
        self.run: Run | None = None

    def prepare(self, project: str) -> None:
        program, variables = self.program, _environment(self.program.dialect, self.event, project)
        if program.reads_transcript(self.heard_on, variables):
            self._take_transcript()
        try:
            payload = self.dialect.payload(self.event, self.program.native_event)
            stdin = self._question(project) + self._bytes(payload)
        except (OnehookError, TypeError, ValueError) as error:
            self.problem = f": {error}"
            return
        self.run = Run(program.words(), stdin, program.timeout, variables, program.shell)

    def left_alone(self) -> bool:
        """Start the program in the background; False if that failed, and so did the program."""
        if self.run is not None:
            from onehook.manifest.background import start

            self.problem = start(self.program, self.event, self.run)
            self.problem = f" {self.problem}" if self.problem else ""
            self.run = None
        return not self.problem

    def _take_transcript(self) -> None:
        from onehook.manifest.transcripts import built

        path = built(self.program.dialect, self.heard_on)
        self.event = self.event.copy()
        self.event._transcript = path

    def _bytes(self, payload: dict[str, Any]) -> bytes:
        """What the program's agent would send: hooks search it with grep, so spaces and escapes count. Its own agent did send it."""
        if self.event._raw and payload == self.event.native:
            return self.event._raw
        return compact(payload).encode("utf-8") + b"\n"

    def _question(self, project: str) -> bytes:
        """The line before the payload for the program that asks a model; nothing for any other."""
        judge = self.program.judge
        return compact({**judge, "folder": project}).encode("utf-8") + b"\n" if judge else b""

    def answer(self) -> Response | None:
        if self.run is None or self.run.problem:
            return self._failed(self.problem if self.run is None else f" {self.run.problem}")
        stdout, stderr = (text.decode("utf-8", "backslashreplace") for text in (self.run.stdout, self.run.stderr))
        try:
            if self.program.judge:
                stdout = self._judged(self.program.judge, self.run, stdout, stderr)
            heard = self.dialect.answer(self.event, stdout, stderr, self.run.exit_code, self.program.native_event)
        except OnehookError as error:
            return self._failed(f": {error}")
        if not heard.given() and self._foreign(stdout):
            return self._failed(f": its answer has no field that {self.dialect.LABEL} reads; see `speaks`")
        if self.program.once and self.run.exit_code == 0:
            from onehook.manifest.active import note_run

            note_run(self.heard_on, self.program.label)
        if self.program.dialect != self.heard_on.host:
            self._say_losses(stdout, self.run.exit_code)
        if self.run.exit_code == 0 and stderr.strip():
            sys.stderr.write(stderr if stderr.endswith("\n") else stderr + "\n")
        if self._stands_in and not wire_of(self.heard_on.host).TRAITS.stand_ins[self.heard_on.native_event].inside:
            heard = _without_decision(self.program, self.heard_on, heard)
        return _for_host(self.program, self.heard_on if self._stands_in else self.event, heard)

    def _judged(self, asked: dict[str, Any], run: Run, stdout: str, stderr: str) -> str:
        """The verdict of a model as an answer in the dialect."""
        said = loads(stdout) if run.exit_code == 0 else None
        if not isinstance(said, dict) or not isinstance(said.get("ok"), bool):
            raise HandlerError(stderr.strip() or "there is no verdict")
        meaning = judge_of(self.program.dialect).verdict(self.event, said, asked)
        return compact(meaning) if meaning else ""

    def _foreign(self, stdout: str) -> bool:
        """Whether an answer has no field of the dialect. Its agent would ignore it, even a deny in another agent's format.

        In a dialect without such fields, in which only the exit code answers, a program may print anything.
        """
        if not self.dialect.ANSWERS:
            return False
        try:
            body = loads(stdout.strip())
        except PayloadError:
            return False
        return isinstance(body, dict) and bool(body) and not any(key in body for key in self.dialect.ANSWERS)

    @property
    def _stands_in(self) -> bool:
        return self.event.event != self.heard_on.event

    def _failed(self, problem: str) -> Response | None:
        """The answer of a program that failed: depending on its `fail`, a deny, or no opinion and a warning."""
        text = f"the hook {self.program.__name__!r}{problem}"
        if self.program.fail == "closed" and not self._stands_in and _can_be_denied(self.event):
            return Response("deny", f"onehook: {text} (blocked: fail=closed)")
        sys.stderr.write(f"[onehook] warning: {text}\n")
        return None

    def _say_losses(self, stdout: str, exit_code: int) -> None:
        """Warn about parts of the answer that only the program's own host can act on."""
        lost = self.dialect.losses(self.event, stdout, exit_code, self.program.native_event)
        if lost:
            text = f"its answer sets {', '.join(lost)}, which only {self.dialect.LABEL} supports; dropped"
            sys.stderr.write(f"[onehook] warning: the hook {self.program.__name__!r}: {text}\n")


def answers(programs: list[Program], event: Event, seconds: float) -> list[Response | None]:
    """The programs' answers, in order."""
    if not programs:
        return []
    parts: list[list[_Part]] = []
    for program in programs:
        dialect = dialect_of(program.dialect)
        moment = program.moment(event)
        meant = [part for part in dialect.parts(program.told(event if moment is None else moment)) if program.means(part)]
        parts.append([_Part(program, dialect, part, event) for part in meant])
        for part in parts[-1]:
            part.prepare(project_of(event, program.folder))
        if program.background:
            parts[-1] = [part for part in parts[-1] if not part.left_alone()]
    _way_to_run()([part.run for several in parts for part in several if part.run is not None], seconds)
    return [_joined(several) for several in parts]


def _way_to_run() -> Callable[[list[Run], float], None]:
    if hasattr(os, "posix_spawn"):
        return programs.run_all
    from onehook.manifest import programs_windows

    return programs_windows.run_all


def _joined(parts: list[_Part]) -> Response | None:
    merged: Response | None = None
    for part in parts:
        answer = part.answer()
        if answer is not None:
            merged = answer if merged is None else merge(merged, answer)
    return merged


def dialect_of(name: str) -> Reverse:
    if name == OWN_DIALECT:
        from onehook.hostkit import unified

        return unified
    return load(name, "reverse")


def judge_of(name: str) -> Judge:
    """What a verdict means in a dialect."""
    if name == OWN_DIALECT:
        from onehook.hostkit import unified

        return unified
    return load(name, "judge")


def _can_be_denied(event: Event) -> bool:
    return gates(wire_of(event.host), event) if event.host in HOSTS else event.event in _FALLBACK_GATES


def _without_decision(program: Program, event: Event, heard: Response) -> Response:
    """The answer to an event that another one replaces. Blocking one does not block the other, so the model is only told the reason."""
    if heard.decision in ("deny", "ask"):
        where = f"{event.host} {event.native_event}"
        text = f"stands in for {program.event}, and cannot {heard.decision} it; the model is told the reason instead"
        sys.stderr.write(f"[onehook] warning: {where} {text}\n")
        heard.additional_context = "\n\n".join(part for part in (heard.reason, heard.additional_context) if part) or None
        heard.reason = None
    heard.decision = heard.modified_input = heard.modified_output = heard.native = None
    return heard


def _for_host(program: Program, event: Event, heard: Response) -> Response:
    """The answer translated for the host that really runs."""
    if heard.decision == "allow" and event.event != "PermissionRequest" and not _grants(program, event):
        heard.decision = None
    caps = wire_of(event.host).caps(event) if event.host in HOSTS else None
    if caps is None:
        return heard
    if heard.message is not None and caps["message"].kind != "honoured":
        heard.user_message = "\n\n".join(text for text in (heard.user_message, heard.message) if text)
        heard.message = None
    if heard.lint_command is not None and caps["lint_command"].kind != "honoured":
        suggestion = f"suggested command: {heard.lint_command}"
        heard.additional_context = "\n\n".join(text for text in (heard.additional_context, suggestion) if text)
        heard.lint_command = None
    return heard


def _grants(program: Program, event: Event) -> bool:
    """Whether an allow in the program's dialect skips the permission prompt. In most dialects it only means "continue", and every script
    ends with it: on a host where allow skips the prompt, such a script would approve whatever the agent wants to do."""
    if program.dialect in (OWN_DIALECT, event.host):
        return True
    wire = wire_of(program.dialect)
    for name, row in wire.EVENTS.items():
        if row.event == event.event:
            as_there = Event(row.event, program.dialect)
            as_there.native_event = program.native_event or name
            return wire.caps(as_there)["approve"].kind == "honoured"
    return False


def _environment(speaks: str, event: Event, project: str) -> dict[str, str]:
    """Our variables, and those that the dialect's programs expect. Existing values stay, unless they are about another project.

    Variables that show that another agent runs are removed: some programs look for them, and then answer in that agent's words.
    """
    variables = dict(os.environ)
    dialect = dialect_of(speaks)
    expected = dialect.variables(event, project)
    if event.host in HOSTS and speaks not in (OWN_DIALECT, event.host):
        for name in wire_of(event.host).TRAITS.variables:
            if name not in expected:
                variables.pop(name, None)
    variables["ONEHOOK_HOST"] = event.host
    variables["ONEHOOK_PROJECT_DIR"] = project
    if dialect.ENV_FILE and speaks != event.host:
        from onehook.manifest.variables import EVENTS, place

        if event.event in EVENTS:
            variables[dialect.ENV_FILE] = place(event)
    for name, value in expected.items():
        known = variables.get(name)
        if known is None or (name.endswith("_PROJECT_DIR") and event.cwd and not _inside(event.cwd, known)):
            variables[name] = value
    return variables


def project_of(event: Event, folder: str) -> str:
    """The project's folder: the manifest's repository if the agent works in it, otherwise the repository that the agent works in."""
    own = repository(folder) or folder
    if not event.cwd or _inside(event.cwd, own):
        return own
    return (os.path.isabs(event.cwd) and repository(event.cwd)) or event.cwd


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/\\") + os.sep)
