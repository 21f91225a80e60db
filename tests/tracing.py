"""Coverage traces the tests and what they call, and not what runs them.

A traced line takes more than twice as long. Much of what is executed belongs to pytest, which collects and reports, and to hypothesis,
which draws the examples; coverage looks at each of their lines, only to leave it out. So tracing is switched off for them, and on for the
import of a module, for fixtures, and for the body of a test: that of its first examples, if it has examples, since the others run the same
lines. A test that runs very often what others run too is marked `untraced`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys

import pytest
from hypothesis.strategies import DataObject

EXAMPLES = 25  # of a test are traced


def untraced(function):
    @functools.wraps(function)
    def run(*positional, **named):
        before = sys.gettrace()
        sys.settrace(None)
        try:
            return function(*positional, **named)
        finally:
            sys.settrace(before)

    return run


class Tracing:
    """A plugin. `tracer` is coverage's own, from when it was first seen."""

    def __init__(self):
        self.tracer = None
        self.left = 0  # so many calls of what is `traced` will be
        DataObject.draw = untraced(DataObject.draw)
        os.register_at_fork(after_in_child=lambda: sys.settrace(None))  # what a fork runs is not counted

    def traced(self, function):
        @functools.wraps(function)
        def run(*positional, **named):
            self.left -= 1
            sys.settrace(self.tracer if self.left >= 0 else None)
            try:
                return function(*positional, **named)
            finally:
                sys.settrace(None)

        run.is_traced = True
        return run

    def without(self):
        before = sys.gettrace()
        self.tracer = self.tracer or before
        sys.settrace(None)
        try:
            return (yield)
        finally:
            sys.settrace(before)

    def within(self):
        sys.settrace(self.tracer)
        try:
            return (yield)
        finally:
            sys.settrace(None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self):
        return (yield from self.without())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if isinstance(collector, pytest.Module):
            self.left = 1
            with contextlib.suppress(Exception):  # the report will say it
                self.traced(lambda: collector.obj)()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self):
        return (yield from self.without())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(self):
        return (yield from self.within())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        if pyfuncitem.get_closest_marker("untraced"):
            return (yield)
        test = getattr(pyfuncitem.obj, "hypothesis", None)
        if test is None:
            return (yield from self.within())
        if not hasattr(test.inner_test, "is_traced"):
            test.inner_test = self.traced(test.inner_test)
        self.left = EXAMPLES
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self):
        return (yield from self.within())
