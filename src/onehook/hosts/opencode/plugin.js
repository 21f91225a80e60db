// OpenCode waits for an install of anything that a plugin imports and that is not node's own, and a second export that is not a function would
// void the file.
import { randomBytes } from "node:crypto"

const HEADLESS = process.argv.includes("run")

// OpenCode creates this plugin again for a folder that it has closed and opens again; what is known about a session outlives that.
const SESSIONS = new Map()

class Denied extends Error {}

/** An id as OpenCode makes them: the time first, so that parts stay in order. */
let parts = 0
function partID() {
  const time = ((BigInt(Date.now()) << 12n) + BigInt(parts++ % 4096)) & 0xffffffffffffn
  return `prt_${time.toString(16).padStart(12, "0")}${randomBytes(14).toString("hex").slice(0, 14)}`
}

function appendResult(output, text) {
  if (Array.isArray(output.content)) output.content.push({ type: "text", text }) // of an MCP tool
  else output.output = output.output ? `${output.output}\n\n${text}` : text
}

/** The text that the model gets, and nothing else of the result; what OpenCode shows to the user is in the metadata. */
function replaceResult(output, text) {
  if (Array.isArray(output.content)) output.content = [{ type: "text", text }]
  else {
    output.output = text
    delete output.attachments
  }
}

const within = (seconds, promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref?.())])

class Bridge {
  constructor(client, directory) {
    this.client = client
    this.directory = directory
    this.begun = Date.now()
    this.calls = new Map() // callID -> what is known of a tool call that is under way
    this.failed = new Set()
    this.servers = null
    this.unmatched = new Set()
  }

  /** Ask the policy about an event of a session. */
  async ask(name, state, fields) {
    const about = { session_id: state.id, ...(state.parent ? { agent_id: state.id, parent_session_id: state.parent } : {}) }
    const answer = await ask(name, { cwd: this.directory, ...about, ...fields }, (message) => this.warn(message))
    if (answer.message) this.tell(answer.message)
    return answer
  }

  tell(message) {
    if (HEADLESS) process.stderr.write(`${message}\n`)
    else this.quietly(() => this.client.tui.showToast({ body: { title: "onehook", message, variant: "info" } }))
  }

  warn(message) {
    if (HEADLESS) process.stderr.write(`${message}\n`)
    this.quietly(() => this.client.app.log({ body: { service: "onehook", level: "warn", message } }))
  }

  async quietly(action) {
    try {
      return await action()
    } catch {
      return undefined
    }
  }

  /** A session that is seen for the first time is looked up: it may be a subagent's, or one that is taken up again. */
  session(id, info) {
    let state = SESSIONS.get(id)
    if (!state) {
      state = { id, parent: "", context: [], notes: [], pending: [], stops: 0, text: "", ended: false }
      SESSIONS.set(id, state)
      state.started = this.start(state, info)
    }
    return state
  }

  async start(state, info) {
    info ??= (await this.quietly(() => within(5, this.client.session.get({ path: { id: state.id } }))))?.data
    state.parent = info?.parentID ?? ""
    const name = state.parent ? "session.created.child" : "session.created"
    if (!wants(name)) return
    const source = (info?.time?.created ?? this.begun) >= this.begun - 1000 ? "startup" : "resume"
    const answer = await this.ask(name, state, { source, agent_type: info?.agent })
    if (answer.context) state.context.push(answer.context)
  }

  async ready(id) {
    const state = this.session(id)
    await state.started
    return state
  }

  /** The MCP server of a tool. OpenCode joins both names with "_", so only the list of servers can tell them apart. */
  async mcp(tool) {
    if (OPTIONS.known.includes(tool)) return undefined
    if (!this.servers || !this.unmatched.has(tool)) {
      const status = await this.quietly(() => within(2, this.client.mcp.status()))
      this.servers = Object.keys(status?.data ?? {})
    }
    const clean = (name) => `${name.replace(/[^a-zA-Z0-9_-]/g, "_")}_`
    const fitting = this.servers.filter((name) => tool.startsWith(clean(name))).sort((a, b) => b.length - a.length)
    if (fitting.length) return { server: fitting[0], tool: tool.slice(clean(fitting[0]).length) }
    this.unmatched.add(tool)
    return undefined
  }

  async beforeTool(input, output) {
    const state = await this.ready(input.sessionID)
    const call = { tool_name: input.tool, tool_input: output.args, call_id: input.callID, mcp: await this.mcp(input.tool) }
    this.calls.set(input.callID, call)
    call.begun = Date.now()
    if (!wants("tool.execute.before", input.tool)) return
    const answer = await this.ask("tool.execute.before", state, { ...call, begun: undefined })
    if (answer.decision === "deny") {
      this.failed.add(input.callID) // its failure is ours and nobody needs to hear of it
      throw new Denied(withContext(answer))
    }
    if (answer.args) Object.assign(output.args, answer.args) // in place: OpenCode runs the tool with this very object
    call.context = answer.context
    call.allowed = answer.decision === "allow"
    call.begun = Date.now()
  }

  async afterTool(input, output) {
    const call = this.calls.get(input.callID)
    this.calls.delete(input.callID)
    if (!wants("tool.execute.after", input.tool)) {
      if (call?.context) appendResult(output, call.context)
      return
    }
    const state = await this.ready(input.sessionID)
    const result = { tool_name: input.tool, tool_input: input.args ?? {}, call_id: input.callID, mcp: call?.mcp, ...took(call) }
    const told = { tool_response: output.content ?? output.output, exit_code: output.metadata?.exit }
    const answer = await this.ask("tool.execute.after", state, { ...result, ...told })
    if (answer.output !== undefined) replaceResult(output, answer.output)
    if (call?.context) appendResult(output, call.context)
    const text = withContext(answer)
    if (text) appendResult(output, text)
  }

  async prompt(input, output) {
    const state = await this.ready(input.sessionID)
    Object.assign(state, { agent: input.agent, model: input.model, aborted: false, ended: false })
    if (state.continuing) {
      state.continuing = false // our own words, not the user's
      return
    }
    state.stops = 0
    if (state.parent || !wants("chat.message")) return
    const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    const answer = await this.ask("chat.message", state, { prompt: texts.join("\n"), model: input.model?.modelID })
    if (answer.decision === "deny") {
      this.tell(answer.reason) // OpenCode itself says no more than "unexpected server error"
      throw new Denied(withContext(answer))
    }
    const part = { id: partID(), sessionID: input.sessionID, messageID: output.message?.id ?? input.messageID, type: "text", synthetic: true }
    if (answer.context) output.parts.push({ ...part, text: answer.context })
  }

  /** Context that has no other place goes into the system text: of the session's start each time, of other events once. */
  async system(input, output) {
    const state = input.sessionID && SESSIONS.get(input.sessionID)
    if (!state) return
    await Promise.all(state.pending.splice(0))
    output.system.push(...state.context, ...state.notes.splice(0))
  }

  async compacting(input, output) {
    if (!wants("experimental.session.compacting")) return
    const answer = await this.ask("experimental.session.compacting", await this.ready(input.sessionID), { trigger: "auto" })
    if (answer.context) output.context.push(answer.context)
  }

  async text(input, output) {
    const state = await this.ready(input.sessionID)
    state.text = output.text
    if (!wants("experimental.text.complete")) return
    await this.ask("experimental.text.complete", state, { last_assistant_message: output.text })
  }

  async event({ type, properties }) {
    if (type === "session.created") this.session(properties.sessionID ?? properties.info?.id, properties.info)
    else if (type === "session.idle") await this.idle(await this.ready(properties.sessionID))
    else if (type === "session.error" && properties.sessionID) this.session(properties.sessionID).aborted = true
    else if (type === "permission.asked") await this.permission(properties)
    else if (type === "message.part.updated") this.part(properties.part)
    else if (type === "session.compacted" && wants(type)) await this.ask(type, await this.ready(properties.sessionID), {})
    else if (type === "session.deleted") await this.deleted(properties.sessionID ?? properties.info?.id)
  }

  /** The loop has ended. To deny that is to send the reason as the next prompt, a limited number of times in a row. */
  async idle(state) {
    if (state.parent) {
      if (wants("session.idle.child")) await this.ask("session.idle.child", state, { last_assistant_message: state.text })
      return
    }
    if (state.aborted || state.working || !wants("session.idle")) return // after an interrupt or an error nobody asked for more
    state.working = this.stopping(state).finally(() => (state.working = undefined))
    this.work = state.working
    await this.work
  }

  async stopping(state) {
    for (;;) {
      const about = { loop_count: state.stops, stop_hook_active: state.stops > 0, last_assistant_message: state.text }
      const answer = await this.ask("session.idle", state, about)
      if (answer.decision !== "deny" || state.stops >= OPTIONS.stopLimit) return
      state.stops += 1
      state.continuing = true
      const body = { parts: [{ type: "text", text: withContext(answer) }] }
      if (state.agent) body.agent = state.agent
      if (state.model) body.model = { providerID: state.model.providerID, modelID: state.model.modelID }
      // `opencode run` ends at its first idle and waits for nothing but dispose, where the work is seen through.
      const send = HEADLESS ? "prompt" : "promptAsync"
      const sent = await this.quietly(() => this.client.session[send]({ path: { id: state.id }, body }))
      if (!sent || sent.error) {
        state.continuing = false
        this.warn("[onehook] error: the prompt that continues the session was not taken, so it ends here")
        return
      }
      if (!HEADLESS) return // the next idle comes as an event
    }
  }

  async permission(asked) {
    const call = this.calls.get(asked.tool?.callID)
    if (call?.allowed) return this.reply(asked, "once")
    if (!wants("permission.asked", call?.tool_name)) return
    const summary = { tool_name: asked.permission, tool_input: { ...asked.metadata, patterns: asked.patterns } }
    const answer = await this.ask("permission.asked", await this.ready(asked.sessionID), { ...summary, ...call, context: undefined, begun: undefined })
    if (answer.decision === "deny") await this.reply(asked, "reject")
    else if (answer.decision === "allow") await this.reply(asked, "once")
  }

  async reply(asked, response) {
    const path = { id: asked.sessionID, permissionID: asked.id }
    await this.client.postSessionIdPermissionsPermissionId({ path, body: { response } })
  }

  /** A failed tool has no hook of its own: it shows in the message. This comes for every piece of text too, so it must stay cheap. */
  part(part) {
    if (part?.type !== "tool" || part.state?.status !== "error" || this.failed.has(part.callID)) return
    this.failed.add(part.callID)
    const call = this.calls.get(part.callID)
    this.calls.delete(part.callID)
    if (!wants("message.part.updated", part.tool)) return
    const state = this.session(part.sessionID)
    const about = { tool_name: part.tool, tool_input: part.state.input ?? {}, call_id: part.callID, mcp: call?.mcp, error: part.state.error, ...took(call) }
    const asking = this.ask("message.part.updated", state, about).then((answer) => answer.context && state.notes.push(answer.context))
    state.pending.push(asking.catch(() => {}))
  }

  async deleted(id) {
    const state = SESSIONS.get(id)
    SESSIONS.delete(id)
    if (state && !state.parent && !state.ended && wants("session.deleted")) await this.ask("session.deleted", state, { reason: "deleted" })
  }

  async dispose() {
    await this.work
    const open = [...SESSIONS.values()].filter((state) => !state.parent && !state.ended)
    for (const state of open) state.ended = true
    if (wants("dispose")) for (const state of open) await this.ask("dispose", state, { reason: "exit" })
  }

  /** Whatever goes wrong in here must not take the agent down, nor let a call pass under fail closed. */
  guarded(name, action) {
    return async (...given) => {
      try {
        await action(...given)
      } catch (error) {
        if (error instanceof Denied) throw error
        const { reason } = failure(name, error.message, (message) => this.warn(message))
        if (reason) throw new Denied(reason)
      }
    }
  }
}

export const Onehook = async ({ client, directory }) => {
  const bridge = new Bridge(client, directory)
  const guarded = (name, action) => bridge.guarded(name, action)
  return {
    "tool.execute.before": guarded("tool.execute.before", (input, output) => bridge.beforeTool(input, output)),
    "tool.execute.after": guarded("tool.execute.after", (input, output) => bridge.afterTool(input, output)),
    "chat.message": guarded("chat.message", (input, output) => bridge.prompt(input, output)),
    "experimental.chat.system.transform": guarded("system", (input, output) => bridge.system(input, output)),
    "experimental.session.compacting": guarded("compacting", (input, output) => bridge.compacting(input, output)),
    "experimental.text.complete": guarded("text", (input, output) => bridge.text(input, output)),
    event: guarded("event", ({ event }) => bridge.event(event)),
    dispose: guarded("dispose", () => bridge.dispose()),
  }
}
