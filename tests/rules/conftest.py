from __future__ import annotations

import pytest

from onehook.rules.compile import compile_layers
from onehook.rules.explain import explained, sample_event
from onehook.rules.load import Table

PROJECT = "/home/dev/project"


@pytest.fixture
def rules(tmp_path):
    """rules(text).decision(sample): the decision of a rules file, without a cache."""

    class Tried:
        def __init__(self, text: str, **layers: str) -> None:
            self.path = tmp_path / "onehook.toml"
            self.path.write_text(text, encoding="utf-8")
            files = []
            for layer, content in layers.items():
                (tmp_path / f"{layer}.toml").write_text(content, encoding="utf-8")
                files.append((layer, str(tmp_path / f"{layer}.toml")))
            self.table = Table(*compile_layers([*files, ("project", str(self.path))]))

        def explain(self, sample: str, cwd: str = PROJECT):
            return explained(self.table, sample_event(sample, cwd))

        def decision(self, sample: str, cwd: str = PROJECT):
            return self.explain(sample, cwd).decision

    return Tried
