"""Facts about Mistral Vibe for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

RESULT = "stdout"
BEGINS = ()  # no hook is told about them
TOKENS = 0
FIELD_LOSSES = {
    ("post_agent", "last_assistant_message"): "Vibe does not say it",
    ("post_agent", "stop_hook_active"): "Vibe does not say it",
}
ANSWER_LOSSES = [
    ({"permission"}, lambda a: a.decision == "deny" and a.user_message is not None, lambda a: {"user_message": None},
     "beside a denial Vibe shows no message"),
]  # fmt: skip
INSTEAD = {"subagent": ("Stop", "", {"agent_id": "a1"})}
OTHER_SETTINGS = False
TRUST_FILES = ('trusted = ["DIR"]\nuntrusted = []\n', '# mine\nuntrusted = [\n  "DIR", # not this one\n]\n')
PERMISSIONS = [
    ("project", ".vibe/config.toml",
     'disabled_tools = ["web_fetch", "todo"]\nenabled_tools = ["bash"]\n\n[tools.bash]\npermission = "ask"\nallowlist = ["git status"]\n'
     'denylist = ["rm -rf"]\ndenylist_standalone = ["python"]\n\n[tools.read_file]\ndenylist = ["*.env", "/etc/*", "/a/*/b"]\n',
     [("deny", "WebFetch"), ("ask", "Bash"), ("deny", "Bash(rm -rf:*)"), ("allow", "Bash(git status:*)"), ("deny", "Bash(python)"),
      ("deny", "Read(**/*.env)"), ("deny", "Read(/etc/**)")],
     ["todo: it is about a tool that other agents do not have", "enabled_tools switches every other tool off",
      "/a/*/b: its pattern means something else here"]),
]  # fmt: skip


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hook_specific_output": {"tool_input": updated}}


LONGEST_REASON = 62_500  # it reads 1 MB of an answer; see _shortened in its wire
