"""Runs one policy over many events in a separate process: `python -I -m onehook.record.worker`, an order on stdin, verdicts on stdout.

Separate, because two policies must not share modules, and because a replay must have no side effects: no program is started, no
connection is made, and event.session starts empty.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from onehook.core import Hooks, OnehookError, PayloadError, UsageError
from onehook.hostkit.effects import gates
from onehook.hostkit.transcripts import MAX_KINDS, Counts, size_of
from onehook.hosts import resolve
from onehook.policy import load_policy, message_of, settled, told
from onehook.record.sources import Recorded, Source, fetched, read
from onehook.testing.effect import effect
from onehook.words import concluded

PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn", "os.startfile")
NETWORK = ("socket.connect", "socket.bind", "socket.sendto")
PROGRESS_SECONDS = 0.2
MAX_SHOWN = 500
COMMAND = (sys.executable, "-I", "-m", "onehook.record.worker")
EXITED = b'{"exited": %d}\n'  # added to a worker's output by the process that started it


class NotInReplay(OnehookError):
    """Something that a policy may do live but not in a replay."""


def main() -> None:
    order = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the policy prints must not mix with the verdicts
    with tempfile.TemporaryDirectory(prefix="onehook-replay-") as folder:
        os.environ["ONEHOOK_STATE_DIR"] = folder
        os.environ["ONEHOOK_REPLAY"] = "1"
        sources = [Source(**given) for given in order["sources"]]
        mine = range(order["shard"], len(sources), order["shards"])
        try:
            # Before the policy is loaded, and before connections are refused.
            order["sources"] = [fetched(one, folder, at) if one.url and at in mine else one for at, one in enumerate(sources)]
        except OnehookError as error:
            out.write(json.dumps({"fatal": str(error)}) + "\n")
            out.flush()
            return
        try:
            hooks = load_policy(order["policy"])
        except BaseException as error:
            out.write(json.dumps({"fatal": f"{order['policy']} does not load: {told(error)}"}) + "\n")
            out.flush()
            return
        if not order["programs"]:
            sys.addaudithook(_forbid)
        for message in verdicts(hooks, order):
            out.write(json.dumps(message) + "\n")
        out.flush()


def _forbid(event: str, _: object) -> None:
    if event in PROGRAMS:
        raise NotInReplay("a replay does not start programs (--run-programs allows it)")
    if event in NETWORK:
        raise NotInReplay("a replay does not open connections (--run-programs allows it)")


def verdicts(hooks: Hooks, order: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message for each event to show, progress in between, and the totals at the end."""
    counts = Counts()
    tally: dict[str, int] = {}
    unusable: dict[str, int] = {}
    bytes_done, last = 0, time.monotonic()
    for number, source in enumerate(order["sources"]):
        if source.whole and number % order["shards"] != order["shard"]:
            continue
        # Every worker reads a source that is not whole; the first one counts its lines.
        for index, recorded in enumerate(read(source, counts if source.whole or not order["shard"] else Counts(), order["since"])):
            if not source.whole and order["shards"] > 1 and _share(recorded, order["shards"]) != order["shard"]:
                continue
            verdict = judge(hooks, recorded, order["hosts"])
            tally[verdict["effect"]] = tally.get(verdict["effect"], 0) + 1
            if why := verdict.get("unusable"):
                why = why if why in unusable or len(unusable) < MAX_KINDS else "other reasons"
                unusable[why] = unusable.get(why, 0) + 1
            if order["all"] or verdict["interesting"]:
                yield {**verdict, "at": [number, index]}
            if time.monotonic() - last > PROGRESS_SECONDS:
                last = time.monotonic()
                yield {"progress": bytes_done, "events": sum(tally.values())}
        bytes_done += size_of(source.path)
    yield {"end": True, "tally": tally, "lines": counts.lines, "unknown": counts.unknown, "unusable": unusable}


def _share(recorded: Recorded, shards: int) -> int:
    named = next((recorded.payload[key] for key in ("session_id", "sessionId", "conversation_id") if key in recorded.payload), "")
    return zlib.crc32(str(named).encode("utf-8", "backslashreplace")) % shards


def judge(hooks: Hooks, recorded: Recorded, hosts: Sequence[str] = ()) -> dict[str, Any]:
    """What the policy decides about one event, and what the agent would do."""
    try:
        wire = resolve([recorded.host] if recorded.host else list(hosts), recorded.payload)
        event = wire.parse(recorded.payload, recorded.native_event)
    except (PayloadError, UsageError) as error:
        return {"unusable": str(error), "effect": "unusable", "interesting": False}
    event.echo = event.echo or recorded.echo  # as live: handlers do not see an echo
    begun = time.perf_counter()
    options = settled({"options": hooks.options}, {})
    with _deadline(options.timeout):
        message = message_of(lambda: hooks, event)
    output = concluded(wire, event, message, options)
    words = effect(event, output, gates(wire, event))
    answer = output.answer.to_dict() if output.answer is not None else {}
    return {
        "time": recorded.time,
        "host": event.host,
        "session": event.session_id,
        "event": event.event,
        "tool": event.tool,
        "about": about(event)[:MAX_SHOWN],
        "effect": words,
        "reason": output.error or answer.get("reason", ""),
        "modified_input": answer.get("modified_input"),
        "modified_output": answer.get("modified_output"),
        "additional_context": answer.get("additional_context", ""),
        "dropped": [str(drop) for drop in output.dropped],
        "ms": round((time.perf_counter() - begun) * 1000, 3),
        "interesting": bool(answer or output.error),
    }


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """The policy's own deadline; without timers (Windows) a handler that hangs blocks the replay."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _late(*_: object) -> None:
    raise TimeoutError("the handler took longer than the policy's timeout")


def about(event: Any) -> str:
    """What an event is about, in one line."""
    if event.command:
        return str(event.command)
    if event.changes:
        return ", ".join(dict.fromkeys(f"{change.kind} {change.to or change.path}" for change in event.changes))
    if event.mcp is not None:
        return str(event.mcp.name)
    return str(event.url or ", ".join(event.paths) or event.prompt or event.native_tool)


if __name__ == "__main__":
    main()
