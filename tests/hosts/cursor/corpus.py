"""Hooks for Cursor (.cursor/hooks.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, bash, edit, prompt, read, start, stop

AGENT = Agent("cursor", ".cursor/hooks.json", grouped=False, around={"version": 1})
DIR = ".cursor/hooks"

HOOKS = (
    Hook(
        "shell-permission",
        "beforeShellExecution",
        f"./{DIR}/shell.sh",
        (bash("git commit --amend", decision="deny", reason="amend"), bash("git log")),
        path=f"{DIR}/shell.sh",
        needs=("jq",),
        script="""#!/bin/bash
command=$(jq -r '.command')
if [[ "$command" == *"--amend"* ]]; then
  echo '{"permission": "deny", "user_message": "amend was refused", "agent_message": "make a new commit instead of an amend"}'
else
  echo '{"permission": "allow"}'
fi
""",
    ),
    Hook(
        "shell-ask",
        "beforeShellExecution",
        f"./{DIR}/ask.py",
        (bash("curl https://example.com", decision="ask", reason="network"), bash("ls")),
        path=f"{DIR}/ask.py",
        script="""#!/usr/bin/env python3
import json, sys
command = json.load(sys.stdin)["command"]
said = {"permission": "ask", "user_message": "network access", "agent_message": "network access is confirmed by a person"}
print(json.dumps(said if command.startswith("curl") else {"permission": "allow"}))
""",
    ),
    Hook(
        "read-redaction",
        "beforeReadFile",
        f"node {DIR}/read.mjs",
        (read("secret.txt", decision="deny"), read("plain.txt")),
        path=f"{DIR}/read.mjs",
        needs=("node",),
        files={"secret.txt": "token=ghp_abcdef\n", "plain.txt": "hello\n"},
        script="""import { readFileSync } from "node:fs";
const { content } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({ permission: /ghp_/.test(content) ? "deny" : "allow" }));
""",
    ),
    Hook(
        "after-edit-audit",
        "afterFileEdit",
        f"./{DIR}/audit.sh",
        (edit("a.txt", "one", "two", event="PostToolUse", files={"audit.txt": "a.txt"}),),
        path=f"{DIR}/audit.sh",
        needs=("jq",),
        files={"a.txt": "one\n"},
        script="""#!/bin/sh
basename "$(jq -r .file_path)" >> audit.txt
""",
    ),
    Hook(
        "prompt-gate",
        "beforeSubmitPrompt",
        f"python3 {DIR}/prompt.py",
        (prompt("ship it to prod", decision="deny"), prompt("hello")),
        path=f"{DIR}/prompt.py",
        script="""import json, sys
blocked = "prod" in json.load(sys.stdin)["prompt"]
print(json.dumps({"continue": not blocked, **({"user_message": "not to prod"} if blocked else {})}))
""",
    ),
    Hook(
        "stop-follow-up",
        "stop",
        f"./{DIR}/follow.sh",
        (stop(decision="deny", reason="update the changelog"),),
        path=f"{DIR}/follow.sh",
        settings={"loop_limit": 2},
        script="""#!/bin/sh
cat > /dev/null
echo '{"followup_message": "update the changelog"}'
""",
    ),
    Hook(
        "session-context",
        "sessionStart",
        """cat >/dev/null; echo '{"additional_context": "use tabs here"}'""",
        (start(context="use tabs here"),),
    ),
    Hook(
        "pre-tool-exit-2",
        "preToolUse",
        """grep -q 'rm -rf' && { echo 'delete one by one' >&2; exit 2; }; echo '{"permission":"allow"}'""",
        (bash("rm -rf dist", decision="deny", reason="delete one by one"), bash("ls")),
        matcher="Shell",
    ),
)
