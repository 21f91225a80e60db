"""What install writes into the hosts' configs: PYTHON -I -S .../onehook/launch.py POLICY --host ID.

-I: nothing of the user's repository is imported by accident. -S: no site, which saves a quarter of the start-up, and all of what .pth
files cost. Packages beside onehook are found without it, and if an import fails, site is brought in and the import is tried again.
Without ".py" in its name, this file starts the package in the archive beside it: the runtime that install copies (setup/runtime.py).

This file is compiled for every event, so it is short: it only runs cache.py, itself from the cache if possible.
"""

import gc
import sys

gc.disable()  # what is imported on the way is no garbage; looking for it costs half a millisecond. A policy gets the collector back.


def start(folder, package):  # type: ignore[no-untyped-def]
    from _imp import source_hash
    from marshal import loads

    cache = type(sys)("onehook.cache")
    cache.__file__ = f"{package}/cache.py"
    try:
        place = source_hash(0, package.encode("utf-8", "surrogateescape")).hex()
        with open(f"{folder}/__pycache__/modules-{place}.{sys.implementation.cache_tag}.pyc", "rb") as file:
            magic, entries = loads(file.read())
        if magic != sys.modules["_frozen_importlib_external"].MAGIC_NUMBER:
            raise ValueError("of another interpreter")
        exec(loads(entries["onehook.cache"][-1]), cache.__dict__)
        cache.start(entries)
        sys.modules["onehook.cache"] = cache
    except Exception:  # there is no cache yet, it is damaged, or cache.py has changed
        if folder != package:
            from zlib import decompress

            with open(f"{folder}/runtime.tar.gz", "rb") as file:
                first = decompress(file.read(), 31)  # cache.py, after a header of 512 bytes
            sys.modules["onehook.cache"] = cache
            exec(compile(first[512 : 512 + int(first[124:135], 8)], cache.__file__, "exec"), cache.__dict__)
            cache.start({})
            return
        import onehook.cache

        onehook.cache.start({})


def give_up(error, words):  # type: ignore[no-untyped-def]
    """onehook cannot be imported: it is being reinstalled, or memory or descriptors have run out. Only the arguments are known."""
    stoppable = (
        "", "PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion", "PostToolBatch", "PreCompact", "TaskCreated",
        "ConfigChange", "PreModelSwitch", "Elicitation", "ElicitationResult", "SubagentStart", "BeforeModel", "TodoCreated",
        "TodoCompleted",
    )  # fmt: skip
    words = " ".join(words).replace("=", " ").split()
    given = dict(zip(words, words[1:]))
    closed = given.get("--fail") == "closed" and given.get("--event", "") in stoppable
    problem = f"onehook cannot be started: {type(error).__name__}: {error}"
    line = f"onehook: {problem} (blocked: fail=closed)\n" if closed else f"[onehook] error: {problem}\n"
    system = sys.modules.get("posix") or sys.modules["nt"]  # either is part of the interpreter, and loaded
    try:
        system.write(2, line.encode("utf-8", "backslashreplace"))
    finally:
        system._exit(2 if closed else 1)


if __name__ == "__main__":
    try:
        _FILE = __file__.replace("\\", "/") if sys.platform == "win32" else __file__  # elsewhere a backslash is part of a name
        _FOLDER = _FILE.rpartition("/")[0]
        _PACKAGE = _FOLDER if _FILE.endswith(".py") else f"{_FOLDER}/runtime.tar.gz/onehook"
        if _PACKAGE == _FOLDER and (_PACKAGE.rpartition("/")[0] or "/") not in sys.path:
            sys.path.append(_PACKAGE.rpartition("/")[0] or "/")
        start(_FOLDER, _PACKAGE)  # type: ignore[no-untyped-call]
        from onehook.runner import main

        main(sys.argv[1:])
    except BaseException as error:
        give_up(error, sys.argv[1:])  # type: ignore[no-untyped-call]
