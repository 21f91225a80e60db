"""The two ways to run a policy on a payload: in this process, which is fast, or through the launcher, as agents run it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from onehook.core import Hooks, UsageError
from onehook.hosts import entry_hosts
from onehook.testing.shots import Loss, Round, Told

Runner = Callable[[Round, str, Path], Told]  # the round, the policy's path, the folder for its state
_PATIENCE = 600  # seconds; the launcher's own deadline is far shorter
_STATE = "ONEHOOK_STATE_DIR"


def by_launcher(shot: Round, policy: str, state: Path) -> Told:
    """Run in a separate process, with the command that install writes."""
    from onehook.codec import compact
    from onehook.setup.command import LAUNCHER, interpreter

    arguments = [*(word for host in entry_hosts(shot.host) for word in ("--host", host)), "--event", shot.native_event]
    argv = [interpreter(), "-I", "-S", str(LAUNCHER), os.path.abspath(policy), *arguments]
    folder = shot.event.cwd if os.path.isdir(shot.event.cwd) else None
    with tempfile.TemporaryDirectory(prefix="onehook-fire-") as record:
        done = subprocess.run(
            argv,
            input=compact(shot.payload).encode(),
            capture_output=True,
            env={**os.environ, _STATE: str(state), "ONEHOOK_RECORD": record, "ONEHOOK_RECORD_MASK": "off"},
            cwd=folder,
            timeout=_PATIENCE,
            check=False,
        )
        # The launcher ends each stream with a newline that is not part of the answer.
        stdout, stderr = (stream.decode("utf-8", "backslashreplace").removesuffix("\n") for stream in (done.stdout, done.stderr))
        recorded = [json.loads(path.read_text(encoding="utf-8")) for path in Path(record).iterdir()]
    if not recorded:
        return Told(stdout, stderr, done.returncode, error=stderr or "the launcher recorded no answer")
    answer = recorded[0]["answer"]
    return Told(stdout, stderr, done.returncode, tuple(map(_loss, answer.get("dropped", []))), answer.get("error", ""))


def in_process(shot: Round, policy: str, state: Path) -> Told:
    """Run in this process, without a deadline. The policy is loaded again for each event, as in a real hook."""
    from onehook.codec import compact
    from onehook.policy import load_policy
    from onehook.runner import answer

    with _variable(_STATE, str(state)), _nothing_stays(policy), _no_run():
        output = answer(
            compact(shot.payload).encode(),
            lambda: load_policy(policy),
            policy=policy,
            hosts=entry_hosts(shot.host),
            event_name=shot.native_event,
        )
    lost = tuple(_loss(drop.to_dict()) for drop in output.dropped)
    return Told(output.stdout, output.stderr, output.exit_code, lost, output.error)


def _loss(drop: dict[str, Any]) -> Loss:
    return Loss(tuple(drop["fields"]), drop["kind"], drop["text"])


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _nothing_stays(policy: str) -> Iterator[None]:
    """Undo what loading a policy adds to sys.meta_path and sys.modules; the next policy may have other modules of the same name."""
    folder = os.path.dirname(os.path.abspath(policy))
    path, modules, made = list(sys.meta_path), set(sys.modules), len(Hooks.made)
    try:
        yield
    finally:
        sys.meta_path[:] = path
        del Hooks.made[made:]
        for name in set(sys.modules) - modules:
            where = getattr(sys.modules[name], "__file__", None) or ""
            if name == "onehook_policy" or os.path.dirname(where) == folder:
                del sys.modules[name]


@contextlib.contextmanager
def _no_run() -> Iterator[None]:
    """Refuse a policy that calls run() at load time: it would read this process's stdin and end it."""
    import onehook
    from onehook import runner

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UsageError('the policy calls run() at load time; put the call under `if __name__ == "__main__":`')

    before = runner.run
    runner.run = onehook.run = refuse
    try:
        yield
    finally:
        runner.run = onehook.run = before
