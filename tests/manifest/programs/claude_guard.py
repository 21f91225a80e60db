#!/usr/bin/env python3
"""A PreToolUse hook as people write them for Claude Code."""

import json
import sys

data = json.load(sys.stdin)
if data["hook_event_name"] == "PreToolUse" and data["tool_name"] == "Bash" and "rm -rf" in data["tool_input"]["command"]:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "rm -rf is blocked by the Claude hook"}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}))
sys.exit(0)
