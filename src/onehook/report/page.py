"""The report as one file: no network, and nothing runs in it but our own script, whose hash its Content-Security-Policy names.

What agents were asked to do is hostile text. It is in the page in one place only, as JSON in which no character means anything to HTML, and
page.js puts it on the screen as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

MARK = '<meta name="generator" content="onehook report">'
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def page(data: dict[str, Any]) -> str:
    folder = files("onehook.report")
    css, script = ((folder / "page" / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    charts = (folder / "vendor" / "d3.min.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src {_hash(charts)} {_hash(script)}; style-src {_hash(css)}; base-uri 'none'; form-action 'none'"
    parts = {"policy": policy, "mark": MARK, "css": css, "charts": charts, "script": script, "data": embedded(data)}
    template = (folder / "page" / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], template)


def embedded(data: dict[str, Any]) -> str:
    """JSON that can stand in a <script> element, whatever strings it holds."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPED)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
