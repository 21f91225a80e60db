"""`--workers N`: runs the tests in N forks of the process that has collected them.

pytest-xdist starts interpreters, each of which imports and collects all tests again; with our eleven thousand tests that is a fifth of the
run. A worker asks for the next tests while it has one left: pytest keeps the fixtures that a test shares with the one that follows. The
reports of a test are sent back when the test is done. If a worker dies, the test that it was running fails, and another worker takes over.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

Tests = list[int]  # indexes into session.items
MANY = 1000  # with this many tests, some will need what takes a moment to compute
LEAST = 1 / 40  # of a fair share: this much of what is left is handed out at once
BEFORE: list[Any] = []  # called before the first fork: what every worker would otherwise compute itself
AT_END: list[Any] = []  # called in a worker when it has run its last test


class Worker:
    """The parent's side."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self.mine, theirs = multiprocessing.Pipe()
        self.running: int | None = None  # a test that has begun and not ended
        self.given: Tests = []
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            self.mine.close()
            code = 1
            try:
                Forked(session, theirs, number).run()
                code = 0
            finally:
                os._exit(code)
        theirs.close()


class Forked:
    """The worker's side; a plugin that sends the reports."""

    def __init__(self, session: pytest.Session, parent: Connection, number: int) -> None:
        self.session, self.parent, self.config = session, parent, session.config
        self.reports: list[Any] = []  # of the current test: a message for each would cost the parent more than all its other work
        self.config.pluginmanager.unregister(name="terminalreporter")
        capture: Any = self.config.pluginmanager.get_plugin("capturemanager")
        capture.stop_global_capturing()  # a file that all forks would write to
        capture.start_global_capturing()
        folders: Any = self.config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.mktemp(f"worker-{number}")
        self.config.pluginmanager.register(self)

    def run(self) -> None:
        before: int | None = None
        for number in self._numbers():
            if before is not None:
                self._run(before, self.session.items[number])
            before = number
        if before is not None:
            self._run(before, None)
        for function in AT_END:
            function()
        self.parent.send(("ended", None))

    def _numbers(self) -> Iterator[int]:
        while True:
            self.parent.send(("more", None))
            numbers = self.parent.recv()
            if not numbers:
                return
            yield from numbers

    def _run(self, number: int, following: pytest.Item | None) -> None:
        item = self.session.items[number]
        self.parent.send(("begun", number))
        self.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        self.parent.send(("done", (number, self.reports)))
        self.reports = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "call" and self.config.option.durations is None:
            return  # two of three reports, none of which is shown
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        self.parent.send(("warning", (str(warning_message.message), warning_message.filename, warning_message.lineno, nodeid)))


class Workers:
    def __init__(self, count: int) -> None:
        self.count, self.forked = count, 0
        self.waiting: Tests = []
        self.working: dict[Connection, Worker] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly or session.testsfailed:
            return None
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # otherwise each fork would create one
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.showfspath = False  # a line for each change of file
        slow = [item.get_closest_marker("slow") is None for item in session.items]
        self.waiting = sorted(range(len(session.items)), key=slow.__getitem__)  # slow tests must not come last
        for function in BEFORE if len(self.waiting) > MANY else ():
            function()
        for _ in range(min(self.count, len(self.waiting))):
            self._fork(session)
        while self.working:
            for connection in wait(list(self.working)):
                assert isinstance(connection, Connection)
                self._hear(session, self.working[connection])
            if session.shouldfail or session.shouldstop:
                self.waiting.clear()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _fork(self, session: pytest.Session) -> None:
        worker = Worker(session, self.forked)
        self.forked += 1
        self.working[worker.mine] = worker

    def _hear(self, session: pytest.Session, worker: Worker) -> None:
        try:
            kind, value = worker.mine.recv()
        except (EOFError, OSError):
            self._replace(session, worker)
            return
        hook = session.config.hook
        if kind == "more":
            worker.given += (numbers := self._next())
            with contextlib.suppress(OSError):
                worker.mine.send(numbers)
        elif kind == "begun":
            worker.running = value
            item = session.items[value]
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        elif kind == "done":
            number, reports = value
            for report in reports:
                hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=session.config, data=report))
            item = session.items[number]
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            worker.running = None
            worker.given.remove(number)
        elif kind == "warning":
            text, file, line, test = value
            told = warnings.WarningMessage(UserWarning(text), UserWarning, file, line)
            hook.pytest_warning_recorded.call_historic(
                kwargs={"warning_message": told, "when": "runtest", "nodeid": test, "location": None}
            )
        elif kind == "ended":
            del self.working[worker.mine]
            os.waitpid(worker.pid, 0)

    def _next(self) -> Tests:
        """Neighbouring tests, which share fixtures; fewer and fewer, so that all workers end at the same time."""
        count = max(1, int(len(self.waiting) / self.count * LEAST))
        numbers, self.waiting = self.waiting[:count], self.waiting[count:]
        return numbers

    def _replace(self, session: pytest.Session, worker: Worker) -> None:
        del self.working[worker.mine]
        _, status = os.waitpid(worker.pid, 0)
        if worker.running is not None:
            item = session.items[worker.running]
            told = f"the process of this test has ended: {os.waitstatus_to_exitcode(status)}"
            report = pytest.TestReport(item.nodeid, item.location, dict(item.keywords), "failed", told, "call")
            session.config.hook.pytest_runtest_logreport(report=report)
            worker.given.remove(worker.running)
        self.waiting[:0] = worker.given
        self._fork(session)


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, metavar="N", help="run the tests in N forks of this process")


def register(config: pytest.Config) -> None:
    if config.option.workers and hasattr(os, "fork"):
        config.pluginmanager.register(Workers(config.option.workers), "workers")
