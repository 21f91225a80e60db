"""What the world looks like after an agent has run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from onehook.prove.process import Outcome

NOTES = "notes.txt"


@dataclass(frozen=True)
class Evidence:
    project: Path
    home: Path
    outcome: Outcome
    turns: int  # how often the model was asked to go on, with tools
    told: tuple[str, ...]  # every text that the model was given
    shown: str  # what a person at the terminal saw
    hung: bool = False
    doctor_failed: bool = False  # `onehook doctor`, asked after the run, says that a deny would not take effect
    problems: tuple[str, ...] = field(default=())

    @property
    def started(self) -> bool:
        """The agent ran and came to an end."""
        return not self.outcome.timed_out

    @property
    def acted(self) -> bool:
        """The model was asked at least once, so that the script's first step was played."""
        return self.started and self.turns > 0

    @property
    def ended(self) -> bool:
        return self.started

    def text(self, name: str) -> str | None:
        try:
            return (self.project / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def files(self) -> set[str]:
        """What stands in the project, without configs and hooks."""
        names = (path.relative_to(self.project) for path in self.project.rglob("*") if path.is_file())
        return {str(name) for name in names if not name.parts[0].startswith(".")}

    def notes(self) -> str:
        try:
            return (self.home / NOTES).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def model_was_told(self, words: str) -> bool:
        return any(words in text for text in self.told)

    def user_was_told(self, words: str) -> bool:
        return words in self.shown
