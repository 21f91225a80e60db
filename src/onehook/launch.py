"""What install writes into the hosts' configs: PYTHON -I -S .../onehook/launch.py POLICY --host ID.

-I: nothing of the user's repository is imported by accident. -S: no site, which saves a quarter of the start-up, and all of what .pth
files cost. Packages beside onehook are found without it, and if an import fails, site is brought in and the import is tried again.
Without ".py" in its name, this file starts the package in the archive beside it: the runtime that install copies (setup/runtime.py).

This file is compiled for every event, so it is short: it only runs cache.py, itself from the cache if possible. For the same reason it has
no f-strings: before Python 3.12, each of their fields starts a parser.
"""

import gc
import sys

gc.disable()  # what is imported on the way is no garbage; looking for it costs half a millisecond. A policy gets the collector back.


def start(folder, package):  # type: ignore[no-untyped-def]
    from _frozen_importlib_external import MAGIC_NUMBER
    from _imp import source_hash
    from marshal import loads

    cache = type(sys)("onehook.cache")
    cache.__file__ = package + "/cache.py"
    entries = ()
    try:
        place = source_hash(0, (package + sys.base_exec_prefix).encode("utf-8", "surrogateescape")).hex()
        with open(folder + "/__pycache__/start-" + place + "." + sys.implementation.cache_tag + ".pyc", "rb") as file:
            data = memoryview(file.read())
        if data[:8] == source_hash(int.from_bytes(MAGIC_NUMBER, "little"), data[8:]):
            kept = loads(data[8:])
            exec(kept[0][-1], cache.__dict__)
            entries = cache.fresh(kept)
    except Exception:  # there is no cache yet, or it is of another version
        pass
    if entries or folder != package:
        sys.modules["onehook.cache"] = cache
    else:
        import onehook.cache as cache
    if not entries and folder != package:
        from zlib import decompress

        with open(folder + "/runtime.tar.gz", "rb") as file:
            first = decompress(file.read(), 31)  # cache.py, after a header of 512 bytes
        exec(compile(first[512 : 512 + int(first[124:135], 8)], cache.__file__, "exec"), cache.__dict__)
    cache.start(entries)


def give_up(error, words):  # type: ignore[no-untyped-def]
    """onehook cannot be imported: it is being reinstalled, or memory or descriptors have run out. Only the arguments are known."""
    stoppable = (
        " PreToolUse PermissionRequest UserPromptSubmit UserPromptExpansion PostToolBatch PreCompact TaskCreated ConfigChange"
        " PreModelSwitch Elicitation ElicitationResult SubagentStart BeforeModel TodoCreated TodoCompleted"
    )
    words = " ".join(words).replace("=", " ").split()
    given = dict(zip(words, words[1:]))
    closed = given.get("--fail") == "closed" and given.get("--event", "") in stoppable.split(" ")
    form = "onehook: %s: %s: %s (blocked: fail=closed)\n" if closed else "[onehook] error: %s: %s: %s\n"
    line = form % ("onehook cannot be started", type(error).__name__, error)
    system = sys.modules.get("posix") or sys.modules["nt"]  # either is part of the interpreter, and loaded
    try:
        system.write(2, line.encode("utf-8", "backslashreplace"))
    finally:
        system._exit(2 if closed else 1)


if __name__ == "__main__":
    try:
        _FOLDER, _, _NAME = (__file__.replace("\\", "/") if sys.platform == "win32" else __file__).rpartition("/")
        if _NAME == "launch":
            start(_FOLDER, _FOLDER + "/runtime.tar.gz/onehook")  # type: ignore[no-untyped-call]
        else:
            if (_FOLDER.rpartition("/")[0] or "/") not in sys.path:
                sys.path.append(_FOLDER.rpartition("/")[0] or "/")
            start(_FOLDER, _FOLDER)  # type: ignore[no-untyped-call]
        from onehook.runner import main

        main(sys.argv[1:])
    except BaseException as error:
        give_up(error, sys.argv[1:])  # type: ignore[no-untyped-call]
