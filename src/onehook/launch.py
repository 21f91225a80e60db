"""What install writes into the hosts' configs: PYTHON -I -S .../onehook/launch.py POLICY --host ID.

-I: nothing of the user's repository is imported by accident. -S: no site, which saves a quarter of the start-up, and all of what .pth
files cost. Packages beside onehook are found without it, and if an import fails, site is brought in and the import is tried again.

This file is compiled for every event, so it is short: it only runs cache.py, itself from the cache if possible.
"""

import gc
import sys

gc.disable()  # what is imported on the way is no garbage; looking for it costs half a millisecond. A policy gets the collector back.


def start(package):  # type: ignore[no-untyped-def]
    from _imp import source_hash
    from marshal import loads

    cache = type(sys)("onehook.cache")
    cache.__file__ = f"{package}/cache.py"
    try:
        place = source_hash(0, package.encode("utf-8", "surrogateescape")).hex()
        with open(f"{package}/__pycache__/modules-{place}.{sys.implementation.cache_tag}.pyc", "rb") as file:
            magic, entries = loads(file.read())
        if magic != sys.modules["_frozen_importlib_external"].MAGIC_NUMBER:
            raise ValueError("of another interpreter")
        exec(loads(entries["onehook.cache"][-1]), cache.__dict__)
        cache.start(entries)
        sys.modules["onehook.cache"] = cache
    except Exception:  # there is no cache yet, it is damaged, or cache.py has changed
        import onehook.cache

        onehook.cache.start({})


if __name__ == "__main__":
    _FILE = __file__.replace("\\", "/") if sys.platform == "win32" else __file__  # elsewhere a backslash is part of a name
    _PACKAGE = _FILE.rpartition("/")[0]
    if (_PACKAGE.rpartition("/")[0] or "/") not in sys.path:
        sys.path.append(_PACKAGE.rpartition("/")[0] or "/")
    start(_PACKAGE)  # type: ignore[no-untyped-call]
    from onehook.runner import main

    main(sys.argv[1:])
