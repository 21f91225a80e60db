// The same logic by hand, for node and bun.
import { readFileSync } from "node:fs";

const event = JSON.parse(readFileSync(0, "utf8"));
if (event.hook_event_name === "PreToolUse" && event.tool_name === "Bash" && event.tool_input.command.includes("rm -rf")) {
  const reason = "rm -rf is blocked by policy";
  process.stdout.write(
    JSON.stringify({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason },
    }) + "\n",
  );
  process.stderr.write(reason + "\n");
  process.exitCode = 2;
}
