"""The plugin that measures which code the tests run: see counting.py. conftest.py imports it before anything of onehook."""

from __future__ import annotations

import io
import marshal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import slipcover
import workers
from counting import FOLDER, NEVER, ROOT, SOURCE, Counter
from slipcover.config import read_config

SETTINGS = read_config(Path(ROOT, "pyproject.toml"))
COUNTER = Counter(slipcover.Slipcover(branch=True, d_miss_threshold=NEVER)) if FOLDER else None
if COUNTER:
    COUNTER.start()


def register(config: pytest.Config) -> None:
    if COUNTER:
        config.pluginmanager.register(Counting(COUNTER, FOLDER))


def added_up(folder: str, source: str = SOURCE, exclude: Sequence[str] = (), omit: Sequence[str] = ()) -> dict[str, Any]:
    """The coverage of everything below `source`, imported or not, in SlipCover's format."""
    omitted = [f"{ROOT}/{path}" for path in omit]
    total = slipcover.Slipcover(branch=True, source=[source], exclude_also=exclude, omit=omitted)
    for path in Path(folder).glob("*.seen"):
        for file, (lines, branches, seen) in marshal.loads(path.read_bytes()).items():
            total.code_lines[file].update(lines)
            total.code_branches[file].update(branches)
            total.all_seen[file].update(seen)
    return total.get_coverage()


class Counting:
    def __init__(self, counter: Counter, folder: str) -> None:
        self.counter, self.folder = counter, Path(folder)
        self.total: dict[str, Any] = {}
        self.least: float = SETTINGS["fail-under"]
        workers.AT_END.append(self.save)

    def save(self) -> None:
        self.counter.save(str(self.folder))

    def pytest_sessionstart(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("*.seen"):
            path.unlink()

    def pytest_runtest_logfinish(self):
        self.counter.clear()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        self.save()
        self.total = added_up(str(self.folder), exclude=SETTINGS["exclude-also"], omit=SETTINGS.get("omit", ()))
        if self.reached < self.least:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    @property
    def reached(self) -> float:
        return self.total["summary"]["percent_covered"]

    def pytest_terminal_summary(self, terminalreporter):
        told = io.StringIO()
        slipcover.print_coverage(self.total, outfile=told, skip_covered=True, missing_width=80)
        terminalreporter.section("coverage")
        terminalreporter.write(told.getvalue())
        fails = self.reached < self.least
        line = f"{self.reached:.1f} % of lines and branches are run by the tests; at least {self.least} % must be."
        terminalreporter.write_line(line, red=fails, green=not fails)
