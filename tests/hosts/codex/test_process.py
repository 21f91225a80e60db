"""Codex reads the whole of stderr as the reason."""

from __future__ import annotations

from harness import fire, tool_payload


def test_a_silent_deny_on_codex_has_the_reason_alone_on_stderr(policy, isolation):
    result = fire(policy("return deny('two\\nlines')"), tool_payload("codex"), "--isolation", isolation)
    assert (result.exit_code, result.stderr) == (2, "two\nlines\n")
