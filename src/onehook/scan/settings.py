"""The options of the scanner policy, checked. A wrong one raises a ValueError that names it."""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import wildcard
from onehook.scan.content import GATES, KINDS, TOO_LONG
from onehook.system import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from onehook.scan.model import Backend

MODES = ("observe", "enforce", "bypass")
ACTIONS = ("allow", "mask", "ask", "block")  # from the weakest to the strictest
FAILS = ("open", "closed")
# Each with its module in onehook.scan.backends; the programs differ only in data in that module.
BACKENDS = {
    "airs": "airs",
    "lakera": "lakera",
    "moderation": "moderation",
    "judge": "judge",
    "http": "described",
    "program": "program",
    "gitleaks": "program",
    "semgrep": "program",
    "ggshield": "program",
    "detect-secrets": "program",
    "yara": "program",
}


class Settings:
    """What a scanner policy was given, with the defaults of its backend."""

    def __init__(
        self,
        backend: str,
        mode: str = "enforce",
        gates: Iterable[str] = tuple(GATES),
        kinds: Iterable[str] = KINDS,
        actions: Mapping[str, str] | None = None,
        url: str = "",
        key_env: str = "",
        key_file: str = "",
        ca_file: str = "",
        options: Mapping[str, Any] | None = None,
        max_chars: int | None = None,
        too_long: str = "chunk",
        seconds: float = 5.0,
        retries: int = 2,
        cache: float = 3600.0,
        failures: int = 3,
        pause: float = 30.0,
        fail: str | None = None,
    ) -> None:
        _choose("backend", backend, BACKENDS)
        _choose("mode", mode, MODES)
        _choose("too_long", too_long, TOO_LONG)
        if fail is not None:
            _choose("fail", fail, FAILS)
        module = load(backend)
        self.backend = backend
        self.mode = mode
        self.gates = _names("gates", gates, GATES)
        self.kinds = _names("kinds", kinds, KINDS)
        self.actions = dict(actions or {})
        for category, action in self.actions.items():
            _choose(f"actions[{category!r}]", action, ACTIONS)
        self.options = dict(options or {})
        for name in self.options:
            _choose("options", name, module.OPTIONS)
        self.url = (url or module.URL).rstrip("/")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url={url!r}: must be an address that begins with https:// or http://")
        for name in module.REQUIRED:
            if not (self.url if name == "url" else self.options.get(name)) and not self._preset(name):
                raise ValueError(f"backend {backend!r} needs {name if name == 'url' else f'options.{name}'}")
        self.key_env = key_env or module.KEY_ENV
        self.key_file = key_file
        self.keyless = not (key_env or key_file)  # then a missing key is not an error for a scanner on this machine
        self.ca_file = ca_file
        self.max_chars = int(_number("max_chars", module.MAX_CHARS if max_chars is None else max_chars, 100))
        self.too_long = too_long
        self.seconds = _number("seconds", seconds, 0.05)
        self.retries = int(_number("retries", retries, 0))
        self.cache = _number("cache", cache, 0)
        self.failures = int(_number("failures", failures, 1))
        self.pause = _number("pause", pause, 0.1)
        self.fail = fail

    def _preset(self, option: str) -> bool:
        return option == "run" and self.backend != "program"

    @property
    def identity(self) -> str:
        """What scans, and how: two scanners with the same identity give the same verdicts. It contains no key."""
        return dumps([self.backend, self.url, sorted(self.kinds), sorted(self.options.items(), key=lambda one: one[0])])

    @property
    def name(self) -> tuple[str, str]:
        """A short name for the identity, as the name of a file."""
        return self.backend, digest(self.identity.encode("ascii"))[:16]

    def action_of(self, category: str) -> str:
        """The action for the category itself, or else for the first pattern that covers it, or else block."""
        if category in self.actions:
            return self.actions[category]
        return next((action for pattern, action in self.actions.items() if wildcard(pattern, category)), "block")


def load(backend: str) -> Backend:
    name = BACKENDS[backend]
    module: Backend = __import__(f"onehook.scan.backends.{name}", fromlist=[name])
    return module


def _choose(name: str, value: object, choices: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(choices) or 'none'}")


def _names(name: str, given: Iterable[str], choices: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for one in names:
        _choose(name, one, choices)
    return names


def _number(name: str, value: object, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e8:
        raise ValueError(f"{name} must be a number, at least {least:g}, not {value!r}")
    return value
