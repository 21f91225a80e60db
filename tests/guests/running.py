"""How a hook of the corpus is run: as its own agent starts it, and through onehook on an agent; and what the agent makes of its answer."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from onehook.codec import compact
from onehook.core import Event, OnehookError, Options, Response
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.effects import compile_response
from onehook.hostkit.reverse import sample
from onehook.hostkit.transcripts import Entry, name_of
from onehook.hosts import GUESTS, guest, having, load, wire_of
from onehook.manifest import dialects
from onehook.manifest.load import load_manifest
from onehook.manifest.programs import Run
from onehook.runner import answer
from onehook.setup.imports import Import, Taken, manifest_string
from onehook.setup.plugins import hooks_of_pages
from tests.guests.corpus import FILES, Fire, Hook
from tests.host_folders import facts

SESSION = "5e551011-0000-4000-8000-000000000000"
CALL = "toolu_onehook"  # the same for all agents that name a call, so that a hook gets the same bytes from each
# The variables that a hook has from the environment of the tests; all others are those of its agent.
COMMON = ("PATH", "LANG", "LC_ALL", "TMPDIR")
USERS_SHELL = shutil.which("bash") or "/bin/sh"


class Seen(NamedTuple):
    """The result of a hook: the answer as the agent reads it, and the files that it left."""

    answer: Response
    left: dict[str, str]


class NotThere(Exception):
    """The agent has no such event, or no such tool."""


class Outcome(NamedTuple):
    """The result of a program: its answer, and the files below the case's folder that it wrote."""

    told: tuple[int, bytes, bytes, str]
    written: dict[str, bytes]


class Starts:
    """Starts a program once for each distinct input: words, stdin, variables and files, ignoring the name of the case's folder.

    For most agents, an event reaches a hook as exactly the same bytes, and then its result is already known. If a single byte differs, it
    is started again. ONEHOOK_HOST always differs, and no hook of the corpus reads it; nor does any read a transcript whose path it is not
    given: that is the running agent's own, and the hook gets one in the format of its agent.
    """

    def __init__(self, folder: Path, sessions: str, really: Callable[[list[Run], float], None], known: dict[str, Outcome]) -> None:
        """sessions: where the running agent keeps its transcripts, below the folder."""
        self.folder, self.sessions, self.really, self.known = folder, sessions, really, known

    def __call__(self, runs: list[Run], seconds: float) -> None:
        if len(runs) != 1:
            self.really(runs, seconds)
            return
        (run,) = runs
        before = files_below(self.folder)
        variables = {name: value for name, value in run.variables.items() if name != "ONEHOOK_HOST"}
        files = sorted((name, data) for name, data in before.items() if not self._is_untold(name, run.stdin))
        given = repr((run.words, run.stdin, sorted(variables.items()), files)).replace(str(self.folder), "{folder}")
        if given in self.known:
            self._repeat(run, self.known[given])
            return
        self.really(runs, seconds)
        after = files_below(self.folder)
        assert before.keys() <= after.keys(), "what a hook removes would not be removed where it is not started"
        written = {name: self._placeless(data) for name, data in after.items() if data != before.get(name)}
        told = (run.exit_code, self._placeless(run.stdout), self._placeless(run.stderr), run.problem)
        self.known[given] = Outcome(told, written)

    def _is_untold(self, name: str, stdin: bytes) -> bool:
        return bool(self.sessions) and name.startswith(f"{self.sessions}/") and f"{self.folder}/{self.sessions}/".encode() not in stdin

    def _repeat(self, run: Run, outcome: Outcome) -> None:
        run.exit_code, stdout, stderr, run.problem = outcome.told
        run.stdout, run.stderr = self._placed(stdout), self._placed(stderr)
        for name, data in outcome.written.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(self._placed(data))

    def _placeless(self, data: bytes) -> bytes:
        return data.replace(os.fsencode(self.folder), HERE)

    def _placed(self, data: bytes) -> bytes:
        return data.replace(HERE, os.fsencode(self.folder))


HERE = b"\0the folder of the case\0"
KNOWN: dict[str, Outcome] = {}


def files_below(folder: Path) -> dict[str, bytes]:
    """All files except onehook's own; its transcripts are included, since hooks see them: name -> content."""
    found, place = {}, len(str(folder)) + 1
    for base, folders, names in os.walk(folder):
        if base[place:] == "state":
            folders[:], names = [name for name in folders if name == "transcripts"], []
        for name in names:
            with open(path := f"{base}/{name}", "rb", buffering=0) as file:
                found[path[place:]] = file.read()
    return found


def project_of(folder: Path, hook: Hook) -> Path:
    """A project with the hook's files, as they are before it runs."""
    project = f"{folder}/a project"
    for name in FOLDERS:
        os.makedirs(f"{project}/{name}", exist_ok=True)
    for name, data in CONTENTS.items():
        put(f"{project}/{name}", data)
    if hook.script:
        put(f"{project}/hook", hook.script.encode())
        os.chmod(f"{project}/hook", 0o755)
    return Path(project)


def put(path: str, data: bytes) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(data)


CONTENTS = {**{name: text.encode() for name, text in FILES.items()}, ".git/HEAD": b"ref: refs/heads/main\n"}
FOLDERS = sorted({os.path.dirname(name) for name in CONTENTS} | {".git/objects", ".git/refs"})


@contextlib.contextmanager
def variables_are(wanted: dict[str, str]) -> Iterator[None]:
    """Set the variables of this process for a while; only those that differ are changed."""
    before = dict(os.environ)

    def change(now: dict[str, str], then: dict[str, str]) -> None:
        for name in now.keys() - then.keys():
            del os.environ[name]
        os.environ.update({name: value for name, value in then.items() if now.get(name) != value})

    change(before, wanted)
    try:
        yield
    finally:
        change(dict(os.environ), before)


def entry_of(hook: Hook, project: Path) -> dict[str, Any]:
    """The hook in its agent's config."""
    known = facts(hook.host)
    run = hook.run.replace("{files}", str(project))
    entry: dict[str, Any] = {"type": "command", known.COMMAND_KEY: run, **hook.keys}
    matcher = {"matcher": hook.matcher} if hook.matcher else {}
    hooks = {hook.event: [{**entry, **matcher} if known.FLAT_ENTRIES else {**matcher, "hooks": [entry]}]}
    return hooks if known.HOOKS_ARE_BARE else {"version": 1, "hooks": hooks}


def policy_of(hook: Hook, project: Path) -> Any:
    """The manifest that `onehook import` generates from it."""
    if hook.page:
        return _policy_of_page(hook, project)
    if hook.host in GUESTS:
        return _policy_of_guest(hook, project)
    if facts(hook.host).HOOK_FILES:
        return _policy_of_file(hook, project)
    place = Place("project", project / "config.json", "json", project)
    (borrowed,) = load(hook.host, "imports").handlers(entry_of(hook, project), place)
    assert not borrowed.refused, borrowed.refused
    text = manifest_string(Import(carried=[Taken(hook.host, place, borrowed)]), "onehook.toml")
    return load_manifest(str(project / "onehook.toml"), text.encode())


def _policy_of_page(hook: Hook, project: Path) -> Any:
    machine = Machine(project.parent, project)
    folder = load(hook.host, "imports").PLUGINS.pages_below(machine, "project")
    assert folder is not None
    page = folder / hook.page
    page.parent.mkdir(parents=True, exist_ok=True)
    name = page.parent.name if page.stem == "SKILL" else page.stem
    # JSON is also YAML.
    page.write_text(f"---\nname: {name}\nhooks: {json.dumps(entry_of(hook, project)['hooks'])}\n---\n", encoding="utf-8")
    taken = [Taken(hook.host, place, one) for place, hooks in hooks_of_pages(hook.host, "project", machine) for one in hooks]
    return load_manifest(str(project / "onehook.toml"), manifest_string(Import(carried=taken), "onehook.toml").encode())


def _policy_of_guest(hook: Hook, project: Path) -> Any:
    """The hooks of an agent that is not a host are found in their own files."""
    path = project / facts(hook.host).GUEST_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry_of(hook, project)), encoding="utf-8")
    taken = [Taken(hook.host, *one) for one in guest(hook.host).found(Machine(project.parent, project), "project")]
    return load_manifest(str(project / "onehook.toml"), manifest_string(Import(carried=taken), "onehook.toml").encode())


def _policy_of_file(hook: Hook, project: Path) -> Any:
    """A hook that is a file stays where it is."""
    path = project / facts(hook.host).HOOK_FILES / hook.event
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{hook.run}\n", encoding="utf-8")
    place = Place("project", path, "own", project)
    (borrowed,) = load(hook.host, "imports").handlers(path.read_text(encoding="utf-8"), place)
    return load_manifest(
        str(project / "onehook.toml"), manifest_string(Import(carried=[Taken(hook.host, place, borrowed)]), "onehook.toml").encode()
    )


def event_on(host: str, fire: Fire, project: Path, native_event: str, talk: tuple[str, str]) -> Event:
    """What happens, as this agent reports it."""
    unified, tool, fields = fire
    placed = {key: value.replace("{p}", str(project)) if isinstance(value, str) else value for key, value in fields.items()}
    path = _transcript(host, project, talk) if any(talk) else ""
    if facts(host).EDITS_ARE_WRITES and tool == "Edit" and not native_event:
        text = Path(placed["file_path"]).read_text(encoding="utf-8")
        content = text.replace(placed.pop("old_string"), placed.pop("new_string"), 1)
        tool, placed = "Write", {**placed, "content": content}
    try:
        given = sample(unified, tool, session_id=SESSION, cwd=str(project), **placed)
        given._transcript = path
        given.native = {"tool_use_id": CALL} if tool else {}
        payload = load(host, "reverse").payload(load(host, "reverse").parts(given)[0], native_event)
        if host in GUESTS:  # only its hooks read what it sends
            given._raw = compact(payload).encode()
            return given
        event = wire_of(host).parse(payload, native_event or own_name(host, unified))
    except OnehookError as error:
        raise NotThere(str(error)) from None
    if event.event != unified:
        raise NotThere(f"{host} has no {unified}")
    event._raw = compact(payload).encode()
    return event


def own_name(host: str, unified: str) -> str:
    """The agent's name for the event, needed for a payload that does not contain it."""
    return next((name for name, row in wire_of(host).EVENTS.items() if row.event == unified), unified)


def sessions_of(host: str) -> str:
    """The folder of its transcripts, below the home folder; "" if it keeps none that can be read."""
    return load(host, "transcripts").FOLDER if host in having("transcripts") else ""


def _transcript(host: str, project: Path, talk: tuple[str, str]) -> str:
    """The earlier session, as this agent stores it; "" if it keeps none that can be read."""
    if not sessions_of(host):
        return ""
    steps = [Entry("prompt", talk[0]), Entry("say", talk[1])]
    module = load(host, "transcripts")
    path = project.parent / sessions_of(host) / name_of(module, SESSION)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = module.lines(SESSION, str(project), steps)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def environment(host: str, event: Event, project: Path) -> dict[str, str]:
    """The variables that this agent gives its hooks."""
    kept = {name: os.environ[name] for name in COMMON if name in os.environ}
    state = {"HOME": str(project.parent), "SHELL": USERS_SHELL, "ONEHOOK_STATE_DIR": str(project.parent / "state")}
    return {**kept, **state, **load(host, "reverse").variables(event, str(project))}


def natively(hook: Hook, fire: Fire, folder: Path) -> Seen:
    """Without onehook: in a shell, as its agent starts it. A hook that its agent would not start leaves nothing and says nothing."""
    project = project_of(folder, hook)
    event = event_on(hook.host, fire, project, hook.event, hook.talk)
    if not _starts(hook, event, project):
        return Seen(Response(), left_in(project))
    run: Any = hook.run.replace("{files}", str(project))
    words = [run, *hook.keys["args"]] if "args" in hook.keys else [*shell_of(hook.host), run]
    done = subprocess.run(
        words,
        input=event._raw + b"\n",
        capture_output=True,
        cwd=project,
        env=environment(hook.host, event, project),
        timeout=60,
        check=False,
    )
    return Seen(read_as(hook.host, event, hook.event, done.stdout.decode(), done.stderr.decode(), done.returncode), left_in(project))


def shell_of(host: str) -> list[str]:
    """The shell to which its agent passes a command. A hook that is a file is a bash script here.

    Anything more that a login shell does, it would also do for onehook.
    """
    if facts(host).HOOK_FILES:
        return ["bash", "-c"]
    program = guest(host).SHELL[0] if host in GUESTS else load(host, "config").TRAITS.shell[0]
    return [USERS_SHELL if program == "$SHELL" else program, "-c"]


def _starts(hook: Hook, event: Event, project: Path) -> bool:
    """Whether the matcher lets the agent start it. This uses onehook's reading of matchers, which is tested elsewhere."""
    return any(True for _ in policy_of(hook, project).wanting(event))


def through(hook: Hook, fire: Fire, host: str, folder: Path) -> tuple[Event, Seen]:
    """Through onehook, on an agent."""
    project = project_of(folder, hook)
    event = event_on(host, fire, project, hook.event if host == hook.host else "", hook.talk)
    variables = environment(host, event, project)
    before = os.getcwd()
    os.chdir(project)
    try:
        starts = Starts(folder, sessions_of(host), dialects._way_to_run(), KNOWN)
        with variables_are(variables), mock.patch.object(dialects, "_way_to_run", lambda: starts):
            policy = policy_of(hook, project)
            output = answer(event._raw + b"\n", lambda: policy, hosts=[host], event_name=event.native_event)
    finally:
        os.chdir(before)
    assert not output.error, output.error
    return event, Seen(read_as(host, event, event.native_event, output.stdout, output.stderr, output.exit_code), left_in(project))


def read_as(host: str, event: Event, native_event: str, stdout: str, stderr: str, code: int) -> Response:
    """What the agent makes of an answer; a failed hook says nothing. The hooks of the corpus rewrite only commands."""
    try:
        heard = load(host, "reverse").answer(event, stdout, stderr, code, native_event)
    except OnehookError:
        return Response()
    if heard.modified_input is not None:
        heard.modified_input = {"command": facts(host).rewritten_command(heard.modified_input)}
    return heard


def expected_on(host: str, event: Event, heard: Response) -> Response:
    """What another agent makes of an equivalent answer, as far as its table supports it."""
    wire = wire_of(host)
    said = heard.copy(native=None)
    if said.decision == "allow" and event.event != "PermissionRequest":
        said.decision = None
    compiled, _ = compile_response(wire, event, said, Options())
    output = wire.render(event, compiled, False)
    return read_as(host, event, event.native_event, output.stdout, output.stderr, output.exit_code)


def left_in(project: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((project / "out").iterdir())}


def effects(heard: Response) -> dict[str, Any]:
    """The parts of an answer that count. An allow that only means "continue" does not."""
    found = {name: getattr(heard, name) for name in ("decision", "reason", "additional_context", "user_message")}
    if heard.user_message == heard.reason:
        found["user_message"] = None  # one message for both readers
    found["command"] = (heard.modified_input or {}).get("command")
    return {name: value for name, value in found.items() if value not in (None, "allow", "")}
