"""Programs that are started and not waited for. Their answers are delivered with a later event of the session.

A job is some files in the session's folder: what the program reads, what it writes, and `rc` once it has ended. Swept like other state.
"""

from __future__ import annotations

import os
import time

from onehook.codec import compact, loads, text_of
from onehook.core import Event, OnehookError, Response, merge
from onehook.hosts import HOSTS, wire_of
from onehook.manifest.programs import MAX_OUTPUT, Run, spawn
from onehook.places import state_folder
from onehook.sweep import hashed, sweep_sometimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from onehook.hosts.interface import Reverse
    from onehook.manifest.load import Program

# The job's files are named by $1, its time limit is $2 (where the system has a timeout command), the rest is the program.
_SCRIPT = """job=$1 limit=$2; shift 2
if command -v timeout >/dev/null 2>&1; then timeout -k 1 "$limit" "$@"; else "$@"; fi <"$job.in" >"$job.out" 2>"$job.err"
echo $? >"$job.code" && mv "$job.code" "$job.rc" """


def start(program: Program, event: Event, run: Run) -> str:
    """Start a job. Returns what went wrong, or ""."""
    try:
        folder = _folder(event)
        new = not os.path.isdir(folder)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        job = os.path.join(folder, f"{time.time_ns()}-{os.getpid()}")
        about = {
            "name": program.__name__, "speaks": program.dialect, "event": program.event, "native_event": program.native_event,
            "wake": program.wake,
        }  # fmt: skip
        for name, data in (("in", run.stdin), ("job", compact(about).encode())):
            with open(os.open(f"{job}.{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        nowhere = os.open(os.devnull, os.O_RDWR)  # it outlives the agent's hook, and must not hold anything that the agent waits for
        try:
            spawn(["/bin/sh", "-c", _SCRIPT, "sh", job, f"{run.timeout:g}", *run.words], run.variables, [nowhere] * 3)
        finally:
            os.close(nowhere)
        if new:
            sweep_sometimes(state_folder())
    except (OSError, ValueError, AttributeError) as error:  # AttributeError: no posix_spawn (Windows)
        return f"could not be started in the background: {error}"
    return ""


def told(event: Event, dialect_of: Callable[[str], Reverse]) -> Response | None:
    """What jobs of this session have answered so far, if this event can deliver it."""
    stop = event.event == "Stop"
    if not stop and (event.host not in HOSTS or wire_of(event.host).caps(event)["additional_context"].kind != "honoured"):
        return None
    folder, merged = _folder(event), None
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        job = os.path.join(folder, name[:-3])
        about = _about(job) if name.endswith(".rc") else {}
        if about and (about["wake"] or not stop):
            answer = _answer(job, about, stop, dialect_of(about["speaks"]))
            for ending in ("in", "out", "err", "job", "rc"):
                os.unlink(f"{job}.{ending}")
            merged = answer if merged is None else merge(merged, answer)
    return merged


def _about(job: str) -> dict[str, Any]:
    try:
        about = loads(_read(f"{job}.job").decode())
        return about if isinstance(about, dict) and about.keys() >= {"name", "speaks", "event", "native_event", "wake"} else {}
    except (OSError, OnehookError, UnicodeDecodeError):
        return {}


def _answer(job: str, about: dict[str, Any], stop: bool, dialect: Reverse) -> Response:
    """A finished job's answer. It can no longer decide; its answer becomes context. With `wake`, it sends the agent back to work."""
    stdout, stderr = (text_of(_read(f"{job}.{name}")) for name in ("out", "err"))
    past = Event(about["event"], "")
    try:
        heard = dialect.answer(past, stdout, stderr, int(_read(f"{job}.rc") or b"1"), about["native_event"])
    except (OnehookError, ValueError):
        return Response()
    said = "\n\n".join(part for part in (heard.reason, heard.additional_context) if part)
    if stop and said:
        return Response("deny", said, heard.user_message)
    return Response(user_message=heard.user_message, additional_context=said or None)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MAX_OUTPUT)


def _folder(event: Event) -> str:
    return os.path.join(state_folder(), "background", hashed((event.host, event.session_id)))
