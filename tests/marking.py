"""Where SlipCover puts its probes in a module: see counting.py."""

from __future__ import annotations

import ast
import types
from pathlib import Path
from unittest import mock

from counting import HAS_PROBES, NEVER, PROBE_HERE, SIGNAL_HERE
from slipcover import slipcover
from slipcover.branch import preinstrument


class StandIns:
    """Replaces the extension module, whose probes cannot be stored in a file."""

    signal = SIGNAL_HERE

    @staticmethod
    def new(counts, path, place, threshold):
        return PROBE_HERE, place


def marked(path: str):
    """The code of a module, its lines and its branches; before Python 3.12, with placeholders for probes, and where these are."""
    plain = compile(preinstrument(ast.parse(Path(path).read_bytes())), path, "exec", dont_inherit=True)
    marks = slipcover.Slipcover(branch=True, d_miss_threshold=NEVER)
    lines, branches = set(marks.lines_from_code(plain)), set(marks.branches_from_code(plain))
    if not HAS_PROBES:
        return plain, lines, branches, []
    with mock.patch.object(slipcover, "probe", StandIns):
        code = marks.instrument(plain, parent=plain)  # as part of something else, for which SlipCover lists nothing
    return code, lines, branches, list(indexes_of(code, marks.code2index))


def indexes_of(code, found):
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from indexes_of(value, found)
    yield found[code]
