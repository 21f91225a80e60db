"""Hook programs that know nothing about onehook, each in another dialect and language, with the manifest that runs each of them.

All three are the same guard: they block `rm -rf`, for the given reason.
"""

from __future__ import annotations

_CONTRACT_SH = """#!/bin/sh
input=$(cat)
case $input in
*'"tool_name":'*'"Shell"'*'rm -rf'*) echo '{"decision": "deny", "reason": "@REASON@"}'; exit 2 ;;
esac
echo '{"decision": "allow"}'
"""
_CLAUDE_PYTHON = """#!/usr/bin/env python3
import json
import sys

data = json.load(sys.stdin)
if data["hook_event_name"] == "PreToolUse" and data["tool_name"] == "Bash" and "rm -rf" in data["tool_input"]["command"]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "@REASON@"}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}))
"""
_CURSOR_NODE = """#!/usr/bin/env node
let text = "";
for await (const chunk of process.stdin) text += chunk;
const input = JSON.parse(text);
const bad = input.hook_event_name === "beforeShellExecution" && input.command.includes("rm -rf");
const said = { permission: "deny", user_message: "@REASON@", agent_message: "@REASON@" };
console.log(JSON.stringify(bad ? said : { permission: "allow" }));
"""
_MANIFEST = """[[hook]]
events = ["{event}"]
run = ["{run}"]
speaks = "{speaks}"
timeout = 10
fail = "closed"
"""

# scenario -> (title, dialect, its event, the program's file, the program)
GUESTS = {
    "byo-contract-sh": ("a guard in sh that speaks the open contract", "contract", "PreToolUse", "guard.sh", _CONTRACT_SH),
    "byo-claude-python": ("a Claude Code hook in Python, unchanged", "claude", "PreToolUse", "guard.py", _CLAUDE_PYTHON),
    "byo-cursor-node": ("a Cursor hook in JavaScript, unchanged", "cursor", "beforeShellExecution", "guard.mjs", _CURSOR_NODE),
}


def manifest(guest: str) -> str:
    _, dialect, event, name, _ = GUESTS[guest]
    return _MANIFEST.format(event=event, run=f"./{name}", speaks=dialect)


def files(guest: str, reason: str) -> dict[str, str]:
    """The project's files: the program next to the manifest, and the folder that must survive."""
    _, _, _, name, program = GUESTS[guest]
    return {f".hooks/{name}": program.replace("@REASON@", reason), "precious/kept.txt": "kept\n"}


# A plugin for Claude Code, which finds its own files through ${CLAUDE_PLUGIN_ROOT}.
PLUGIN = "plugins/guards"
_PLUGIN_HOOKS = """{
  "description": "guards",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/guard.py", "timeout": 10}]}
    ]
  }
}
"""


def plugin_files(reason: str) -> dict[str, str]:
    return {
        f"{PLUGIN}/.claude-plugin/plugin.json": '{"name": "guards", "version": "1.0.0"}\n',
        f"{PLUGIN}/hooks/hooks.json": _PLUGIN_HOOKS,
        f"{PLUGIN}/hooks/guard.py": _CLAUDE_PYTHON.replace("@REASON@", reason),
        "precious/kept.txt": "kept\n",
    }


# A hook for Claude Code that reads the transcript: it blocks a command if the transcript has the prompt and the result of another command.
_READER = """#!/usr/bin/env python3
import json
import sys

data = json.load(sys.stdin)
with open(data["transcript_path"], encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
told = [line["message"]["content"] for line in lines if line["type"] == "user"]
results = [block for content in told if isinstance(content, list) for block in content if block["type"] == "tool_result"]
asked = sum("@PROMPT@" in json.dumps(content) for content in told)
if asked == 1 and len(results) == 1 and "first-output" in json.dumps(results):
    print("@REASON@", file=sys.stderr)
    sys.exit(2)
"""
TRANSCRIPT = _MANIFEST.format(event="PreToolUse", run="./reader.py", speaks="claude")


def reader_files(prompt: str, reason: str) -> dict[str, str]:
    return {".hooks/reader.py": _READER.replace("@PROMPT@", prompt).replace("@REASON@", reason)}


# A hook for Claude Code that sets a variable for the commands of the session.
VARIABLES = """[[hook]]
events = ["SessionStart"]
run = 'cat > /dev/null; echo "export PROOF=set-by-the-hook" >> "$CLAUDE_ENV_FILE"'
shell = true
speaks = "claude"
"""
# A hook for Claude Code that runs in the background, and takes longer than the whole session.
BACKGROUND = """[[hook]]
events = ["PreToolUse"]
tools = ["Bash"]
run = "cat > started.txt; sleep 45; touch finished.txt"
shell = true
speaks = "claude"
background = true
"""
