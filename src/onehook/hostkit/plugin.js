// Written by `onehook install`, removed by `onehook uninstall`. This agent has no command hooks: this file passes its events to the policy,
// starts one process for each event that the policy handles, and acts on the answer. It imports only Node's own modules.
/* eslint-disable */
// biome-ignore-all lint: generated
// biome-ignore-all format: generated
// @ts-nocheck
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

// prettier-ignore
const OPTIONS = {"host": "", "command": [], "events": [], "gates": [], "tools": {}, "known": [], "timeout": 30, "fail": "open", "stopLimit": 5}

const PROJECT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "")
const COMMAND = OPTIONS.command.map((word) => word.replace(/^\{project\}/, () => PROJECT))
const MAX_ANSWER = 16 * 1024 * 1024
const DECISIONS = ["allow", "deny", "ask", null, undefined]

/** Run the launcher on one payload: { code, stdout, stderr }, or { problem } if there is no answer. */
function launch(payload, seconds = OPTIONS.timeout) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const out = { stdout: "", stderr: "" }
    const settle = (result) => {
      clearTimeout(timer)
      resolve(result)
    }
    const stop = (problem) => {
      child.kill("SIGKILL")
      settle({ problem })
    }
    const timer = setTimeout(() => stop(`no answer within ${OPTIONS.timeout} s`), seconds * 1000)
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8")
      child[name].on("data", (text) => {
        out[name] += text
        if (out[name].length > MAX_ANSWER) stop("the answer is too long")
      })
    }
    child.on("error", (error) => settle({ problem: `${COMMAND[0]} cannot be started: ${error.message}` }))
    child.on("close", (code, signal) => settle(code === null ? { problem: `ended by ${signal}` } : { code, ...out }))
    child.stdin.on("error", () => {}) // it may end before it has read everything; its exit code shows what happened
    child.stdin.end(JSON.stringify(payload))
  })
}

/** How an event is answered; resident mode (connection.js) replaces this, and falls back to it whenever there is any doubt. */
let reach = launch

/** The launcher's answer as { decision, reason, args, output, context, message }; a string if it is not an answer. */
function understood({ problem, code, stdout, stderr }) {
  if (problem) return problem
  if (code === 2) return { decision: "deny", reason: stderr.trim() || "denied by policy" }
  if (code !== 0) return stderr.trim() || `ended with exit code ${code}`
  if (!stdout.trim()) return {}
  try {
    const answer = JSON.parse(stdout)
    const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer)
    return isObject && DECISIONS.includes(answer.decision) ? answer : "the answer is not one of onehook's"
  } catch {
    return "the answer is not JSON"
  }
}

/** Ask the policy about an event. `warn` writes to the agent's log. */
async function ask(name, fields, warn) {
  const result = await reach({ [OPTIONS.host]: 1, hook_event_name: name, ...fields })
  const answer = understood(result)
  if (typeof answer === "string") return failure(name, answer, warn)
  if (result.code === 0 && result.stderr.trim()) warn(result.stderr.trim())
  return answer
}

/** An error is a deny under fail closed, where that prevents something, and a warning elsewhere. */
function failure(name, problem, warn) {
  if (OPTIONS.fail === "closed" && OPTIONS.gates.includes(name)) return { decision: "deny", reason: `onehook: ${problem} (blocked: fail=closed)` }
  warn(`[onehook] error: ${problem}`)
  return {}
}

function wants(name, tool) {
  if (!OPTIONS.events.includes(name)) return false
  const tools = tool === undefined ? undefined : OPTIONS.tools[name]
  return !tools || tools.includes(tool) || (tools.includes("MCP") && !OPTIONS.known.includes(tool))
}

const took = (call) => (call ? { duration_ms: Date.now() - call.begun } : {})
const withContext = (answer) => [answer.reason, answer.context].filter(Boolean).join("\n\n")
