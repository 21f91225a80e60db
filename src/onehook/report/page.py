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
    css, script = asset("look.css") + asset("page.css"), asset("kit.js") + asset("page.js")
    charts = asset("d3.min.js", "vendor")
    policy = f"default-src 'none'; script-src {_hash(charts)} {_hash(script)}; style-src {_hash(css)}; base-uri 'none'; form-action 'none'"
    parts = {"policy": policy, "mark": MARK, "css": css, "charts": charts, "script": script, "data": embedded(data)}
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], asset("page.html"))


def asset(name: str, folder: str = "page") -> str:
    """A part of the page. look.css and kit.js are also parts of the desk's."""
    return (files("onehook.report") / folder / name).read_text(encoding="utf-8")


def embedded(data: dict[str, Any]) -> str:
    """JSON that can stand in a <script> element, whatever strings it holds."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPED)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
