"""A complete run: every scenario on every agent, two at a time, with progress."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from onehook.prove.process import INTERRUPTED
from onehook.prove.scenarios import Scenario
from onehook.prove.stage import Agent
from onehook.prove.verdicts import MISS, Prover, Verdict

AT_ONCE = 2


def conduct(
    jobs: Sequence[tuple[Agent, Scenario]], done: Callable[[Verdict], None], folder: Path | None = None, again: bool = False
) -> list[Verdict]:
    """A verdict for each scenario on its agent, in this order; `done` is called with each as it arrives.

    again: every MISS is repeated at the end, one at a time and with its own controls.
    """
    base = folder or Path(tempfile.mkdtemp(prefix="onehook-prove-"))
    base.mkdir(parents=True, exist_ok=True)
    prover = Prover(base, keep=folder is not None)
    verdicts: dict[tuple[Agent, str], Verdict] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool, given_up_cleanly(pool):
        places = {scenario.id: place for place, (_, scenario) in enumerate(jobs)}
        by_row = sorted(jobs, key=lambda job: places[job[1].id])  # so that two different agents run at a time
        running = {pool.submit(prover.prove, agent, scenario): (agent, scenario.id) for agent, scenario in by_row}
        for future in as_completed(running):
            verdicts[running[future]] = future.result()
            done(future.result())
    for agent, scenario in jobs if again else ():
        if verdicts[agent, scenario.id].verdict == MISS:
            verdicts[agent, scenario.id] = Prover(base / "again", keep=folder is not None).prove(agent, scenario)
            done(verdicts[agent, scenario.id])
    return [verdicts[agent, scenario.id] for agent, scenario in jobs]


@contextmanager
def given_up_cleanly(pool: ThreadPoolExecutor) -> Iterator[None]:
    """After Ctrl-C or SIGTERM nothing more is started, and the running agents are ended: they are in separate sessions, which no
    signal from a terminal reaches."""

    def give_up(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, give_up)
    INTERRUPTED.clear()
    try:
        yield
    except BaseException:
        INTERRUPTED.set()
        pool.shutdown(cancel_futures=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
