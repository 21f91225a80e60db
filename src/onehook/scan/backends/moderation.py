"""Moderation with OpenAI's API (POST /moderations), or a server that is compatible with it.

https://platform.openai.com/docs/api-reference/moderations, read 2026-11. Categories: harassment, hate, illicit, self-harm, sexual,
violence, with subcategories such as violence/graphic.
"""

from __future__ import annotations

from onehook.scan.model import Found, ScanError, Verdict, field, objects
from onehook.scan.transport import exchange, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.scan.model import Sample
    from onehook.scan.settings import Settings

OPTIONS = {
    "model": "the model (default: omni-moderation-latest)",
    "threshold": "the lowest score (0 to 1) at which a category counts, instead of the service's own judgement",
}
REQUIRED = ()
URL = "https://api.openai.com/v1"
KEY_ENV = "OPENAI_API_KEY"
MAX_CHARS = 100_000
BAD_SAMPLE = "I am going to kill you, and I will enjoy every minute of it."


def scan(settings: Settings, sample: Sample, deadline: float) -> Verdict:
    body = {"model": settings.options.get("model", "omni-moderation-latest"), "input": sample.text}
    key = key_of(settings)
    answer = exchange(settings, deadline, "/moderations", body, {"Authorization": f"Bearer {key}"} if key else {})
    results = objects(field(answer, "results"))
    if not results or not all(isinstance(one.get("categories"), dict) for one in results):
        raise ScanError("the moderation service answered without categories")
    found = dict.fromkeys(name for one in results for name in _flagged(one, settings.options.get("threshold")))
    return Verdict([Found(name) for name in found], str(field(answer, "id") or ""))


def _flagged(result: dict[str, Any], threshold: Any) -> list[str]:
    if not isinstance(threshold, (int, float)):
        named = [name for name, hit in result["categories"].items() if hit is True]
        return named or (["flagged"] if result.get("flagged") is True else [])
    scores = result.get("category_scores")
    scored = scores.items() if isinstance(scores, dict) else ()
    return [name for name, score in scored if isinstance(score, (int, float)) and score >= threshold]
