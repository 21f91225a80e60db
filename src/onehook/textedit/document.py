"""Document: read and edit one config file the same way, whether it is JSON, JSONC or TOML."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onehook.core import OnehookError
from onehook.jsonc import read_regular
from onehook.textedit import json_edit, toml_edit
from onehook.textedit.json_tree import parse as parse_json
from onehook.textedit.text import Steps, TextError
from onehook.textedit.toml_tree import parse as parse_toml


class ConfigError(OnehookError):
    """A config file cannot be read or must not be changed. Nothing was changed."""


class Document:
    """The text of one config file. An edit changes what it means to change; every other byte stays as it is."""

    def __init__(self, path: Path, format: str, escape_slashes: bool = False) -> None:
        self.path = path
        self.format = format
        self.escape_slashes = escape_slashes
        self._take(content_of(path))

    def _take(self, content: bytes | None) -> None:
        self.before = content
        self.text = _decoded(self.path, content)
        self.data()  # raises now if the file cannot be read

    def with_bytes(self, content: bytes | None) -> Document:
        """The same file with other content."""
        other = copy.copy(self)
        other._take(content)
        return other

    def copy(self) -> Document:
        """A document to edit without changing this one."""
        return copy.copy(self)

    @property
    def after(self) -> bytes:
        return self.text.encode("utf-8")

    def data(self) -> Any:
        """The plain data; an empty file counts as empty."""
        try:
            if self.format == "toml":
                return parse_toml(self.text)
            if not self.text.strip("\ufeff \t\r\n"):
                return {}
            return parse_json(self.text, jsonc=self.format == "jsonc").value
        except TextError as error:
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from None

    def append(self, path: Steps, item: Any) -> None:
        """Add an item as the last element of the array at path, creating what is missing on the way."""
        self._edit(toml_edit.append, json_edit.append, path, item, escape_slashes=self.escape_slashes)

    def set_value(self, path: Steps, value: Any) -> None:
        """Set the value at path, creating what is missing on the way."""
        self._edit(toml_edit.set_value, json_edit.set_value, path, value, escape_slashes=self.escape_slashes)

    def replace(self, path: Steps, item: Any) -> None:
        """Replace the existing value at path."""
        self._edit(toml_edit.replace_item, json_edit.replace_item, path, item, escape_slashes=self.escape_slashes)

    def remove(self, path: Steps) -> None:
        self._edit(toml_edit.remove, json_edit.remove, path)

    def _edit(self, in_toml: Callable[..., str], in_json: Callable[..., str], *arguments: Any, **only_json: bool) -> None:
        try:
            if self.format == "toml":
                self.text = in_toml(self.text, *arguments)
            else:
                self.text = in_json(self.text, *arguments, jsonc=self.format == "jsonc", **only_json)
        except TextError as error:
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from None


def content_of(path: Path) -> bytes | None:
    """The bytes of a config file; None if there is none."""
    try:
        return read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; nothing was changed") from None


def _decoded(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start}); nothing was changed") from None
