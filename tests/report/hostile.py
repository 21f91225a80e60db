"""Text that tries to be more than text, in every field of a line that somebody else can write."""

from __future__ import annotations

from typing import Any

from harness import ANY
from test_logger import entry_of

_RUN = "window.ran=1"
HOSTILE = (
    f"</script><img src=x onerror={_RUN}>",
    f"<!--<script>{_RUN}</script>",
    f'"><svg onload={_RUN}>',
    f"'-{_RUN}-'",
    f"javascript:{_RUN}//",
    f"\u2028{_RUN}\u2029",
    "{{ script }} {{ data }} \\u003cscript> ]]> &lt;b&gt; \\",
    "\u202egpj.exe \x1b[31m \x00 \ud800",
)


def hostile_entry(text: str, **more: Any) -> dict[str, Any]:
    said = {"kind": "rule", "name": text, "pack": text, "file": text, "line": 1, "said": "deny", "reason": text}
    return entry_of(
        agent=ANY, agent_version=text, session=text, project=f"/{text}", tool="Bash", subject=text, by=[said], reason=text, error="",
        dropped=[{"text": text, "fields": [text], "kind": text, "why": text, "becomes": text}], policy=f"/{text}.toml", approver=text,
        effects=[text], pause={"until": "2026-11-16T12:00:00.000Z", "rules": [text], "reason": text}, **more,
    )  # fmt: skip
