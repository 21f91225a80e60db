"""Many hooks that ask at the same time, with hooks and answering people killed at random. To run it by hand, for longer:

python -m tests.desk.stress REQUESTS PROCESSES

Each request is a separate call whose answer is known beforehand, so the result of a hook can be compared with the answer it was given.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from onehook.core import Options
from onehook.desk import answers, pin
from onehook.desk.answers import Answer
from onehook.desk.hold import held
from onehook.desk.requests import ANSWER, USED, DeskError, folder, ids, read
from onehook.desk.statements import genuine
from onehook.hostkit.reverse import sample
from onehook.hosts import load

PIN, CHEAP = "correct horse", 1 << 4
ANSWERING = 3  # people at a time


def right(command: str) -> str:
    """What a person answers to this command."""
    return "allow" if int(command.split()[-1]) % 2 else "deny"


def ask(results: str, first: int, count: int) -> None:
    """A process whose hooks ask one after the other, and record the results."""
    wire, made = load("claude"), load("claude", "reverse")
    for number in range(first, first + count):
        event = wire.parse(made.payload(sample("PreToolUse", "Bash", command=f"work {number}", cwd="/p", session_id="s")), "")
        message = {"response": {"decision": "ask"}, "by": []}
        answer = held(wire, event, message, Options({"host_timeout": 300}), time.monotonic(), "policy.py")
        with open(results, "a", encoding="utf-8") as file:
            file.write(f"{number} {answer['response']['decision']} {answer['approver']}\n")


def answer() -> None:
    """A person who answers every request, alongside others who do the same."""
    key = pin.unlock(PIN)
    while True:
        waiting = [asked for asked in answers.listed() if asked.state == "waiting"]
        random.shuffle(waiting)
        for asked in waiting:
            try:
                answers.give(asked, Answer(right(asked.content["command"])), key, by="ana", via="stress")
            except DeskError:
                continue  # another was faster, or the hook was killed
        time.sleep(0.02)


def start(function: Callable[..., None], *given: object) -> BaseProcess:
    """A fork, because the imports of a new interpreter take ten times as long as what is tested."""
    process = multiprocessing.get_context("fork").Process(target=function, args=given)
    process.start()
    return process


def run(requests: int, processes: int, results: Path) -> tuple[int, int]:
    """Returns how many hooks and people were killed; raises AssertionError if any result is wrong."""
    pin.set_pin(PIN, cost=CHEAP)
    each = requests // processes
    hooks = [start(ask, str(results), number * each, each) for number in range(processes)]
    people = [start(answer) for _ in range(ANSWERING)]
    killed: list[set[int]] = [set(), set()]
    end = time.monotonic() + 60 + requests
    try:
        while any(hook.is_alive() for hook in hooks) and time.monotonic() < end:
            time.sleep(random.uniform(0.05, 0.3))
            alive = [number for number, hook in enumerate(hooks) if hook.is_alive()]
            if len(killed[0]) < processes // 4 and alive:
                victim = random.choice(alive)
                hooks[victim].kill()
                killed[0].add(victim)
            victim = random.randrange(ANSWERING * 4)
            if victim >= ANSWERING:
                continue
            people[victim].kill()
            people[victim].join()
            killed[1].add(people[victim].pid or 0)
            people[victim] = start(answer)
    finally:
        for process in (*hooks, *people):
            process.kill()
            process.join()
    check(results, {number for hook in killed[0] for number in range(hook * each, hook * each + each)}, requests)
    return len(killed[0]), len(killed[1])


def check(results: Path, excused: set[int], requests: int) -> None:
    """Nothing was lost, answered twice, or allowed without an answer."""
    lines = [line.split() for line in results.read_text(encoding="utf-8").splitlines()]
    numbers = [int(number) for number, _, _ in lines]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) | excused >= set(range(requests)), sorted(set(range(requests)) - set(numbers) - excused)
    given = {}
    for id in ids():
        data = read(f"{folder()}/{id}/{ANSWER}")
        statement = genuine(data, pin.public_key()) if data is not None else {}
        if statement:
            command = answers.one(id).content["command"]
            assert statement["decision"] == right(command) and command not in given
            given[command] = os.path.exists(f"{folder()}/{id}/{USED}")
    for number, decision, by in lines:
        assert (decision, by, given.get(f"work {number}")) == (right(f"work {number}"), "ana", True), (number, decision, by)


if __name__ == "__main__":
    import tempfile

    base = Path(tempfile.mkdtemp())
    os.environ["ONEHOOK_STATE_DIR"] = str(base / "state")
    began = time.monotonic()
    print(*run(int(sys.argv[1]), int(sys.argv[2]), base / "results"), "killed;", f"{time.monotonic() - began:.1f} s; {base}")
