// Pi's part. Pi continues after an error in any handler but that of a tool call, so no handler here lets one out.
import { homedir } from "node:os"
import { join } from "node:path"

const TYPE = "onehook" // of messages in the session that are ours
const WITH_PATH = ["read", "write", "edit", "grep", "find", "ls"]
const SHELLS = ["bash", "powershell"]
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g

const textOf = (content) => (typeof content === "string" ? content : (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"))
/** A result as one text; one that also has images as its parts, without their data. */
function told(content) {
  const parts = content ?? []
  return parts.every((part) => part.type === "text") ? textOf(parts) : parts.map((part) => ({ ...part, data: undefined }))
}


/** The input with its path as Pi reads it: "@a" is a, "~" the home, and a URL of a file that file. */
function readInput(tool, input) {
  if (!WITH_PATH.includes(tool) || typeof input?.path !== "string") return input
  let path = input.path.replace(SPACES, " ").replace(/^@/, "")
  if (path === "~" || path.startsWith("~/")) path = join(homedir(), path.slice(1))
  else if (path.startsWith("file://")) path = fileURLToPath(path)
  return { ...input, path }
}

/** In place, since Pi runs the tool with this very object. */
function replaceInput(input, args) {
  for (const key of Object.keys(input)) if (!(key in args)) delete input[key]
  Object.assign(input, args)
}

class Bridge {
  constructor(pi) {
    this.pi = pi
    this.calls = new Map() // toolCallId -> what is known of a tool call that is under way
    this.context = [] // what every request to the model has: of the session's start, and of its last compaction
    this.prompted = [] // what goes with the next prompt
    this.stops = 0
  }

  /** Ask the policy about an event of the session. */
  async ask(name, ctx, fields) {
    const { sessionManager } = ctx
    const about = { session_id: sessionManager.getSessionId(), transcript_path: sessionManager.getSessionFile(), cwd: ctx.cwd, model: ctx.model?.id }
    const answer = await ask(name, { ...about, has_ui: ctx.hasUI, ...fields }, (message) => this.tell(ctx, message, "warning"))
    if (answer.message) this.tell(ctx, answer.message, "info")
    return answer
  }

  tell(ctx, message, type) {
    if (ctx.hasUI) ctx.ui.notify(message, type)
    else process.stderr.write(`${message}\n`)
  }

  async sessionStart(event, ctx) {
    this.context = []
    this.stops = 0
    if (!wants("session_start")) return
    const answer = await this.ask("session_start", ctx, { source: event.reason })
    if (answer.context) this.context.push(answer.context)
  }

  async sessionEnd(event, ctx) {
    if (event.reason !== "reload" && wants("session_shutdown")) await this.ask("session_shutdown", ctx, { reason: event.reason })
  }

  async prompt(event, ctx) {
    this.stops = 0
    if (!wants("input")) return undefined
    const answer = await this.ask("input", ctx, { prompt: event.text })
    if (answer.decision === "deny") return this.refusedPrompt(answer, ctx)
    if (!answer.context) return undefined
    // A prompt that comes while the agent works starts no run of its own, at which a message could be added.
    if (event.streamingBehavior) return { action: "transform", text: `${event.text}\n\n${answer.context}` }
    this.prompted.push(answer.context)
    return undefined
  }

  refusedPrompt(answer, ctx) {
    this.tell(ctx, withContext(answer), "error")
    return { action: "handled" }
  }

  beforeRun() {
    const said = this.prompted.splice(0)
    return said.length ? { message: { customType: TYPE, content: said.join("\n\n"), display: false } } : undefined
  }

  request(event) {
    if (!this.context.length) return undefined
    const first = { role: "custom", customType: TYPE, content: this.context.join("\n\n"), display: false, timestamp: 0 }
    return { messages: [first, ...event.messages] }
  }

  async beforeTool(event, ctx) {
    const call = { begun: Date.now() }
    this.calls.set(event.toolCallId, call)
    if (!wants("tool_call", event.toolName)) return undefined
    const about = { tool_name: event.toolName, tool_input: readInput(event.toolName, event.input), call_id: event.toolCallId }
    let answer = await this.ask("tool_call", ctx, about)
    if (answer.decision === "ask") answer = await this.approved(answer, about, ctx)
    if (answer.decision === "deny") return this.refusedCall(answer, event)
    if (answer.args) replaceInput(event.input, answer.args)
    call.context = answer.context
    call.begun = Date.now()
    return undefined
  }

  refusedCall(answer, event) {
    this.calls.set(event.toolCallId, { denied: true }) // its result is ours, and nobody needs to hear of it
    return { block: true, reason: withContext(answer) }
  }

  /** An ask is a question to the person at the terminal, or at the program that drives Pi. */
  async approved(answer, { tool_name, tool_input }, ctx) {
    const call = `${tool_name} ${tool_input.command ?? tool_input.path ?? JSON.stringify(tool_input)}`
    const yes = ctx.hasUI && (await ctx.ui.confirm(answer.reason || "Run this?", call))
    if (yes === true) return { ...answer, decision: "allow" }
    return { ...answer, decision: "deny", reason: answer.reason || "a person did not approve it" }
  }

  async afterTool(event, ctx) {
    const call = this.calls.get(event.toolCallId)
    this.calls.delete(event.toolCallId)
    if (call?.denied) return undefined
    const name = event.isError ? "tool_result.error" : "tool_result"
    const answer = wants(name, event.toolName) ? await this.askAbout(name, event, call, ctx) : {}
    const replaced = answer.output !== undefined && answer.output !== null
    const notes = [call?.context, withContext(answer)].filter(Boolean).map((text) => ({ type: "text", text }))
    if (!replaced && !notes.length) return undefined
    return { content: [...(replaced ? [{ type: "text", text: answer.output }] : event.content), ...notes] }
  }

  askAbout(name, event, call, ctx) {
    const about = { tool_name: event.toolName, tool_input: readInput(event.toolName, event.input), call_id: event.toolCallId, ...took(call) }
    const error = event.isError ? { error: textOf(event.content) } : {}
    return this.ask(name, ctx, { ...about, tool_response: told(event.content), exit_code: SHELLS.includes(event.toolName) && !event.isError ? 0 : undefined, ...error })
  }

  async said(event, ctx) {
    const text = event.message?.role === "assistant" ? textOf(event.message.content) : ""
    if (text && wants("message_end")) await this.ask("message_end", ctx, { last_assistant_message: text })
  }

  /** The run has ended, and so has all that people queued. To deny that is to queue the reason, a limited number of times in a row. */
  async runEnd(event, ctx) {
    const last = [...event.messages].reverse().find((message) => message.role === "assistant")
    if (!wants("agent_end") || !last || last.stopReason === "aborted" || last.stopReason === "error") return
    const about = { loop_count: this.stops, stop_hook_active: this.stops > 0, last_assistant_message: textOf(last.content) }
    const answer = await this.ask("agent_end", ctx, about)
    if (answer.decision !== "deny" || this.stops >= OPTIONS.stopLimit) return
    this.stops += 1
    this.pi.sendMessage({ customType: TYPE, content: withContext(answer), display: true }, { deliverAs: "followUp", triggerTurn: true })
  }

  async compacting(event, ctx) {
    if (!wants("session_before_compact")) return undefined
    const answer = await this.ask("session_before_compact", ctx, { trigger: event.reason === "manual" ? "manual" : "auto" })
    if (answer.decision !== "deny") return undefined
    this.tell(ctx, withContext(answer), "error")
    return { cancel: true }
  }

  async compacted(event, ctx) {
    if (!wants("session_compact")) return
    const answer = await this.ask("session_compact", ctx, { trigger: event.reason === "manual" ? "manual" : "auto" })
    this.context = [...this.context.slice(0, 1), ...(answer.context ? [answer.context] : [])]
  }
}

export default function onehook(pi) {
  const bridge = new Bridge(pi)
  const refuse = {
    tool_call: (answer, event) => bridge.refusedCall(answer, event),
    input: (answer, event, ctx) => bridge.refusedPrompt(answer, ctx),
    session_before_compact: () => ({ cancel: true }),
  }
  const handlers = {
    session_start: bridge.sessionStart,
    session_shutdown: bridge.sessionEnd,
    input: bridge.prompt,
    before_agent_start: bridge.beforeRun,
    context: bridge.request,
    tool_call: bridge.beforeTool,
    tool_result: bridge.afterTool,
    message_end: bridge.said,
    agent_end: bridge.runEnd,
    session_before_compact: bridge.compacting,
    session_compact: bridge.compacted,
  }
  for (const [name, handler] of Object.entries(handlers)) {
    pi.on(name, async (event, ctx) => {
      try {
        return await handler.call(bridge, event, ctx)
      } catch (error) {
        const answer = failure(name, error.message, (message) => bridge.tell(ctx, message, "error"))
        return answer.decision === "deny" ? refuse[name](answer, event, ctx) : undefined
      }
    })
  }
}
