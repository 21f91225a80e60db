"""What install writes into the hosts' configs: PYTHON -I -S .../onehook/launch.py POLICY --host ID.

-I: nothing of the user's repository is imported by accident. -S: no site, which saves a quarter of the start-up, and all of what .pth
files cost. Packages beside onehook are found without it, and if an import fails, site is brought in and the import is tried again.
Without ".py" in its name, this file starts the package in the archive beside it: the runtime that install copies (setup/runtime.py).

This file is compiled for every event, and ten lines cost as many as 0.1 ms. So it only runs cache.py from the cache; what an event seldom
needs is a string, which the compiler does not look into; and there are no f-strings, since each of their fields starts a parser before
Python 3.12.
"""

import gc
import sys
from _imp import source_hash
from marshal import loads

gc.disable()  # what is imported here is not garbage; looking for some costs half a millisecond. A policy gets the collector back.

RARELY = """
def go_on(file, error):
    '''Without the cache, if that is what failed: there is none yet, or it is of another version.'''
    try:
        if "onehook.cache" in sys.modules:
            raise error
        cache = uncached(file)
        cache.start(cache)
        from onehook.runner import main

        main(sys.argv[1:])
    except BaseException as problem:
        give_up(problem, sys.argv[1:])


def uncached(file):
    '''The module onehook.cache, by the path of this file.'''
    folder = file.rpartition("/")[0]
    if file[-3:] == ".py":
        sys.path.append(folder.rpartition("/")[0] or "/")
        import onehook.cache

        return onehook.cache
    from zlib import decompress

    cache = type(sys)("onehook.cache")
    cache.__file__ = folder + "/runtime.tar.gz/onehook/cache.py"
    with open(folder + "/runtime.tar.gz", "rb") as archive:
        first = decompress(archive.read(), 31)  # cache.py, after a header of 512 bytes
    exec(compile(first[512 : 512 + int(first[124:135], 8)], cache.__file__, "exec"), cache.__dict__)
    return cache


STOPPABLE = (
    "", "PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion", "PostToolBatch", "PreCompact", "TaskCreated",
    "ConfigChange", "PreModelSwitch", "Elicitation", "ElicitationResult", "SubagentStart", "BeforeModel", "TodoCreated", "TodoCompleted",
)


def give_up(error, words):
    '''onehook cannot be imported: it is being reinstalled, or memory or descriptors have run out. Only the arguments are known.'''
    words = " ".join(words).replace("=", " ").split()
    given = dict(zip(words, words[1:]))
    closed = given.get("--fail") == "closed" and given.get("--event", "") in STOPPABLE
    form = "onehook: %s: %s: %s (blocked: fail=closed)\\n" if closed else "[onehook] error: %s: %s: %s\\n"
    line = form % ("onehook cannot be started", type(error).__name__, error)
    system = sys.modules.get("posix") or sys.modules["nt"]  # either is part of the interpreter, and loaded
    try:
        system.write(2, line.encode("utf-8", "backslashreplace"))
    finally:
        system._exit(2 if closed else 1)
"""

if __name__ == "__main__":
    try:
        FILE = __file__.replace("\\", "/") if sys.platform == "win32" else __file__
        PLACE = source_hash(0, (FILE + sys.base_exec_prefix).encode("utf-8", "surrogateescape")).hex() + "." + sys.implementation.cache_tag
        DATA = memoryview(open(FILE.rpartition("/")[0] + "/__pycache__/start-" + PLACE + ".pyc", "rb").read())  # noqa: SIM115
        if DATA[:8] != source_hash(sys.hexversion, DATA[8:]):
            raise ImportError
        ENTRIES = loads(DATA[8:])
        CACHE = type(sys)("onehook.cache")
        CACHE.__file__ = ENTRIES[0][1]
        exec(ENTRIES[0][-1], CACHE.__dict__)
        CACHE.start(CACHE, ENTRIES)
        from onehook.runner import main

        main(sys.argv[1:])
    except BaseException as error:
        FAILED = error
    exec(RARELY)  # behind the try: what a policy raises would be shown with this error before it
    go_on(FILE, FAILED)  # type: ignore[name-defined] # noqa: F821
