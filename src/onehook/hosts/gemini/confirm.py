"""Whether a PreCompress event of Gemini CLI is really followed by a compression.

The event comes before every request to the model, with trigger "auto": 0.61.0 first fires it and then checks whether the context is full.
(Seen: a session of two prompts and three requests, none of them large, had three such events.) Gemini CLI compares the tokens of the last
request, as recorded in its transcript, with a share of the model's window that the settings can change.
"""

from __future__ import annotations

import os
import sys

from onehook.codec import loads, text_of
from onehook.core import PayloadError
from onehook.jsonc import read_jsonc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHARE = 0.5
WINDOW, SMALL_WINDOW = 1_048_576, 256_000
SMALL = "gemma-4"  # the names of the models with the small window begin like this
SYSTEM_VARIABLE = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
SYSTEM = {
    "linux": "/etc/gemini-cli/settings.json",
    "darwin": "/Library/Application Support/GeminiCli/settings.json",
    "win32": "C:\\ProgramData\\gemini-cli\\settings.json",
}
BYTES_PER_TOKEN = 4  # Gemini CLI's own estimate for a history that no request has been made with yet


def happens(payload: dict[str, Any]) -> bool:
    """False if nothing will be compressed; True if something will, or if that cannot be known."""
    if payload.get("trigger") != "auto":
        return True
    used = _last_request(payload.get("transcript_path"))
    return used is None or (used[0] > 0 and used[0] >= _share(payload.get("cwd")) * used[1])


def _last_request(transcript: object) -> tuple[int, int] | None:
    """(the tokens of the last request, the model's window) according to the transcript; None if it cannot be read."""
    if not isinstance(transcript, str):
        return None
    try:
        with open(transcript, "rb") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return None
    for line in reversed(lines):
        if line.startswith(b'{"$set":{"messages":'):  # the history was replaced: the session was resumed or compressed
            return len(line) // BYTES_PER_TOKEN, WINDOW
        if b'"tokens":' in line:
            message = _object(line)
            tokens, model = message.get("tokens"), message.get("model")
            count = tokens.get("input") if isinstance(tokens, dict) else None
            if isinstance(count, int):
                return count, SMALL_WINDOW if isinstance(model, str) and model.startswith(SMALL) else WINDOW
    return 0, WINDOW


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = loads(text_of(data))
    except PayloadError:
        return {}
    return value if isinstance(value, dict) else {}


def _share(cwd: object) -> float:
    """model.compressionThreshold in the settings: the machine's, or else the project's, or else the user's."""
    system = os.environ.get(SYSTEM_VARIABLE) or SYSTEM.get(sys.platform, SYSTEM["linux"])
    user = os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~")
    folders = [folder for folder in (cwd, user) if isinstance(folder, str)]
    for path in (system, *(os.path.join(folder, ".gemini", "settings.json") for folder in folders)):
        model = read_jsonc(path).get("model")
        share = model.get("compressionThreshold") if isinstance(model, dict) else None
        if isinstance(share, (int, float)) and share > 0:
            return float(share)
    return SHARE
