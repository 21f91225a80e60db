"""Hooks for Gemini CLI (.gemini/settings.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, bash, prompt, start, stop, write

AGENT = Agent("gemini", ".gemini/settings.json")
DIR = ".gemini/hooks"
NO_LAST_MESSAGE = {host: "the last message is not sent with a stop" for host in ("cursor", "copilot", "droid")}

HOOKS = (
    Hook(
        "secret-scan",
        "BeforeTool",
        f'"$GEMINI_PROJECT_DIR"/{DIR}/secrets.sh',
        (write("a.txt", "api_key=12345\n", decision="deny", reason="secret"), write("a.txt", "hello\n")),
        matcher="write_file|replace",
        path=f"{DIR}/secrets.sh",
        needs=("jq",),
        settings={"timeout": 5000},
        script="""#!/usr/bin/env bash
content=$(jq -r '.tool_input.content // .tool_input.new_string // ""')
if echo "$content" | grep -qiE 'api[_-]?key'; then
  echo '{"decision": "deny", "reason": "a secret would be written", "systemMessage": "secret found"}'
else
  echo '{"decision": "allow"}'
fi
""",
    ),
    Hook(
        "exit-2-stderr",
        "BeforeTool",
        "grep -q 'git reset --hard' && { echo 'stash first' >&2; exit 2; }; exit 0",
        (bash("git reset --hard", decision="deny", reason="stash first"), bash("git diff")),
        matcher="run_shell_command",
    ),
    Hook(
        "prompt-context",
        "BeforeAgent",
        f"node {DIR}/context.js",
        (prompt("go on", context="sprint 12"),),
        path=f"{DIR}/context.js",
        needs=("node",),
        script="""JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "BeforeAgent", additionalContext: "we are in sprint 12" } }));
""",
    ),
    Hook(
        "session-memory",
        "SessionStart",
        """cat >/dev/null; echo '{"hookSpecificOutput": {"additionalContext": "the last run failed"}}'""",
        (start(context="the last run failed"),),
        matcher="startup",
    ),
    Hook(
        "answer-check",
        "AfterAgent",
        f"python3 {DIR}/check.py",
        (stop(last="I think it works", decision="deny", reason="be sure", limits=NO_LAST_MESSAGE), stop(last="All 12 tests pass")),
        path=f"{DIR}/check.py",
        script="""import json, sys
if "I think" in json.load(sys.stdin)["prompt_response"]:
    print(json.dumps({"decision": "deny", "reason": "be sure: run the tests"}))
""",
    ),
)
