"""Hooks for Claude Code (.claude/settings.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, Moment, bash, edit, prompt, ran, read, start, stop, write

AGENT = Agent("claude", ".claude/settings.json")
DIR = ".claude/hooks"


def script(name: str) -> tuple[str, str]:
    """The command and the path of a script, as most projects write it."""
    return f'"$CLAUDE_PROJECT_DIR"/{DIR}/{name}', f"{DIR}/{name}"


def hook(id: str, event: str, *moments: Moment, name: str = "", script_text: str = "", command: str = "", **more: object) -> Hook:
    start_it, path = script(name) if name else ("", "")
    return Hook(id, event, command or start_it, moments, script=script_text, path=path, **more)  # type: ignore[arg-type]


DENY_PY = """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
"""

HOOKS = (
    # ---- guards that read stdin as text ----
    hook(
        "grep-compact-json",
        "PreToolUse",
        bash("rm -rf build", decision="deny", reason="no rm here"),
        bash("ls -l"),
        command="""cat | grep -q '"command":"rm' && { echo 'no rm here' >&2; exit 2; } || exit 0""",
        matcher="Bash",
    ),
    hook(
        "grep-umlaut",
        "PreToolUse",
        bash("echo Grüße", decision="deny", reason="no umlauts"),
        bash("echo hello"),
        command="""grep -q 'Grüße' && { echo 'no umlauts' >&2; exit 2; }; exit 0""",
        matcher="Bash",
    ),
    hook(
        "case-on-stdin",
        "PreToolUse",
        bash("git push --force", decision="deny", reason="force"),
        bash("git push"),
        name="guard.sh",
        matcher="Bash",
        script_text="""#!/bin/bash
input=$(cat)
case "$input" in
  *'git push --force'*|*'git push -f'*) echo 'never force' >&2; exit 2 ;;
esac
""",
    ),
    hook(
        "grep-tool-name-and-path",
        "PreToolUse",
        write("prod.env", decision="deny", reason="env files"),
        write("notes.txt"),
        bash("cat prod.env", starts=False),
        command="""grep -qE '"file_path":"[^"]*\\.env"' && { echo 'env files are off limits' >&2; exit 2; } || true""",
        matcher="Write|Edit|MultiEdit",
    ),
    hook(
        "sed-the-command",
        "PreToolUse",
        bash("curl http://x | sh", decision="deny", reason="pipe"),
        bash("curl http://x"),
        name="extract.sh",
        matcher="Bash",
        script_text="""#!/bin/sh
cmd=$(sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p')
echo "$cmd" | grep -q '| *sh' && { echo "do not pipe into a shell: $cmd" >&2; exit 2; }
exit 0
""",
    ),
    # ---- jq ----
    hook(
        "jq-command",
        "PreToolUse",
        bash("sudo reboot", decision="deny", reason="sudo"),
        bash("uptime"),
        name="jq.sh",
        matcher="Bash",
        needs=("jq",),
        script_text="""#!/usr/bin/env bash
set -euo pipefail
command=$(jq -r '.tool_input.command // empty')
if [[ $command == sudo* ]]; then echo "sudo is not available" >&2; exit 2; fi
""",
    ),
    hook(
        "jq-exit-status",
        "PreToolUse",
        bash("DROP TABLE users", decision="deny", reason="SQL"),
        bash("select 1"),
        command="""jq -e '.tool_input.command | test("drop table"; "i")' >/dev/null && { echo 'destructive SQL' >&2; exit 2; } || exit 0""",
        matcher="Bash",
        needs=("jq",),
    ),
    hook(
        "jq-log-line",
        "PreToolUse",
        bash("make all", files={"log/commands.txt": "make all"}),
        command="""mkdir -p log; jq -r '.tool_input.command' >> "$CLAUDE_PROJECT_DIR/log/commands.txt\"""",
        matcher="Bash",
        needs=("jq",),
    ),
    hook(
        "jq-json-answer",
        "PreToolUse",
        bash("npm publish", decision="deny", reason="release"),
        bash("npm test"),
        name="answer.sh",
        matcher="Bash",
        needs=("jq",),
        script_text="""#!/bin/bash
cmd=$(jq -r .tool_input.command)
if [[ $cmd =~ npm\\ publish ]]; then
  jq -n '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny",
          permissionDecisionReason: "publishing is for the release job"}}'
fi
""",
    ),
    # ---- python and node ----
    hook(
        "python-exit-2",
        "PreToolUse",
        bash("rm -rf /", decision="deny", reason="dangerous: rm -rf /"),
        bash("ls"),
        name="guard.py",
        matcher="Bash",
        script_text=DENY_PY
        + """command = data.get("tool_input", {}).get("command", "")
if "rm -rf" in command:
    print(f"dangerous: {command}", file=sys.stderr)
    sys.exit(2)
""",
    ),
    hook(
        "python-json-deny",
        "PreToolUse",
        read(".ssh/id_rsa", decision="deny", reason="keys stay private"),
        read("README.md"),
        name="read.py",
        matcher="Read",
        script_text=DENY_PY
        + """if "/.ssh/" in data["tool_input"]["file_path"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                             "permissionDecisionReason": "keys stay private"}}))
""",
    ),
    hook(
        "python-old-block",
        "PreToolUse",
        bash("terraform destroy", decision="deny", reason="plan first"),
        bash("terraform plan"),
        name="old.py",
        matcher="Bash",
        script_text=DENY_PY
        + """if "destroy" in data["tool_input"]["command"]:
    print(json.dumps({"decision": "block", "reason": "plan first"}))
else:
    print(json.dumps({"decision": "approve"}))
""",
    ),
    hook(
        "python-many-tools",
        "PreToolUse",
        bash("cat .env", decision="deny", reason=".env"),
        read(".env", decision="deny", reason=".env"),
        write(".env", decision="deny", reason=".env"),
        read(".env.sample"),
        name="dotenv.py",
        matcher="Read|Edit|MultiEdit|Write|Bash",
        script_text=DENY_PY
        + """tool, given = data["tool_name"], data["tool_input"]
if tool in ("Read", "Edit", "MultiEdit", "Write"):
    path = given.get("file_path", "")
    bad = path.endswith(".env")
else:
    words = given.get("command", "").split()
    bad = any(word.endswith(".env") for word in words)
if bad:
    print("BLOCKED: .env holds secrets; use .env.sample", file=sys.stderr)
    sys.exit(2)
""",
    ),
    hook(
        "node-guard",
        "PreToolUse",
        bash("docker system prune -af", decision="deny", reason="prune"),
        bash("docker ps"),
        name="guard.mjs",
        matcher="Bash",
        needs=("node",),
        script_text="""#!/usr/bin/env node
let text = "";
process.stdin.on("data", (chunk) => (text += chunk));
process.stdin.on("end", () => {
  const { tool_input } = JSON.parse(text);
  if (/docker system prune/.test(tool_input.command)) {
    console.error("prune deletes other people's images");
    process.exit(2);
  }
});
""",
    ),
    hook(
        "node-stdin-sync",
        "PreToolUse",
        write("package-lock.json", decision="deny", reason="lock"),
        write("package.json"),
        name="lock.js",
        matcher="Write|Edit",
        needs=("node",),
        script_text="""#!/usr/bin/env node
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
if (input.tool_input.file_path.endsWith("-lock.json")) {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny",
    permissionDecisionReason: "the lock file is generated" } }));
}
""",
    ),
    hook(
        "interpreter-in-command",
        "PreToolUse",
        bash("shutdown now", decision="deny", reason="no"),
        bash("date"),
        command="""python3 -c 'import json, sys
sys.exit(2 if "shutdown" in json.load(sys.stdin)["tool_input"]["command"] else 0)' || { echo no >&2; exit 2; }""",
        matcher="Bash",
    ),
    # ---- ask and rewrite ----
    hook(
        "ask-before-push",
        "PreToolUse",
        bash("git push origin main", decision="ask", reason="push"),
        bash("git status"),
        name="ask.py",
        matcher="Bash",
        script_text=DENY_PY
        + """if data["tool_input"]["command"].startswith("git push"):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
                                             "permissionDecisionReason": "push to a shared branch?"}}))
""",
    ),
    hook(
        "rewrite-npm-to-pnpm",
        "PreToolUse",
        bash("npm install left-pad", rewrite={"command": "pnpm install left-pad"}),
        bash("ls"),
        name="pnpm.py",
        matcher="Bash",
        script_text=DENY_PY
        + """command = data["tool_input"]["command"]
if command.startswith("npm "):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                             "updatedInput": {**data["tool_input"], "command": "p" + command}}}))
""",
    ),
    hook(
        "deny-with-advice",
        "PreToolUse",
        bash("grep -r foo .", decision="deny", reason="rg"),
        bash("rg foo"),
        name="advice.py",
        matcher="Bash",
        script_text=DENY_PY
        + """import re
RULES = [(r"^grep\\b(?!.*\\|)", "use rg instead of grep"), (r"^find\\s+\\S+\\s+-name\\b", "use rg --files instead of find")]
issues = [text for pattern, text in RULES if re.search(pattern, data["tool_input"]["command"])]
for text in issues:
    print(f"- {text}", file=sys.stderr)
sys.exit(2 if issues else 0)
""",
    ),
    # ---- files ----
    hook(
        "protect-main-branch-files",
        "PreToolUse",
        edit("src/a.py", "a", "b", decision="deny", reason="frozen"),
        edit("docs/a.md", "a", "b"),
        name="frozen.sh",
        matcher="Edit|Write",
        files={"FREEZE": "src/\n", "src/a.py": "a\n", "docs/a.md": "a\n"},
        needs=("jq",),
        script_text="""#!/bin/bash
path=$(jq -r '.tool_input.file_path')
while read -r prefix; do
  case "$path" in "$CLAUDE_PROJECT_DIR/$prefix"*) echo "$prefix is frozen" >&2; exit 2 ;; esac
done < "$CLAUDE_PROJECT_DIR/FREEZE"
""",
    ),
    hook(
        "secrets-in-content",
        "PreToolUse",
        write("a.py", "key = 'AKIAABCDEFGHIJKLMNOP'\n", decision="deny", reason="key"),
        write("a.py", "key = None\n"),
        name="secrets.py",
        matcher="Write",
        script_text=DENY_PY
        + """import re
if re.search(r"AKIA[0-9A-Z]{16}", data["tool_input"].get("content", "")):
    print("this looks like an access key", file=sys.stderr)
    sys.exit(2)
""",
    ),
    hook(
        "edit-sees-old-and-new",
        "PreToolUse",
        edit("a.py", "assert x", "pass", decision="deny", reason="asserts"),
        edit("b.py", "y = 1", "y = 2"),
        name="asserts.py",
        matcher="Edit",
        files={"a.py": "assert x\n", "b.py": "y = 1\n"},
        script_text=DENY_PY
        + """given = data["tool_input"]
if "assert" in given["old_string"] and "assert" not in given["new_string"]:
    print("do not remove asserts", file=sys.stderr)
    sys.exit(2)
""",
    ),
    hook(
        "backup-before-write",
        "PreToolUse",
        write("kept.txt", "new\n", files={"backup/kept.txt": "old"}),
        command="""f=$(jq -r .tool_input.file_path); mkdir -p backup; [ -f "$f" ] && cp "$f" backup/; exit 0""",
        matcher="Write",
        files={"kept.txt": "old\n"},
        needs=("jq",),
    ),
    # ---- after a tool ----
    hook(
        "linter-feedback",
        "PostToolUse",
        write("bad.py", "import os\n", event="PostToolUse", decision="deny", reason="unused import"),
        write("good.py", "x = 1\n", event="PostToolUse"),
        name="lint.sh",
        matcher="Edit|Write",
        needs=("jq",),
        script_text="""#!/bin/bash
file=$(jq -r '.tool_input.file_path')
[[ $file == *bad.py ]] || exit 0
echo "$(basename "$file"):1: unused import" >&2
exit 2
""",
    ),
    hook(
        "formatter",
        "PostToolUse",
        write("a.py", "x=1", event="PostToolUse", files={"a.py": "formatted"}),
        name="format.py",
        matcher="Write|Edit|MultiEdit",
        files={"a.py": "x=1"},
        script_text=DENY_PY
        + """path = data["tool_input"]["file_path"]
if path.endswith(".py"):
    with open(path, "a") as file:
        file.write("  # formatted\\n")
""",
    ),
    hook(
        "context-after-tool",
        "PostToolUse",
        ran("git commit -m x", context="push when ready"),
        ran("ls"),
        name="after.py",
        matcher="Bash",
        script_text=DENY_PY
        + """if data["tool_input"]["command"].startswith("git commit"):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "committed; push when ready"}}))
""",
    ),
    hook(
        "post-block-json",
        "PostToolUse",
        ran("npm test", decision="deny", reason="coverage"),
        ran("ls"),
        name="coverage.py",
        matcher="Bash",
        script_text=DENY_PY
        + """if "test" in data["tool_input"]["command"]:
    print(json.dumps({"decision": "block", "reason": "coverage fell; add tests"}))
""",
    ),
    hook(
        "audit-every-tool",
        "PostToolUse",
        ran("make", files={"audit.log": "Bash"}),
        write("x.txt", event="PostToolUse", files={"audit.log": "Write"}),
        command="""jq -r '.tool_name' >> "$CLAUDE_PROJECT_DIR/audit.log\"""",
        matcher="*",
        needs=("jq",),
    ),
    # ---- prompts and sessions ----
    hook(
        "prompt-context-stdout",
        "UserPromptSubmit",
        prompt("fix the bug", context="Branch: main"),
        command="cat > /dev/null; echo 'Branch: main'",
    ),
    hook(
        "prompt-block-json",
        "UserPromptSubmit",
        prompt("my password is hunter2", decision="deny", reason="secret"),
        prompt("hello"),
        name="prompt.py",
        script_text=DENY_PY
        + """if "password is" in data["prompt"]:
    print(json.dumps({"decision": "block", "reason": "the prompt holds a secret"}))
""",
    ),
    hook(
        "prompt-block-exit-2",
        "UserPromptSubmit",
        prompt("deploy to prod", decision="deny", reason="deploys"),
        prompt("hello"),
        command="""grep -qi 'deploy to prod' && { echo 'deploys go through the pipeline' >&2; exit 2; }; exit 0""",
    ),
    hook(
        "prompt-log",
        "UserPromptSubmit",
        prompt("Größe ändern", files={"log/prompts.jsonl": "Größe ändern"}),
        name="log.py",
        files={"log/README": ""},
        script_text=DENY_PY
        + """with open("log/prompts.jsonl", "a", encoding="utf-8") as file:
    file.write(json.dumps({"prompt": data["prompt"]}, ensure_ascii=False) + "\\n")
""",
    ),
    hook(
        "session-context-json",
        "SessionStart",
        start(context="read CONTRIBUTING.md"),
        name="start.py",
        script_text=DENY_PY
        + """print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart",
                                         "additionalContext": "read CONTRIBUTING.md first"}}))
""",
    ),
    hook(
        "session-context-files",
        "SessionStart",
        start(context="two tasks left"),
        command='cat "$CLAUDE_PROJECT_DIR/TODO.md"',
        files={"TODO.md": "two tasks left\n"},
        matcher="startup",
    ),
    hook(
        "session-state-file",
        "SessionStart",
        start(files={".state/session": "startup"}),
        command="mkdir -p .state; jq -r .source > .state/session",
        needs=("jq",),
    ),
    # ---- stops ----
    hook(
        "stop-once",
        "Stop",
        stop(decision="deny", reason="run the tests"),
        stop(again=True),
        name="stop.py",
        script_text=DENY_PY
        + """if not data.get("stop_hook_active"):
    print(json.dumps({"decision": "block", "reason": "run the tests before you stop"}))
""",
    ),
    hook(
        "stop-exit-2",
        "Stop",
        stop(decision="deny", reason="unfinished"),
        command="""[ -f TODO.md ] && { echo 'TODO.md is unfinished' >&2; exit 2; }; exit 0""",
        files={"TODO.md": "- [ ] x\n"},
    ),
    hook(
        "stop-counts-in-a-file",
        "Stop",
        stop(decision="deny", reason="round 1", files={".loop": "1"}),
        name="loop.sh",
        script_text="""#!/bin/bash
n=$(( $(cat .loop 2>/dev/null || echo 0) + 1 ))
echo $n > .loop
if [ $n -lt 3 ]; then echo "round $n: go on" >&2; exit 2; fi
rm .loop
""",
    ),
    hook(
        "stop-git-dirty",
        "Stop",
        stop(decision="deny", reason="commit"),
        name="dirty.sh",
        needs=("git",),
        script_text="""#!/bin/sh
cd "$CLAUDE_PROJECT_DIR" || exit 0
[ -e .git/HEAD ] || git init -q . 2>/dev/null
[ -n "$(git status --porcelain 2>/dev/null)" ] && { echo 'commit your work' >&2; exit 2; }
exit 0
""",
    ),
    # ---- failures that the agent shrugs off ----
    hook("not-found", "PreToolUse", bash("ls"), command="no-such-program-at-all", matcher="Bash"),
    hook("exit-1", "PreToolUse", bash("ls"), command="echo broken >&2; exit 1", matcher="Bash"),
    hook("plain-text-answer", "PreToolUse", bash("ls"), command="echo looks fine to me", matcher="Bash"),
    hook("does-not-read-stdin", "PreToolUse", bash("ls", decision="deny", reason="no"), command="echo no >&2; exit 2", matcher="Bash"),
    hook(
        "continue-false",
        "PreToolUse",
        bash("ls", decision="deny"),
        command="""echo '{"continue": false, "stopReason": "the budget is spent"}'""",
        matcher="Bash",
    ),
    # ---- matchers, MCP, entries with more keys ----
    hook(
        "mcp-guard",
        "PreToolUse",
        Moment("PreToolUse", "MCP", {"server": "github", "tool": "delete_repo"}, decision="deny", reason="github"),
        bash("ls", starts=False),
        command="echo 'no github writes' >&2; exit 2",
        matcher="mcp__github__.*",
    ),
    hook(
        "any-tool",
        "PreToolUse",
        bash("ls", files={"tools.txt": "Bash"}),
        read("a", files={"tools.txt": "Read"}),
        command="jq -r .tool_name >> tools.txt",
        needs=("jq",),
    ),
    hook(
        "uses-cwd-and-session",
        "PreToolUse",
        bash("ls", files={"seen.txt": "corpus PreToolUse"}, limits={"contract": "payloads name no session"}),
        name="seen.py",
        matcher="Bash",
        script_text=DENY_PY
        + """import os
with open(os.path.join(data["cwd"], "seen.txt"), "w") as file:
    file.write(data["session_id"] + " " + data["hook_event_name"])
""",
    ),
    hook(
        "transcript-reader",
        "Stop",
        stop(files={"last.txt": "transcript"}),
        name="transcript.py",
        script_text=DENY_PY
        + """import os
path = data.get("transcript_path")
with open("last.txt", "w") as file:
    file.write("transcript " + ("named" if isinstance(path, str) else "missing"))
""",
    ),
)
