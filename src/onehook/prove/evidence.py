"""What a run of an agent left behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.prove.process import Outcome

NOTES = "notes.txt"


@dataclass(frozen=True)
class Evidence:
    project: Path
    home: Path
    outcome: Outcome
    turns: int  # requests that offered tools
    told: tuple[str, ...]  # every string that the model received
    shown: str  # what the user saw in the terminal
    doctor_failed: bool = False  # after the run, `onehook doctor` reported that a deny would not take effect
    lost: frozenset[str] = frozenset()  # the fields of the policy's answer that are lost, according to the agent's tables
    events: frozenset[str] | None = None  # the unified events that the agent has or has a stand-in for; None for all

    @property
    def started(self) -> bool:
        """The agent ran and ended."""
        return not self.outcome.timed_out

    @property
    def acted(self) -> bool:
        """The model was asked at least once, so that the script's first step was played."""
        return self.started and self.turns > 0

    def text(self, name: str) -> str | None:
        try:
            return (self.project / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def files(self) -> set[str]:
        """The files of the project, without configs and hooks."""
        names = (path.relative_to(self.project) for path in self.project.rglob("*") if path.is_file())
        return {str(name) for name in names if not name.parts[0].startswith(".")}

    def notes(self) -> str:
        try:
            return (self.home / NOTES).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def logged(self) -> list[dict[str, Any]]:
        """The lines of the decision log, whose chain must be intact."""
        from onehook.log.chain import verify
        from onehook.log.reader import entries

        folders = [str(path.parent) for path in self.home.rglob("onehook/log/head")]
        return [entry for folder in folders if not verify(folder).problems for entry in entries(folder)]

    def model_was_told(self, words: str) -> bool:
        return any(words in text for text in self.told)

    def model_knows_why(self, reason: str) -> bool:
        """The model was given the reason for a denial, unless the agent has no way to give it."""
        return "reason" in self.lost or self.model_was_told(reason)

    def user_was_told(self, words: str) -> bool:
        return words in self.shown
