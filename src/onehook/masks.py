"""A line of the log whose strings contain credentials, as far as screens.py can tell.

The rules that find them are those of policies/secret_formats.py and secret_places.py. Loading them takes longer than the rest of an
event, so a separate process does it unless the log is required.
"""

from __future__ import annotations

import sys

from onehook.cache import can_keep, keep, name_of, stamp_of
from onehook.screens import FILE, cut, is_clean, screens, short, shorten
from onehook.system import LOG_RULES, NOWHERE, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from typing import Any

    from onehook.core import Event, Options


def append_masked(
    entry: dict[str, Any],
    texts: Sequence[str],
    event: Event | None,
    options: Options,
    append: Callable[[dict[str, Any], Options], None],
) -> None:
    """Append a line without credentials. `texts`: the strings in it that may contain some."""

    def write() -> None:
        append(masked_entry(entry, texts, event if options.log_content else None), options)

    # A process with threads must not fork.
    if options.log == "required" or not hasattr(os, "fork") or len(sys._current_frames()) > 1:
        write()
    elif os.fork() == 0:
        try:
            os.setsid()
            nowhere = os.open(NOWHERE, os.O_RDWR)
            for descriptor in (0, 1, 2):  # the agent waits until these are closed
                os.dup2(nowhere, descriptor)
            write()
            make_screens()
        finally:
            os._exit(0)


def masked_entry(entry: dict[str, Any], quoting: Container[str], content: Event | None = None) -> dict[str, Any]:
    """An entry without credentials. `content`: an event to add in full."""
    shorten(entry, quoting, _masked)
    if content is not None:
        from onehook.recorder import masked as masked_value

        entry["content"] = masked_value(content.native)
    return entry


def masked(text: str) -> str:
    """The text, cut, and with every credential replaced by [kind]."""
    return short(_masked(cut(text)))


def _masked(text: str) -> str:
    if is_clean(text):
        return text
    from onehook.policies.secret_places import mask_all

    return mask_all(text)


def make_screens() -> None:
    """Make the screens for screens.py, if there are none. It takes 0.1 s."""
    if screens() or not can_keep():
        return
    from onehook.policies.secret_formats import EXAMPLE, FORMATS, NAMES
    from onehook.policies.secret_places import PLACES, VALUES

    formats = {**FORMATS, "password": (FORMATS["password"][0], f"(?i:{NAMES})(?:{FORMATS['password'][1]})")}
    found = [(tuple(hints.split()), pattern) for hints, pattern in (*PLACES.values(), *formats.values())]
    for pattern in (*(pattern for _, pattern in found), FORMATS["password"][1], NAMES, EXAMPLE, *VALUES):
        keep_expression(pattern)
    keep(FILE, (stamp_of(LOG_RULES), [(hints, name_of(pattern)) for hints, pattern in found]))


def keep_expression(source: str) -> None:
    """Compile a regular expression for cache.expression()."""
    import re

    newer = sys.version_info >= (3, 11)
    parser: Any = __import__("re._parser" if newer else "sre_parse", fromlist=["parse"])
    compiler: Any = __import__("re._compiler" if newer else "sre_compile", fromlist=["_code"])
    parsed = parser.parse(source, 0)
    names = {index: name for name, index in parsed.state.groupdict.items()}
    groups = tuple(names.get(index) for index in range(parsed.state.groups))
    code = list(map(int, compiler._code(parsed, 0)))
    parts = (source, int(parsed.state.flags), code, len(groups) - 1, dict(parsed.state.groupdict), groups)
    if __import__("_sre").compile(*parts) != re.compile(source):
        raise ValueError(f"{source!r} is compiled to something else by this interpreter")
    keep(name_of(source), parts)
