"""The launcher with coverage, like the tests: python -I tests/traced_launch.py FOLDER LAUNCH ARGUMENTS. See counting.py.

An event ends with os._exit, both in the process that the agent started and in the fork for the policy, so nothing would write what was
seen: that is done before the exit, into FOLDER, unless it is "-". The launcher takes modules from onehook's cache as code without probes;
here it gets code with probes, compiled from the same sources. It writes no cache, since that would contain what only this process has
loaded.
"""

import marshal
import os
import posix
import sys
import types

sys.path.insert(0, os.path.dirname(__file__))
from counting import HAS_PROBES, Counter, Seen

sys.path.pop(0)


def probes():
    if HAS_PROBES:
        return Seen()
    import slipcover

    return slipcover.Slipcover(branch=True)


def counted(folder):
    """Starts counting, and returns the function that compiles the launcher."""
    counter, end, loads = Counter(probes()), posix._exit, marshal.loads

    def saved_first(exit_code):
        posix._exit = end
        if folder != "-":
            counter.save(folder)
        end(exit_code)

    def with_probes(value):
        if isinstance(value, (list, tuple)):
            return type(value)(map(with_probes, value))
        is_module = isinstance(value, types.CodeType) and counter.is_counted(value.co_filename)
        return counter.compiled(value.co_filename) if is_module else value

    posix._exit, marshal.loads = saved_first, lambda data: with_probes(loads(data))
    counter.start()
    return counter.compiled


sys.dont_write_bytecode = True
sys.argv = sys.argv[1:]
exec(counted(sys.argv.pop(0))(sys.argv[0]), {"__name__": "__main__", "__file__": sys.argv[0], "__builtins__": __builtins__})
