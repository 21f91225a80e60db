"""The front matter of a Markdown file: the lines between two `---` at its start, in YAML. Not on the hot path."""

from __future__ import annotations

from typing import Any

from onehook.textedit.document import ConfigError
from onehook.textedit.yaml_read import KEY, Reader, YamlError, scalar


class Page:
    """A Markdown file with front matter: the lines under each key at its top level, and the text without one of the keys."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._blocks: dict[str, tuple[int, int]] = {}
        plain = [line.rstrip() for line in self._lines]
        end = plain.index("---", 1) if plain[:1] == ["---"] and "---" in plain[1:] else 0
        starts = [at for at in range(1, end) if plain[at] and plain[at][0] not in " #-\t"]
        for at, following in zip(starts, [*starts[1:], end]):
            key = KEY.match(plain[at])
            if key:
                self._blocks[scalar(key[1])] = (at, following)

    def get(self, key: str) -> Any:
        """The value of a key at the top level; None if it is missing."""
        if key not in self._blocks:
            return None
        start, end = self._blocks[key]
        try:
            return Reader([line.rstrip() for line in self._lines[start:end]]).read()[key]
        except YamlError as error:
            raise ConfigError(f"cannot read this front matter: {error.shown!r}") from None

    def without(self, key: str) -> str:
        start, end = self._blocks[key]
        return "".join([*self._lines[:start], *self._lines[end:]])
