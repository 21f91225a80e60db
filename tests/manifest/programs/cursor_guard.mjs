#!/usr/bin/env node
// A beforeShellExecution hook as people write them for Cursor.
let text = "";
for await (const chunk of process.stdin) text += chunk;
const input = JSON.parse(text);
const bad = input.hook_event_name === "beforeShellExecution" && input.command.includes("rm -rf");
const why = "rm -rf is blocked by the Cursor hook";
console.log(JSON.stringify(bad ? { permission: "deny", user_message: why, agent_message: why } : { permission: "allow" }));
