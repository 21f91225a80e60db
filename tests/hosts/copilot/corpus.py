"""Hooks for Copilot CLI (.github/hooks/*.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, bash, edit, prompt, ran, start, stop

AGENT = Agent("copilot", ".github/hooks/team.json", grouped=False, command="bash", around={"version": 1})
DIR = ".github/scripts"

HOOKS = (
    Hook(
        "pre-tool-deny",
        "preToolUse",
        f"./{DIR}/deny.sh",
        (bash("rm -rf node_modules", decision="deny", reason="rimraf"), bash("npm ci")),
        path=f"{DIR}/deny.sh",
        needs=("jq",),
        settings={"timeoutSec": 10},
        script="""#!/bin/bash
input=$(cat)
tool=$(echo "$input" | jq -r '.toolName')
args=$(echo "$input" | jq -r '.toolArgs | if type == "string" then . else tojson end')
if [ "$tool" = bash ] && echo "$args" | grep -q 'rm -rf'; then
  echo '{"permissionDecision":"deny","permissionDecisionReason":"use npx rimraf"}'
fi
""",
    ),
    Hook(
        "edit-outside-src",
        "preToolUse",
        f"python3 {DIR}/where.py",
        (edit("generated/a.ts", "a", "b", decision="deny", reason="generated"), edit("src/a.ts", "a", "b"), bash("ls")),
        path=f"{DIR}/where.py",
        files={"generated/a.ts": "a\n", "src/a.ts": "a\n"},
        script="""import json, sys
data = json.load(sys.stdin)
args = data["toolArgs"] if isinstance(data["toolArgs"], dict) else json.loads(data["toolArgs"])
if "/generated/" in args.get("path", ""):
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": "generated files are built"}))
""",
    ),
    Hook(
        "tool-log",
        "postToolUse",
        "jq -r '.toolName' >> tools.log",
        (ran("make", files={"tools.log": "bash"}),),
        needs=("jq",),
    ),
    Hook(
        "prompt-log",
        "userPromptSubmitted",
        "jq -r '.prompt' >> prompts.log",
        (prompt("what is this?", files={"prompts.log": "what is this?"}),),
        needs=("jq",),
    ),
    Hook("session-mark", "sessionStart", "cat > /dev/null; date +%Y > started.txt", (start(files={"started.txt": "20"}),)),
    Hook(
        "stop-again",
        "agentStop",
        """cat >/dev/null; echo '{"decision": "block", "reason": "push the branch"}'""",
        (stop(decision="deny", reason="push the branch"),),
    ),
)
