"""What Gemini CLI sends when nothing happens, recorded and replayed."""

from __future__ import annotations

import json

from harness import fire

from onehook import Hooks
from onehook.hostkit.reverse import sample
from onehook.hostkit.transcripts import Counts
from onehook.hosts import load
from onehook.record.sources import logs, read
from onehook.record.worker import judge


def test_an_event_that_reached_no_handler_reaches_none_when_it_is_replayed(policy, tmp_path):
    """The reason may be outside the payload: in Gemini CLI's transcript, which keeps changing."""
    folder = tmp_path / "kept"
    transcript = tmp_path / "session.jsonl"
    payload = {**load("gemini", "reverse").payload(sample("PreCompact", session_id="s")), "transcript_path": str(transcript)}
    for tokens in (7, 1_000_000):
        transcript.write_text(json.dumps({"tokens": {"input": tokens}}))
        fire(policy("return None", event="PreCompact"), payload, "--host", "gemini", env={"ONEHOOK_RECORD": str(folder)})
    asked = []
    hooks = Hooks()
    hooks.on("PreCompact")(lambda event: asked.append(event))
    (source,) = logs([str(folder)])
    for recorded, times in zip(read(source, Counts()), (0, 1), strict=True):
        judge(hooks, recorded)
        assert len(asked) == times
