"""Document: read and edit one config file the same way, whether it is JSON, JSONC, TOML or YAML."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onehook.core import OnehookError
from onehook.jsonc import read_regular
from onehook.textedit import json_edit, toml_edit, yaml_edit
from onehook.textedit.json_tree import parse as parse_json
from onehook.textedit.text import Steps, TextError
from onehook.textedit.toml_tree import parse as parse_toml

_EDITORS = {"toml": toml_edit, "yaml": yaml_edit}  # the others are JSON


class ConfigError(OnehookError):
    """A config file cannot be read or must not be changed. Nothing was changed."""


class Document:
    """The text of one config file. An edit changes only what it should; every other byte stays as it is."""

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
        """The plain data; an empty file counts as empty. For a file that only onehook writes, it is the text."""
        if self.format == "own":
            return self.text
        try:
            if self.format == "toml":
                return parse_toml(self.text)
            if self.format == "yaml":
                return yaml_edit.parse(self.text)
            if not self.text.strip("\ufeff \t\r\n"):
                return {}
            return parse_json(self.text, jsonc=self.format == "jsonc").value
        except TextError as error:
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from None

    def append(self, path: Steps, item: Any) -> None:
        """Add an item as the last element of the array at path, creating what is missing on the way."""
        self._edit("append", path, item)

    def set_value(self, path: Steps, value: Any) -> None:
        """Set the value at path, creating what is missing on the way."""
        self._edit("set_value", path, value)

    def replace(self, path: Steps, item: Any) -> None:
        """Replace the existing value at path."""
        self._edit("replace_item", path, item)

    def remove(self, path: Steps) -> None:
        self._edit("remove", path)

    def _edit(self, name: str, *arguments: Any) -> None:
        edit: Callable[..., str] = getattr(_EDITORS.get(self.format, json_edit), name)
        options: dict[str, bool] = {"jsonc": self.format == "jsonc"} if self.format not in _EDITORS else {}
        if self.escape_slashes and self.format not in _EDITORS and name != "remove":
            options["escape_slashes"] = True
        try:
            self.text = edit(self.text, *arguments, **options)
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
