"""Which lines and branches of onehook the tests run: coverage, by SlipCover.

SlipCover compiles a probe into every line and branch and removes it once it has been hit, which adds less than a tenth to the time of the
tests; a tracer, which looks at every line that is executed, doubles it. `make test` measures coverage by setting COUNTED_IN to a folder.
The workers (workers.py) write what they have seen there, and so do the hook processes that traced_launch.py starts. The process that forked
the workers then adds it all up, prints what was missed, and fails if that is more than [tool.slipcover] in pyproject.toml allows.

Finding where the probes go in a module takes longer than compiling it, so that is done once and cached (marking.py). This module does
without the rest of SlipCover, whose import takes longer than an event does.
"""

from __future__ import annotations

import os
import sys
import time
from _collections import defaultdict
from importlib.machinery import PathFinder, SourceFileLoader
from marshal import dumps, loads  # as they are now: see traced_launch.py

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = f"{ROOT}/src/onehook"
FOLDER = os.environ.get("COUNTED_IN", "")  # "": nothing is counted
EVERY = 5  # seconds of processor time between removals of probes; each removal takes 0.03 s
PACKAGE = PathFinder.find_spec("slipcover").submodule_search_locations
MARKED = f"{ROOT}/.counted/marked-{sys.implementation.cache_tag}-{os.stat(f'{PACKAGE[0]}/version.py').st_mtime_ns}"
HAS_PROBES = sys.version_info < (3, 12)  # from 3.12 on, the interpreter reports what it runs
NEVER = -1  # a probe that is hit often does not remove itself: that would happen in the middle of a test, or in one of its threads
SIGNAL_HERE = "\0signal"  # placeholders for the constants of code with probes that cannot be stored in a file
PROBE_HERE = "\0probe"


def extension(name):
    """Load a module of SlipCover without importing its package."""
    if name not in sys.modules:
        spec = PathFinder.find_spec(name, PACKAGE)
        sys.modules[name] = spec.loader.create_module(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def marked(path):
    """See marking.py, which is next to this file and might not be found otherwise."""
    sys.path.insert(0, os.path.dirname(__file__))
    try:
        import marking
    finally:
        sys.path.pop(0)
    return marking.marked(path)


probe = extension("slipcover.probe") if HAS_PROBES else None
SIGNAL = probe.signal if HAS_PROBES else None  # what a probe calls


class Seen:
    """What the probes of a short-lived process have seen: the parts of slipcover.Slipcover needed to count, without removing probes."""

    def __init__(self) -> None:
        self.code_lines, self.code_branches, self.instrumented = defaultdict(set), defaultdict(set), defaultdict(set)
        self.newly_seen, self.all_seen, self.code2index = defaultdict(set), defaultdict(set), {}

    def register_module(self, module) -> None:
        """Nothing will look for its functions."""


class Counter:
    """Counts the modules below `source` that are imported from now on. probes: a slipcover.Slipcover or a substitute for one."""

    def __init__(self, probes, source: str = SOURCE, marked: str = MARKED) -> None:
        self.probes, self.source, self.marked = probes, source, marked
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
        """The code of a module with its probes."""
        state = os.stat(path)
        kept = f"{self.marked}/{path[len(self.source) + 1 :].replace('/', '-')}.{state.st_mtime_ns}.{state.st_size}"
        try:
            with open(kept, "rb") as file:
                code, lines, branches, indexes = loads(file.read())
        except (OSError, EOFError, ValueError, TypeError):
            code, lines, branches, indexes = marked(path)
            written(kept, dumps((code, lines, branches, indexes)))
        code = self.with_probes(code, path, iter(indexes)) if HAS_PROBES else self.probes.instrument(code, parent=code)
        self.probes.code_lines[path].update(lines)
        self.probes.code_branches[path].update(branches)
        if HAS_PROBES:  # where to look for probes to remove
            self.probes.instrumented[path].add(code)
        return code

    def with_probes(self, code, path, indexes):
        """The code with a probe for each placeholder; indexes: where these are, in the code and the code objects in it, innermost first."""

        def real(value):
            if type(value) is type(code):
                return self.with_probes(value, path, indexes)
            if value == SIGNAL_HERE:
                return SIGNAL
            is_probe = type(value) is tuple and value[:1] == (PROBE_HERE,)
            return probe.new(self.probes, path, value[1], NEVER) if is_probe else value

        code = code.replace(co_consts=tuple(map(real, code.co_consts)))
        self.probes.code2index[code] = next(indexes)
        return code

    def clear(self) -> None:
        """Remove the probes that were hit; from Python 3.12 on, the interpreter has done that already."""
        if time.process_time() - self.cleared > EVERY and HAS_PROBES:
            self.probes.deinstrument_seen()
            self.cleared = time.process_time()

    def save(self, folder: str) -> None:
        """Write the lines and branches of the imported modules, and which of them were run."""
        probes = self.probes
        found = {
            path: (lines, probes.code_branches[path], probes.all_seen[path] | probes.newly_seen[path])
            for path, lines in list(probes.code_lines.items())
        }
        written(f"{folder}/{unique()}.seen", dumps(found))


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
    """Replace a file atomically: other processes write it too."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(new := f"{path}.{unique()}", "xb") as file:
        file.write(data)
    os.replace(new, path)


def unique() -> str:
    return f"{os.getpid()}-{time.monotonic_ns()}"
