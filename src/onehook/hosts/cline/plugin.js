// Cline's part. It runs in a separate process, which Cline calls for each event and waits 3 s for: then, and after any error that is let
// out of here, the run fails.
import { homedir } from "node:os"
import { join } from "node:path"

const MAX_SECONDS = 2.5
OPTIONS.timeout = Math.min(OPTIONS.timeout, MAX_SECONDS)
const HOOK_NAMES = { PreToolUse: "tool_call", PostToolUse: "tool_result", UserPromptSubmit: "prompt_submit", TaskStart: "agent_start", TaskResume: "agent_resume", TaskComplete: "agent_end", TaskError: "agent_error", TaskCancel: "agent_abort" }
const ENDS = { completed: "TaskComplete", failed: "TaskError", aborted: "TaskCancel" }
const REFUSED = Symbol("refused") // an error that is a denied prompt

/** A policy that takes too long has not allowed anything. Cline itself would end the run here. */
const reached = reach
reach = async (payload) => {
  const result = await reached(payload)
  const late = result.problem?.startsWith("no answer within") && OPTIONS.gates.includes(payload.hook_event_name)
  return late ? { code: 2, stdout: "", stderr: `onehook: ${result.problem}; Cline waits for 3 s at most` } : result
}

const textOf = (message) => (message?.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
const promptOf = (message) => textOf(message).replace(/^<user_input mode="[^"]*">([\s\S]*)<\/user_input>$/, "$1")
const isDenied = (answer) => answer.cancel === true || answer.decision === "deny"
const reasonOf = (answer) => answer.errorMessage ?? answer.reason
const told = (answer) => [reasonOf(answer), answer.context].filter(Boolean).join("\n\n")

function sessionFile(id) {
  const data = process.env.CLINE_DATA_DIR || join(process.env.CLINE_DIR || join(homedir(), ".cline"), "data")
  return id && join(process.env.CLINE_SESSION_DATA_DIR || join(data, "sessions"), id, `${id}.messages.json`)
}

class Bridge {
  constructor() {
    this.about = {} // what Cline says of the session when it loads the plugin
    this.begun = new Set() // conversations that the policy knows
    this.notes = new Map() // id of a message -> what every request has beside it
    this.refused = new Set() // ids of prompts that were denied: no request has them
    this.denied = new Set() // tool calls whose result is our own
  }

  setup({ session, client, workspaceInfo, logger } = {}) {
    this.about = { session: session?.sessionId, version: client?.version, root: workspaceInfo?.rootPath }
    this.logger = logger
  }

  warn = (message) => {
    this.logger?.log?.(message)
    process.stderr.write(`${message}\n`)
  }

  /** Ask the policy about an event, in the words of Cline's hook files. */
  ask(name, snapshot, fields) {
    const { session, version, root } = this.about
    const own = { session_id: session, cwd: root ?? process.cwd(), transcript_path: sessionFile(session) }
    const payload = { clineVersion: version ?? "", timestamp: new Date().toISOString(), taskId: snapshot.conversationId ?? session, sessionContext: { rootSessionId: session }, workspaceRoots: [own.cwd] }
    const who = { agent_id: snapshot.agentId, parent_agent_id: snapshot.parentAgentId ?? null, hookName: HOOK_NAMES[name] }
    return ask(name, { ...own, ...payload, ...who, ...fields }, this.warn)
  }

  /** A run is one prompt, and the first one of a conversation begins it. A subagent's prompt is its parent's call. */
  async beforeRun({ snapshot }) {
    if (snapshot.parentAgentId) return
    const message = snapshot.messages.findLast((one) => one.role === "user")
    const notes = [await this.start(snapshot), await this.prompt(snapshot, message)].filter(Boolean)
    if (notes.length) this.notes.set(message?.id, notes.join("\n\n"))
  }

  async start(snapshot) {
    if (this.begun.has(snapshot.conversationId)) return undefined
    this.begun.add(snapshot.conversationId)
    const name = snapshot.messages.some((one) => one.role === "assistant") ? "TaskResume" : "TaskStart"
    if (!wants(name)) return undefined
    return (await this.ask(name, snapshot, { taskStart: { taskMetadata: {} } })).context
  }

  async prompt(snapshot, message) {
    if (!wants("UserPromptSubmit")) return undefined
    const answer = await this.ask("UserPromptSubmit", snapshot, { userPromptSubmit: { prompt: promptOf(message), attachments: [] } })
    if (isDenied(answer)) this.refusePrompt(answer, message)
    return answer.context
  }

  /** To stop a run says nothing to anybody; one that fails shows why. */
  refusePrompt(answer, message) {
    if (message?.id) this.refused.add(message.id)
    throw Object.assign(new Error(told(answer)), { [REFUSED]: true })
  }

  /** What was added goes with every request: Cline does not keep it. */
  beforeModel({ request }) {
    if (!this.notes.size && !this.refused.size) return undefined
    const lost = [...this.notes.keys()].every((id) => request.messages.every((one) => one.id !== id)) // the session was compacted
    const messages = request.messages.filter((one) => !this.refused.has(one.id)).map((one, index) => {
      const note = this.notes.get(one.id) ?? (lost && index === 0 ? [...this.notes.values()].join("\n\n") : undefined)
      return note ? { ...one, content: [...one.content, { type: "text", text: note }] } : one
    })
    return { messages }
  }

  async beforeTool({ snapshot, toolCall, input }) {
    if (!wants("PreToolUse", toolCall.toolName)) return undefined
    const call = { id: toolCall.toolCallId, name: toolCall.toolName, input }
    const answer = await this.ask("PreToolUse", snapshot, { iteration: snapshot.iteration, tool_call: call })
    if (isDenied(answer)) return this.refuseCall(answer, toolCall)
    const result = answer.overrideInput ? { input: answer.overrideInput } : {}
    if (answer.decision) result.policy = { autoApprove: answer.decision === "allow" }
    if (told(answer)) result.appendContext = told(answer)
    return result
  }

  refuseCall(answer, toolCall) {
    this.denied.add(toolCall.toolCallId)
    return { skip: true, reason: told(answer) }
  }

  async afterTool({ snapshot, toolCall, input, result, startedAt, endedAt, durationMs }) {
    // Cline ends a run after three errors in a row, which a denial is not to be counted as.
    if (this.denied.delete(toolCall.toolCallId)) return { result: { ...result, isError: false } }
    if (!wants("PostToolUse", toolCall.toolName)) return undefined
    const error = result.isError ? { error: result.output?.error ?? JSON.stringify(result.output) } : {}
    const said = { id: toolCall.toolCallId, name: toolCall.toolName, input, output: result.output, ...error, durationMs, startedAt, endedAt }
    const answer = await this.ask("PostToolUse", snapshot, { iteration: snapshot.iteration, tool_result: said })
    const replaced = typeof answer.output === "string" ? { result: { ...result, output: answer.output } } : {}
    return told(answer) ? { ...replaced, appendContext: told(answer) } : replaced
  }

  async afterRun({ snapshot, result }) {
    const name = ENDS[result.status]
    if (snapshot.parentAgentId || !wants(name)) return
    const error = result.error ? { error: { name: "Error", message: result.error.message ?? String(result.error) } } : {}
    await this.ask(name, snapshot, { turn: { outputText: result.outputText ?? "", status: result.status }, ...error })
  }
}

const bridge = new Bridge()
// What goes wrong in here is a denial under fail closed, as in the launcher.
const EVENT_OF = { beforeRun: "UserPromptSubmit", beforeTool: "PreToolUse", afterTool: "PostToolUse", beforeModel: "", afterRun: "" }
const REFUSE = { beforeRun: (answer) => bridge.refusePrompt(answer), beforeTool: (answer, { toolCall }) => bridge.refuseCall(answer, toolCall) }
const hooks = {}
for (const name of Object.keys(EVENT_OF)) {
  hooks[name] = async (context) => {
    try {
      return await bridge[name](context)
    } catch (error) {
      if (error[REFUSED]) throw error
      const answer = failure(EVENT_OF[name], error.message, bridge.warn)
      return answer.decision === "deny" ? REFUSE[name](answer, context) : undefined
    }
  }
}

export default { name: "onehook", manifest: { capabilities: ["hooks"] }, hooks, setup: (api, context) => bridge.setup(context) }
