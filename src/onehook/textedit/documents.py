"""One way to edit a config, whatever its format: append an entry, take entries out, read it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from onehook.textedit import json_text, toml_text
from onehook.textedit.error import Path as Steps
from onehook.textedit.error import TextError
from onehook.textedit.json_tree import parse as parse_json


class ConfigError(RuntimeError):
    """A config cannot be read or must not be touched; nothing was changed."""


class Document:
    """The text of one config file, edited surgically: what is not ours stays as it is, byte for byte."""

    def __init__(self, path: Path, format: str, escape_slashes: bool = False) -> None:
        self.path = path
        self.format = format
        self.escape_slashes = escape_slashes
        self._take(_read(path))

    def _take(self, content: bytes | None) -> None:
        self.before = content
        self.text = _decoded(self.path, content)
        self.data()  # refuse now what cannot be read

    def with_bytes(self, content: bytes | None) -> Document:
        """The same file with other content."""
        other = copy.copy(self)
        other._take(content)
        return other

    def copy(self) -> Document:
        """For edits that this one shall not see."""
        return copy.copy(self)

    @property
    def after(self) -> bytes:
        return self.text.encode("utf-8")

    def data(self) -> Any:
        """The plain data; an empty file counts as empty."""
        try:
            if self.format == "toml":
                return toml_text.parse(self.text)
            if not self.text.strip("\ufeff \t\r\n"):
                return {}
            return parse_json(self.text, jsonc=self._jsonc).value
        except TextError as error:
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from None

    @property
    def _jsonc(self) -> bool:
        return self.format == "jsonc"

    def append(self, path: Steps, item: Any) -> None:
        self._edit(lambda: self._append(path, item))

    def _append(self, path: Steps, item: Any) -> str:
        if self.format == "toml":
            return toml_text.append(self.text, path, item).text
        return json_text.append(self.text, path, item, jsonc=self._jsonc, escape_slashes=self.escape_slashes).text

    def set_value(self, path: Steps, value: Any) -> None:
        if self.format == "toml":
            self._edit(lambda: toml_text.set_value(self.text, path, value).text)
        else:
            self._edit(lambda: json_text.set_value(self.text, path, value, jsonc=self._jsonc, escape_slashes=self.escape_slashes).text)

    def replace(self, path: Steps, item: Any) -> None:
        if self.format == "toml":
            self._edit(lambda: toml_text.replace_item(self.text, path, item))
        else:
            self._edit(lambda: json_text.replace_item(self.text, path, item, jsonc=self._jsonc, escape_slashes=self.escape_slashes))

    def remove(self, path: Steps) -> None:
        if self.format == "toml":
            self._edit(lambda: toml_text.remove(self.text, path))
        else:
            self._edit(lambda: json_text.remove(self.text, path, jsonc=self._jsonc))

    def _edit(self, edited: Any) -> None:
        try:
            self.text = edited()
        except TextError as error:
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from None


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; nothing was changed") from None


def _decoded(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start}); nothing was changed") from None


def value_at(data: Any, path: Steps) -> Any:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data
