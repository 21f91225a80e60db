# ruff: noqa: E501
"""The patterns: hooks as people write them for one agent. All of them are our own code; what they do is what published hooks do.

A hook's command finds the project's files below {files}; `out/` is what it leaves behind. Each hook is started for its `fires`: the first
makes it act; the others do not, or make it act in another way.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

Fire = tuple[str, str, dict[str, Any]]  # unified event, tool, fields; {p} is the project's folder

RM: Fire = ("PreToolUse", "Bash", {"command": "rm -rf build"})
LS: Fire = ("PreToolUse", "Bash", {"command": "ls -la"})
PUSH: Fire = ("PreToolUse", "Bash", {"command": "git push --force origin main"})
ACCENT: Fire = ("PreToolUse", "Bash", {"command": "echo caf\u00e9 > menu.txt"})
QUOTED: Fire = ("PreToolUse", "Bash", {"command": 'echo "a \\ b" && rm -rf build'})
READ_ENV: Fire = ("PreToolUse", "Read", {"file_path": "{p}/.env"})
READ: Fire = ("PreToolUse", "Read", {"file_path": "{p}/src/old.py"})
WRITE: Fire = ("PreToolUse", "Write", {"file_path": "{p}/src/new.py", "content": "token = 'ghp_0123456789'\nprint(token)\n"})
WRITE_ENV: Fire = ("PreToolUse", "Write", {"file_path": "{p}/.env.local", "content": "A=1\n"})
EDIT: Fire = ("PreToolUse", "Edit", {"file_path": "{p}/src/old.py", "old_string": "a = 1\n", "new_string": "a = 2\n"})
MCP: Fire = ("PreToolUse", "MCP", {"server": "github", "tool": "delete_repo", "name": "x"})
FETCH: Fire = ("PreToolUse", "WebFetch", {"url": "http://internal.example/x", "prompt": "read it"})
AFTER_EDIT: Fire = ("PostToolUse", "Edit", {"file_path": "{p}/src/old.py", "old_string": "a = 1\n", "new_string": "a = 2\n"})
AFTER_WRITE: Fire = ("PostToolUse", "Write", {"file_path": "{p}/src/new.py", "content": "x = 1\n"})
AFTER_BASH: Fire = ("PostToolUse", "Bash", {"command": "make test", "tool_response": {"stdout": "2 failed", "stderr": ""}})
START: Fire = ("SessionStart", "", {"source": "startup"})
PROMPT: Fire = ("UserPromptSubmit", "", {"prompt": "deploy to production now"})
PLAIN_PROMPT: Fire = ("UserPromptSubmit", "", {"prompt": "say hello"})
STOP: Fire = ("Stop", "", {"last_assistant_message": "I am done"})
STOP_AGAIN: Fire = ("Stop", "", {"last_assistant_message": "I am done", "stop_hook_active": True})
SUBAGENT: Fire = ("SubagentStop", "", {"agent_id": "a-1", "last_assistant_message": "found it"})
COMPACT: Fire = ("PreCompact", "", {})
END: Fire = ("SessionEnd", "", {})
FAILED: Fire = ("StopFailure", "", {"error": "the model is overloaded"})
NOTE: Fire = ("Notification", "", {})
ASKED: Fire = ("PermissionRequest", "Bash", {"command": "npm publish"})


class Hook(NamedTuple):
    """One hook of one agent's config."""

    name: str
    host: str
    event: str  # as the agent calls it
    run: str
    fires: tuple[Fire, ...]
    matcher: str = ""
    script: str = ""  # written to {files}/hook, executable
    keys: dict[str, Any] = {}  # noqa: RUF012  what else its entry says
    talk: tuple[str, str] = ("", "")  # an earlier session: the prompt, and what the agent said
    page: str = ""  # the Markdown file whose front matter contains it, below the agent's folder


SCRIPT = '"{files}/hook"'
PY = "#!/usr/bin/env python3\nimport json, os, re, sys\nd = json.load(sys.stdin)\nt = d.get('tool_input', {})\n"
PY += "out = os.environ['CLAUDE_PROJECT_DIR'] + '/out'\n"
NODE = (
    "#!/usr/bin/env node\nlet s = '';\nprocess.stdin.on('data', c => s += c);\nprocess.stdin.on('end', () => {\nconst d = JSON.parse(s);\n"
)
BASH = "#!/bin/bash\nset -euo pipefail\ninput=$(cat)\n"


def nested(event: str, **said: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}})


DENIED = nested("PreToolUse", permissionDecision="deny", permissionDecisionReason="not in this project")
ASKS = nested("PreToolUse", permissionDecision="ask", permissionDecisionReason="are you sure?")
TOLD = nested("PostToolUse", additionalContext="run the tests again")
LAST = """jq -r 'select(.type=="assistant")|.message.content[]|select(.type=="text")|.text' "$path" | tail -1"""


def claude(name: str, event: str, run: str, *fires: Fire, matcher: str = "", script: str = "", **more: Any) -> Hook:
    return Hook(name, "claude", event, run, fires, matcher, script, more.pop("keys", {}), more.pop("talk", ("", "")))


def pre(name: str, run: str, *fires: Fire, matcher: str = "Bash", **more: Any) -> Hook:
    return claude(name, "PreToolUse", run, *fires, matcher=matcher, **more)


CLAUDE = [
    # ---- guards before a tool: how they read their input
    pre("grep on stdin", """cat | grep -q '"command":"rm' && { echo "no rm" >&2; exit 2; }; exit 0""", RM, LS),
    pre("grep -E on stdin", """if grep -qE '"command":"[^"]*--force'; then echo 'no force' >&2; exit 2; fi""", PUSH, LS),
    pre("sed cuts the command out", """c=$(sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p'); [ "$c" != "rm -rf build" ] || { echo "$c" >&2; exit 2; }""", RM, LS),
    pre("case on stdin", """read -r line; case $line in *'"tool_name":"Bash"'*push*) echo 'no push' >&2; exit 2;; esac""", PUSH, LS),
    pre("jq and exit 2", """c=$(jq -r .tool_input.command); case $c in rm*) echo "blocked: $c" >&2; exit 2;; esac""", RM, LS),
    pre("jq builds the answer", """jq -c 'if (.tool_input.command|test("rm -rf")) then {hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"deny",permissionDecisionReason:"no rm"}} else empty end'""", RM, LS),
    pre("jq asks", f"jq -e '.tool_input.command|test(\"push\")' >/dev/null && echo '{ASKS}' || true", PUSH, LS),
    pre("jq rewrites", """jq -c '{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"allow",updatedInput:(.tool_input + {command:(.tool_input.command + " --dry-run")})}}'""", PUSH),
    pre("jq reads several fields", """jq -r '[.hook_event_name,.tool_name,.tool_input.command]|@tsv' > "$CLAUDE_PROJECT_DIR/out/seen" """, RM),
    pre("bash pattern", SCRIPT, RM, LS, script=BASH + """c=$(echo "$input" | jq -r '.tool_input.command // empty')
if [[ "$c" =~ rm[[:space:]]+-[a-z]*r ]]; then echo "recursive rm" >&2; exit 2; fi
"""),
    pre("bash here-document", SCRIPT, PUSH, LS, script=BASH + f"""if [[ "$input" == *'git push'* ]]; then
cat <<'X'
{DENIED}
X
fi
"""),
    pre("python exits 2", SCRIPT, RM, LS, script=PY + "if 'rm -rf' in t.get('command', ''):\n    print('dangerous: ' + t['command'], file=sys.stderr)\n    sys.exit(2)\n"),
    pre("python prints JSON", SCRIPT, RM, LS, script=PY + f"if t['command'].startswith('rm'):\n    print({DENIED!r})\n"),
    pre("python pretty-prints JSON after a log line on stderr", SCRIPT, RM, LS, script=PY + f"print('checking', file=sys.stderr)\nif 'rm' in t['command']:\n    print(json.dumps(json.loads({DENIED!r}), indent=2))\n"),
    pre("python by env -S", SCRIPT, RM, script="#!/usr/bin/env -S python3 -u\n" + PY.partition("\n")[2] + f"print({DENIED!r})\n"),
    pre("node denies", SCRIPT, RM, LS, script=NODE + f"if (/rm -rf/.test(d.tool_input.command)) console.log(JSON.stringify({DENIED}));\n}});\n"),
    pre("node exits 2", SCRIPT, PUSH, LS, script=NODE + "if (d.tool_input.command.includes('--force')) { console.error('no force push'); process.exit(2); }\n});\n"),
    pre("raw UTF-8", """grep -q 'caf\u00e9' && { echo 'no caf\u00e9' >&2; exit 2; }; exit 0""", ACCENT, LS),
    pre("escapes in a command", SCRIPT, QUOTED, LS, script=PY + "if t['command'].count('\\\\') == 1 and 'rm' in t['command']:\n    sys.exit('x') if False else (print('quoted', file=sys.stderr), sys.exit(2))\n"),
    # ---- what they answer
    pre("an older block", """echo '{"decision": "block", "reason": "not today"}'""", RM),
    pre("an older approve", """echo '{"decision": "approve"}'""", LS),
    pre("an end of the turn", """echo '{"continue": false, "stopReason": "stop here"}'""", RM),
    pre("a message for the user", """echo '{"systemMessage": "a command runs"}'""", LS),
    pre("a quiet answer", """echo '{"suppressOutput": true}'""", LS),
    pre("exit 1 blocks nothing", "echo 'something is wrong' >&2; exit 1", RM),
    pre("text on stdout blocks nothing", "echo 'checked'; exit 0", RM),
    pre("no output at all", "cat > /dev/null", RM),
    pre("context beside an allow", f"echo '{nested('PreToolUse', permissionDecision='allow', additionalContext='mind the branch')}'", LS),
    # ---- which calls they are for
    pre("protected files by jq", """f=$(jq -r '.tool_input.file_path // ""'); case $f in *.env*) echo "protected: ${f##*/}" >&2; exit 2;; esac""", READ_ENV, READ, WRITE_ENV, matcher="Read|Edit|Write"),
    pre("secrets in a new file", SCRIPT, WRITE, script=PY + "if re.search('ghp_[0-9]+', t.get('content', '') + t.get('new_string', '')):\n    print('a token in ' + os.path.basename(t['file_path']), file=sys.stderr)\n    sys.exit(2)\n", matcher="Write|Edit"),
    pre("only whole files", """echo 'no new files' >&2; exit 2""", WRITE, matcher="Write"),
    pre("only edits, by their old text", SCRIPT, EDIT, script=PY + "if t['old_string'].startswith('a = 1'):\n    print('keep ' + t['old_string'].strip(), file=sys.stderr)\n    sys.exit(2)\n", matcher="Edit"),
    pre("all tools", """n=$(jq -r .tool_name); echo "$n" >> "$CLAUDE_PROJECT_DIR/out/tools" """, LS, READ, WRITE, matcher="*"),
    pre("a tool of an MCP server", """echo 'no deletes' >&2; exit 2""", MCP, matcher="mcp__github__.*"),
    pre("an address", """jq -r .tool_input.url | grep -q internal && { echo 'internal' >&2; exit 2; }; exit 0""", FETCH, matcher="WebFetch"),
    pre("a rule", "echo 'not by hand' >&2; exit 2", PUSH, LS, keys={"if": "Bash(git push*)"}),
    pre("words in place of a shell", "{files}/hook", RM, keys={"args": ["--why", "no $HOME"]}, script='#!/bin/sh\ncat > /dev/null; echo "$2" >&2; exit 2\n'),
    pre("a list in the project", """l="$CLAUDE_PROJECT_DIR/blocked.txt"; c=$(jq -r .tool_input.command); grep -qxF "$c" "$l" && { echo "listed: $c" >&2; exit 2; }; exit 0""", RM, LS),
    pre("it looks for another agent", """[ -n "${CURSOR_VERSION:-}${GEMINI_CLI:-}${COPILOT_CLI:-}" ] && { echo '{"permission":"deny"}'; exit 0; }; echo 'claude' >&2; exit 2""", RM),
    # ---- after a tool
    claude("a formatter", "PostToolUse", """f=$(jq -r .tool_input.file_path); echo "${f##*/}" >> "$CLAUDE_PROJECT_DIR/out/formatted" """, AFTER_EDIT, AFTER_WRITE, matcher="Edit|Write"),
    claude("a formatter by its ending", "PostToolUse", """jq -r '.tool_input.file_path' | { read -r f; case $f in *.py) touch "$CLAUDE_PROJECT_DIR/out/black";; esac; }""", AFTER_EDIT, matcher="Edit|MultiEdit|Write"),
    claude("a linter exits 2", "PostToolUse", "echo 'line 3: unused import' >&2; exit 2", AFTER_EDIT, matcher="Edit|Write"),
    claude("a linter blocks by JSON", "PostToolUse", """echo '{"decision": "block", "reason": "fix the types"}'""", AFTER_WRITE, matcher="Edit|Write"),
    claude("context after a command", "PostToolUse", f"echo '{TOLD}'", AFTER_BASH, matcher="Bash"),
    claude("it reads the result", "PostToolUse", """jq -r '.tool_response.stdout' | grep -q failed && { echo 'tests fail' >&2; exit 2; }; exit 0""", AFTER_BASH, matcher="Bash"),
    claude("a log of commands", "PostToolUse", """jq -r '.tool_input.command' >> "$CLAUDE_PROJECT_DIR/out/commands.log" """, AFTER_BASH, matcher="Bash"),
    claude("a log in JSON lines", "PostToolUse", SCRIPT, AFTER_BASH, script=PY + "with open(out + '/log.jsonl', 'a') as f:\n    f.write(json.dumps({'tool': d['tool_name'], 'input': t}, sort_keys=True) + '\\n')\n"),
    # ---- sessions and prompts
    claude("context at the start, as text", "SessionStart", "echo 'the branch is frozen'", START),
    claude("context at the start, as JSON", "SessionStart", f"echo '{nested('SessionStart', additionalContext='read CONTRIBUTING')}'", START),
    claude("only at a new session", "SessionStart", "echo 'hello'", START, matcher="startup"),
    claude("a changed file is added to the index", "PostToolUse", """f=$(jq -r .tool_input.file_path); cd "$CLAUDE_PROJECT_DIR" && git add "$f" && git diff --cached --name-only --no-renames > out/staged || git ls-files > out/staged""", AFTER_EDIT, matcher="Write|Edit|MultiEdit"),
    claude("a log as CSV", "PostToolUse", """jq -r '[(.tool_input.file_path | split("/") | last), .session_id] | @csv' >> "$CLAUDE_PROJECT_DIR"/out/changes.csv""", AFTER_WRITE, AFTER_EDIT, matcher="Edit|MultiEdit|Write"),
    pre("a warning once in a session", SCRIPT, WRITE, LS, matcher="Edit|Write|MultiEdit", script=PY + "mark = os.path.join(os.path.expanduser('~'), '.warned-' + d['session_id'])\n"
        "if 'token' in t.get('content', t.get('new_string', '')) and not os.path.exists(mark):\n    open(mark, 'w').close()\n    print('a token in the text', file=sys.stderr)\n    sys.exit(2)\n"),
    pre("several checks in one script, the strictest wins", SCRIPT, PUSH, RM, LS, matcher="Bash", script=PY + "said = [(level, why) for word, level, why in (('push', 'ask', 'a push'), ('--force', 'deny', 'by force'), ('rm -rf', 'ask', 'a removal')) if word in t['command']]\n"
        "if said:\n    level = 'deny' if any(one == 'deny' for one, _ in said) else 'ask'\n    text = '; '.join(why for one, why in said if one == level)\n"
        "    print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': level, 'permissionDecisionReason': text}}))\n"),
    claude("git at the start", "SessionStart", """git -C "$CLAUDE_PROJECT_DIR" symbolic-ref --short HEAD""", START),
    claude("a file of notes at the start", "SessionStart", """cat "$CLAUDE_PROJECT_DIR/NOTES.md" """, START),
    claude("context with a prompt", "UserPromptSubmit", "echo 'answer briefly'", PLAIN_PROMPT),
    claude("a prompt is refused", "UserPromptSubmit", SCRIPT, PROMPT, PLAIN_PROMPT, script=PY + "if 'production' in d['prompt']:\n    print('ask the team first', file=sys.stderr)\n    sys.exit(2)\n"),
    claude("a prompt is refused by JSON", "UserPromptSubmit", """grep -q production && echo '{"decision": "block", "reason": "not from here"}'; exit 0""", PROMPT, PLAIN_PROMPT),
    claude("a log of prompts", "UserPromptSubmit", """jq -r .prompt >> "$CLAUDE_PROJECT_DIR/out/prompts" """, PLAIN_PROMPT),
    claude("the end of a session", "SessionEnd", """touch "$CLAUDE_PROJECT_DIR/out/ended" """, END),
    claude("before a compaction", "PreCompact", """jq -r .hook_event_name > "$CLAUDE_PROJECT_DIR/out/compaction" """, COMPACT),
    claude("instructions for a compaction", "PreCompact", "echo 'keep the names of the tests'", COMPACT),
    claude("a notification", "Notification", """touch "$CLAUDE_PROJECT_DIR/out/notified" """, NOTE),
    claude("a permission is refused", "PermissionRequest", """echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no publishing"}}}'""", ASKED, matcher="Bash"),
    # ---- stops
    claude("a stop is refused once", "Stop", """jq -e .stop_hook_active >/dev/null && exit 0; echo '{"decision": "block", "reason": "run the tests"}'""", STOP, STOP_AGAIN),
    claude("a stop is refused by exit 2", "Stop", SCRIPT, STOP, STOP_AGAIN, script=PY + "if not d.get('stop_hook_active'):\n    print('the list is not empty', file=sys.stderr)\n    sys.exit(2)\n"),
    claude("a stop by a file of tasks", "Stop", """grep -q '^- \\[ \\]' "$CLAUDE_PROJECT_DIR/TODO.md" && { echo 'tasks are left' >&2; exit 2; }; exit 0""", STOP),
    claude("a loop with its state in the project", "Stop", SCRIPT, STOP, script=PY + "s = out + '/rounds'\nn = int(open(s).read()) if os.path.exists(s) else 0\nopen(s, 'w').write(str(n + 1))\nif n < 3:\n    print(json.dumps({'decision': 'block', 'reason': 'round %d' % (n + 1)}))\n"),
    claude("a loop until a word in the transcript", "Stop", SCRIPT, STOP, talk=("go on until done", "I am done"), script=BASH + f"""path=$(echo "$input" | jq -r .transcript_path)
[ -f "$path" ] || {{ touch "$CLAUDE_PROJECT_DIR/out/lost"; exit 0; }}
said=$({LAST})
if [ "$said" != "PROMISE KEPT" ]; then jq -cn --arg r "keep going, you said: $said" '{{decision:"block",reason:$r}}'; fi
"""),
    claude("a count of calls in the transcript", "Stop", SCRIPT, STOP, talk=("do it", "I am done"), script=PY + "n = 0\nfor line in open(d['transcript_path']):\n    e = json.loads(line)\n    if e.get('type') == 'user' and isinstance(e['message']['content'], str):\n        n += 1\nopen(out + '/prompts', 'w').write(str(n))\n"),
    claude("a subagent is sent back", "SubagentStop", "echo 'look once more' >&2; exit 2", SUBAGENT),
    claude("the last prompt, before a tool", "PreToolUse", SCRIPT, RM, matcher="Bash", talk=("never delete anything", "I will not"), script=BASH + """path=$(echo "$input" | jq -r .transcript_path)
if jq -r 'select(.type=="user")|.message.content|strings' "$path" | grep -q 'never delete'; then echo 'you said never' >&2; exit 2; fi
"""),
]  # fmt: skip


def cursor(name: str, event: str, run: str, *fires: Fire, matcher: str = "", script: str = "", **keys: Any) -> Hook:
    return Hook(name, "cursor", event, run, fires, matcher, script, keys)


CURSOR = [
    cursor("deny by jq", "beforeShellExecution", """jq -c 'if (.command|startswith("rm")) then {permission:"deny",user_message:"no rm",agent_message:"no rm"} else {permission:"allow"} end'""", RM, LS),
    cursor("ask", "beforeShellExecution", """cat > /dev/null; echo '{"permission": "ask", "user_message": "push?", "agent_message": "ask first"}'""", PUSH),
    cursor("grep and a here-document", "beforeShellExecution", SCRIPT, PUSH, LS, script=BASH + """if [[ "$input" == *'"command":"git'* ]]; then
cat <<'X'
{"permission": "deny", "user_message": "use gh", "agent_message": "use gh"}
X
else echo '{"permission": "allow"}'; fi
"""),
    cursor("exit 2", "beforeShellExecution", "echo 'stopped' >&2; exit 2", RM),
    cursor("a matcher on the command", "beforeShellExecution", """echo '{"permission": "deny", "user_message": "no curl"}'""", ("PreToolUse", "Bash", {"command": "curl http://x"}), LS, matcher="curl|wget"),
    cursor("secrets in a file that is read", "beforeReadFile", SCRIPT, READ_ENV, READ, script=BASH + """if echo "$input" | jq -r .content | grep -q 'SECRET='; then echo '{"permission":"deny","user_message":"a secret"}'; else echo '{"permission":"allow"}'; fi
"""),
    cursor("a rewrite", "preToolUse", """jq -c '{permission:"allow",updated_input:(.tool_input + {command:"echo safe"})}'""", RM, matcher="Shell"),
    cursor("an MCP call", "beforeMCPExecution", """jq -c 'if .tool_name == "delete_repo" then {permission:"deny",user_message:"no deletes"} else {permission:"allow"} end'""", MCP),
    cursor("a log of edits", "afterFileEdit", """jq -r '.edits[0].new_string' >> "$CURSOR_PROJECT_DIR/out/edits" """, AFTER_EDIT),
    cursor("a log of commands", "afterShellExecution", """jq -r .command >> "$CURSOR_PROJECT_DIR/out/commands" """, AFTER_BASH),
    cursor("context after a tool", "postToolUse", """echo '{"additional_context": "run the linter"}'""", AFTER_BASH),
    cursor("a prompt is refused", "beforeSubmitPrompt", """grep -q production && echo '{"continue": false, "user_message": "not now"}' || echo '{"continue": true}'""", PROMPT, PLAIN_PROMPT),
    cursor("a follow-up", "stop", """jq -c 'if .loop_count < 1 then {followup_message:"run the tests"} else {} end'""", STOP, STOP_AGAIN),
    cursor("the start", "sessionStart", """echo '{"additional_context": "a frozen branch"}'""", START),
]  # fmt: skip

OTHERS = [
    Hook("deny by JSON", "codex", "PreToolUse", f"grep -q 'rm -rf' && echo '{DENIED}'; exit 0", (RM, LS), "Bash"),
    Hook("exit 2", "codex", "PreToolUse", "grep -q push && { echo 'no push' >&2; exit 2; }; exit 0", (PUSH, LS), "^Bash$"),
    Hook("the text of a patch", "codex", "PreToolUse", """jq -r .tool_input.command | grep -q '^+token' && { echo 'a token' >&2; exit 2; }; exit 0""", (WRITE,), "apply_patch"),
    Hook("a stop is refused", "codex", "Stop", """jq -e .stop_hook_active >/dev/null && exit 0; echo '{"decision":"block","reason":"go on"}'""", (STOP, STOP_AGAIN)),
    Hook("context at the start", "codex", "SessionStart", "echo 'use uv'", (START,)),
    Hook("deny by JSON", "gemini", "BeforeTool", """grep -q '"command":"rm' && echo '{"decision":"deny","reason":"no rm"}'; exit 0""", (RM, LS), "run_shell_command"),
    Hook("exit 2", "gemini", "BeforeTool", "echo 'not here' >&2; exit 2", (WRITE,), "write_file|replace"),
    Hook("node with a rewrite", "gemini", "BeforeTool", SCRIPT, (RM,), "run_shell_command", NODE + "console.log(JSON.stringify({hookSpecificOutput: {hookEventName: 'BeforeTool', tool_input: {command: 'echo safe'}}}));\n});\n"),
    Hook("context after a tool", "gemini", "AfterTool", """echo '{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"check the diff"}}'""", (AFTER_BASH,)),
    Hook("context with a prompt", "gemini", "BeforeAgent", """echo '{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"be brief"}}'""", (PLAIN_PROMPT,)),
    Hook("another try", "gemini", "AfterAgent", """jq -e .stop_hook_active >/dev/null && exit 0; echo '{"decision":"deny","reason":"again, with tests"}'""", (STOP, STOP_AGAIN)),
    Hook("deny in camelCase", "copilot", "preToolUse", """jq -c 'if (.toolArgs.command // "" | test("rm -rf")) then {permissionDecision:"deny",permissionDecisionReason:"no rm"} else empty end'""", (RM, LS)),
    Hook("deny in PascalCase", "copilot", "PreToolUse", """jq -e '.tool_input.command|test("push")' >/dev/null && echo '{"permissionDecision":"deny","permissionDecisionReason":"no push"}'; exit 0""", (PUSH, LS)),
    Hook("a log of prompts", "copilot", "userPromptSubmitted", """jq -r .prompt >> "$COPILOT_PROJECT_DIR/out/prompts" """, (PLAIN_PROMPT,)),
    Hook("a log of tools", "copilot", "postToolUse", """jq -r .toolName >> "$COPILOT_PROJECT_DIR/out/tools" """, (AFTER_BASH,)),
    Hook("a log of errors", "copilot", "errorOccurred", """jq -r .error.message >> "$COPILOT_PROJECT_DIR/out/errors" """, (FAILED,)),
    Hook("context at the start", "copilot", "sessionStart", """echo '{"additionalContext":"house rules"}'""", (START,)),
    Hook("deny", "qwen", "PreToolUse", f"grep -q 'rm -rf' && echo '{DENIED}'; exit 0", (RM, LS), "Bash"),
    Hook("exit 2", "qwen", "PreToolUse", "echo 'no writes' >&2; exit 2", (WRITE,), "write_file"),
    Hook("context after a tool", "qwen", "PostToolUse", f"echo '{TOLD}'", (AFTER_BASH,)),
    Hook("exit 2", "droid", "PreToolUse", "grep -q 'rm -rf' && { echo 'no rm' >&2; exit 2; }; exit 0", (RM, LS), "Execute"),
    Hook("feedback", "droid", "PostToolUse", "echo 'format it' >&2; exit 2", (AFTER_EDIT,), "Edit"),
    Hook("context with a prompt", "droid", "UserPromptSubmit", "echo 'be brief'", (PLAIN_PROMPT,)),
]  # fmt: skip

# Which shell runs the hook shows in what it may contain, and in what it prints.
SHELLS = [
    *(Hook("the shell of its agent", host, event, """echo "$0: not here" >&2; exit 2""", (RM,), tool) for host, event, tool in (
        ("claude", "PreToolUse", "Bash"), ("codex", "PreToolUse", "Bash"), ("cursor", "beforeShellExecution", ""),
        ("gemini", "BeforeTool", "run_shell_command"), ("qwen", "PreToolUse", "Bash"), ("droid", "PreToolUse", "Execute"),
    )),
    Hook("the shell of its agent", "copilot", "preToolUse", """jq -c --arg shell "$0" '{permissionDecision:"deny",permissionDecisionReason:$shell}'""", (RM,)),
    *(Hook("what bash alone understands", host, event, """[[ $(cat) == *"rm -rf"* ]] && { echo 'no rm' >&2; exit 2; }; exit 0""", (RM, LS)) for host, event in (
        ("codex", "PreToolUse"), ("cursor", "beforeShellExecution"), ("gemini", "BeforeTool"), ("qwen", "PreToolUse"),
    )),
    Hook("a script that cannot be executed", "gemini", "BeforeTool", "./NOTES.md", (RM,)),
]  # fmt: skip

REVIEWER = {"command": "rm -rf build", "agent_id": "a-1", "agent_type": "reviewer"}
PAGES = [
    Hook("a guard of one kind of agent", "claude", "PreToolUse", "echo 'a reviewer runs nothing' >&2; exit 2", (("PreToolUse", "Bash", REVIEWER), RM), "Bash", page="agents/reviewer.md"),
]  # fmt: skip

CLINE_JSON = """jq -r .preToolUse.parameters.commands | grep -q 'git push' && echo '{"cancel":true,"errorMessage":"no push"}' || echo '{"cancel":false}'"""
GUESTS = [
    Hook("exit 2", "windsurf", "pre_run_command", "jq -r .tool_info.command_line | grep -q 'rm -rf' && { echo 'no rm' >&2; exit 2; }; exit 0", (RM, LS)),
    Hook("python, with a log on stdout", "windsurf", "pre_run_command", "python3 -c 'import json, sys; d = json.load(sys.stdin); print(json.dumps(d)); sys.exit(2 * (\"push\" in d[\"tool_info\"][\"command_line\"]))'", (PUSH, LS)),
    Hook("the text of an edit", "windsurf", "pre_write_code", "jq -r '.tool_info.edits[].new_string' | grep -q token && { echo 'a token' >&2; exit 2; }; exit 0", (WRITE, EDIT)),
    Hook("a log of files", "windsurf", "post_write_code", "jq -r .tool_info.file_path | xargs basename >> out/files", (AFTER_WRITE,)),
    Hook("a prompt is refused", "windsurf", "pre_user_prompt", "jq -r .tool_info.user_prompt | grep -q production && { echo 'not now' >&2; exit 2; }; exit 0", (PROMPT, PLAIN_PROMPT)),
    Hook("cancel", "cline", "PreToolUse", CLINE_JSON, (PUSH, LS)),
    Hook("the call itself, on a marked line", "cline", "PreToolUse", """jq -r '.tool_call.input.commands[0]' | grep -q rm && printf 'a log\\nHOOK_CONTROL\\t{"cancel":true,"errorMessage":"no rm"}\\n'; exit 0""", (RM, LS)),
    Hook("a rewrite", "cline", "PreToolUse", """echo '{"overrideInput":{"commands":["echo safe"]}}'""", (RM,)),
    Hook("context after a tool", "cline", "PostToolUse", """jq -r .postToolUse.result | grep -q failed && echo '{"contextModification":"fix the tests"}' || true""", (AFTER_BASH,)),
    Hook("context at the start", "cline", "TaskStart", """echo '{"contextModification":"house rules"}'""", (START,)),
]  # fmt: skip

HOOKS = [*CLAUDE, *CURSOR, *OTHERS, *SHELLS, *PAGES, *GUESTS]
FILES = {
    ".env": "SECRET=1\n", "src/old.py": "a = 1\nb = 2\n", "blocked.txt": "rm -rf build\n", "NOTES.md": "the notes\n",
    "TODO.md": "- [ ] tests\n", "out/.keep": "",
}  # fmt: skip
