"""Which lines and branches of onehook the tests run: coverage, by SlipCover.

SlipCover compiles a probe into every line and branch and takes it out again once it was passed, which adds less than a tenth to the time of
the tests; a tracer, which looks at every line that anything executes, doubles it. `make test` counts, for it names a folder in COUNTED_IN.
The workers (workers.py) write there what they have seen, as do the hooks' processes that traced_launch.py starts; then the process that
has forked the workers adds it up, prints what was missed, and fails if that is more than [tool.slipcover] in pyproject.toml allows.
"""

from __future__ import annotations

import ast
import json
import marshal
import os
import sys
import tempfile
import time
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

import slipcover
from slipcover.branch import preinstrument

ROOT = Path(__file__).resolve().parents[1]
SOURCE = f"{ROOT}/src/onehook"
FOLDER = os.environ.get("COUNTED_IN", "")  # "": nothing is counted
SIGNAL = getattr(getattr(slipcover.slipcover, "probe", None), "signal", None)  # what a probe calls, before Python 3.12
EVERY = 5  # seconds of processor time: so often are probes taken out, which takes 0.03
CODE = f"{ROOT}/.counted/listed-{sys.implementation.cache_tag}-{slipcover.__version__}"


class Counter:
    """Counts the modules below `source` that are imported from now on."""

    def __init__(self, source: str = SOURCE, code: str = CODE) -> None:
        self.source, self.code = source, code
        # -1: a probe that is passed often does not take itself out. It would do so in the middle of a test, or in one of its threads.
        self.probes = slipcover.Slipcover(branch=True, d_miss_threshold=-1)
        self.cleared = time.process_time()

    def start(self) -> None:
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and self.is_counted(spec.loader.path):
            spec.loader = Loader(self, spec.loader)
        return spec if spec is not None and type(spec.loader) is Loader else None

    def is_counted(self, path: str) -> bool:
        return path.startswith(f"{self.source}/")

    def compiled(self, path: str):
        """The code of a module with its probes.

        It is kept in a file without them, and with the lists of its lines and branches: to mark and to list them takes longer than to
        compile it and to put the probes in.
        """
        state = os.stat(path)
        kept = f"{self.code}/{path[len(self.source) + 1 :].replace('/', '-')}.{state.st_mtime_ns}.{state.st_size}"
        try:
            with open(kept, "rb") as file:
                code, lines, branches = marshal.load(file)
        except (OSError, EOFError, ValueError, TypeError):
            code = compile(preinstrument(ast.parse(Path(path).read_bytes())), path, "exec", dont_inherit=True)
            lines, branches = set(self.probes.lines_from_code(code)), set(self.probes.branches_from_code(code))
            written(kept, marshal.dumps((code, lines, branches)))
        with_probes = self.probes.instrument(code, parent=code)  # a part of something, of which it would list nothing
        self.probes.code_lines[path].update(lines)
        self.probes.code_branches[path].update(branches)
        if hasattr(self.probes, "instrumented"):  # before Python 3.12: where to look for probes to take out
            self.probes.instrumented[path].add(with_probes)
        return with_probes

    def clear(self) -> None:
        """Take out the probes that were passed; from Python 3.12 on, the interpreter has done that already."""
        if time.process_time() - self.cleared > EVERY and hasattr(self.probes, "deinstrument_seen"):
            self.probes.deinstrument_seen()
            self.cleared = time.process_time()

    def save(self, folder: str) -> None:
        """Write what there is in the modules that were imported, and what of it was run."""
        probes = self.probes
        found = {
            path: [list(lines), list(probes.code_branches[path]), list(probes.all_seen[path] | probes.newly_seen[path])]
            for path, lines in list(probes.code_lines.items())
        }
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False) as file:
            json.dump(found, file)


class Loader(SourceFileLoader):
    def __init__(self, counter: Counter, plain: SourceFileLoader) -> None:
        super().__init__(plain.name, plain.path)
        self.counter = counter

    def get_code(self, name):
        return self.counter.compiled(self.path)

    def exec_module(self, module):
        self.counter.probes.register_module(module)
        super().exec_module(module)


def written(path: str, data: bytes) -> None:
    """Replace a file as a whole: others do the same."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        file.write(data)
    os.replace(file.name, path)
