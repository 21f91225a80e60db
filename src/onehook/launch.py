"""What install writes into the hosts' configs: PYTHON -I -S .../onehook/launch.py POLICY --host ID.

-I: nothing of the user's repository is imported by accident. -S: no site, which saves a quarter of the start-up, and all of what .pth
files cost. Packages beside onehook are found without it, and if an import fails, site is brought in and the import is tried again.
"""

import gc
import sys

gc.disable()  # what is imported on the way is no garbage; looking for it costs half a millisecond. A policy gets the collector back.

_FILE = __file__.replace("\\", "/") if sys.platform == "win32" else __file__  # elsewhere a backslash is part of a name
_PACKAGE_PARENT = _FILE.rpartition("/")[0].rpartition("/")[0] or "/"


class _SiteOnDemand:
    """The last finder: what nobody found may be in a place that only site knows (editable installs, .pth files, other folders)."""

    @staticmethod
    def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def]
        sys.meta_path.remove(_SiteOnDemand)
        # Not for what belongs to the standard library on other systems: subprocess tries msvcrt, and goes on without.
        if path is None and name != "onehook" and name not in getattr(sys, "stdlib_module_names", ()):
            import site

            site.main()
            from importlib.util import find_spec

            return find_spec(name)
        sys.meta_path.append(_SiteOnDemand)
        return None


if __name__ == "__main__":
    if _PACKAGE_PARENT not in sys.path:
        sys.path.append(_PACKAGE_PARENT)
    if sys.flags.no_site:
        sys.meta_path.append(_SiteOnDemand)
    from onehook.runner import main

    main(sys.argv[1:])
