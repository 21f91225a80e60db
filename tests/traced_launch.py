"""The launcher, counted as the tests are: python -I tests/traced_launch.py FOLDER LAUNCH ARGUMENTS. See counting.py.

What an event runs ends with os._exit, in the process that the agent started and in the fork for the policy, and nothing would write what
was seen: so that is done first, into FOLDER, unless it is "-". The launcher takes modules from onehook's cache, as code that has no probes;
it gets code of the same sources that has them. It writes no cache, in which there would be what only this process has loaded.
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
    """Counts from now on, and returns what compiles the launcher."""
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
