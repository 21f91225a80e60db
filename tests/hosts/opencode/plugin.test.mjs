// The plugin as install writes it, with a fake client and the real launcher. test_plugin.py writes the variants and starts this.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, test } from "node:test"
import { pathToFileURL } from "node:url"

const FOLDER = process.env.ONEHOOK_TEST_PLUGINS
const LOG = process.env.ONEHOOK_TEST_LOG
let loads = 0
let client

/** A client that records its calls. */
function fakeClient(sessions = {}) {
  const calls = []
  const keep = (name, data) => async (given) => (calls.push([name, given]), { data })
  return {
    calls,
    named: (name) => calls.filter(([called]) => called === name).map(([, given]) => given),
    app: { log: keep("log") },
    tui: { showToast: keep("toast") },
    mcp: { status: keep("mcp", { proof: {}, "my-db": {}, my: {} }) },
    session: {
      get: async ({ path }) => ({ data: sessions[path.id] }),
      prompt: keep("prompt", {}),
      promptAsync: keep("promptAsync", {}),
    },
    postSessionIdPermissionsPermissionId: keep("reply", true),
  }
}

/** The hooks of a new copy of a variant; with `run`, loaded as `opencode run` would load it. */
async function plugin(variant = "open", { run = false } = {}) {
  const argv = [...process.argv]
  if (run) process.argv.push("run")
  const module = await import(`${pathToFileURL(join(FOLDER, variant, ".opencode", "plugins", "onehook.js"))}?${loads++}`)
  process.argv.splice(0, process.argv.length, ...argv)
  assert.deepEqual(Object.keys(module), ["Onehook"], "exactly one export")
  return module.Onehook({ client, directory: "/p", worktree: "/p" })
}

const call = (command, callID = "call_1", tool = "bash") => [{ tool, sessionID: "ses_1", callID }, { args: { command, timeout: 5 } }]
const emit = (hooks, type, properties) => hooks.event({ event: { type, properties } })
const userMessage = (text) => [
  { sessionID: "ses_1", agent: "build", model: { providerID: "x", modelID: "m" } },
  { message: { id: "msg_1" }, parts: [{ type: "text", text }, { type: "text", text: "not the user's", synthetic: true }] },
]

function alive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

beforeEach(() => {
  client = fakeClient({ ses_1: { time: { created: Date.now() + 60000 } } })
})

test("a denied call throws the reason and the context, and the user is told", async () => {
  const hooks = await plugin()
  await assert.rejects(hooks["tool.execute.before"](...call("DENY")), { message: "not that\n\ntry this" })
  assert.equal(client.named("toast")[0].body.message, "denied for you")
})

test("a rewrite changes the very object that OpenCode runs the tool with", async () => {
  const hooks = await plugin()
  const [input, output] = call("REWRITE")
  const args = output.args
  await hooks["tool.execute.before"](input, output)
  assert.equal(output.args, args)
  assert.deepEqual(args, { command: "echo changed", timeout: 5 })
})

test("context before and after a tool is appended to its result", async () => {
  const hooks = await plugin()
  const [input, output] = call("CONTEXT")
  await hooks["tool.execute.before"](input, output)
  const result = { title: "t", output: "out", metadata: {} }
  await hooks["tool.execute.after"]({ ...input, args: output.args }, result)
  assert.equal(result.output, "out\n\nknow this\n\nsaw out")
})

test("a result is replaced, and nothing of it is left for the model; context from before the tool stays", async () => {
  const hooks = await plugin()
  const [input, output] = call("CONTEXT")
  await hooks["tool.execute.before"](input, output)
  const result = { title: "t", output: "a MASK", metadata: { exit: 3 }, attachments: [{ url: "data:MASK" }] }
  await hooks["tool.execute.after"]({ ...input, args: output.args }, result)
  assert.deepEqual(result, { title: "t", output: "a *** exit 3\n\nknow this", metadata: { exit: 3 } })
  const mcp = { content: [{ type: "text", text: "MASK" }, { type: "image", data: "MASK" }] }
  await hooks["tool.execute.after"]({ tool: "proof_note", sessionID: "ses_1", callID: "c", args: {} }, mcp)
  assert.deepEqual(mcp.content, [{ type: "text", text: "*** exit None" }])
})

test("the result of an MCP tool gets a text of its own", async () => {
  const hooks = await plugin()
  const result = { content: [{ type: "text", text: "x" }] }
  await hooks["tool.execute.after"]({ tool: "proof_note", sessionID: "ses_1", callID: "c", args: {} }, result)
  assert.equal(result.content.length, 2)
  assert.match(result.content[1].text, /^saw /)
})

test("the server of an MCP tool is looked up, the longest name that fits", async () => {
  const hooks = await plugin()
  await assert.rejects(hooks["tool.execute.before"](...call("x", "c", "my-db_run_query")), { message: "my-db run_query" })
  client.mcp.status = async () => assert.fail("asked again for a tool that is OpenCode's own")
  await hooks["tool.execute.before"](...call("ls", "c", "bash"))
})

test("without the list of servers the joined name still matches", async () => {
  client.mcp.status = async () => {
    throw new Error("no such route")
  }
  const hooks = await plugin()
  await hooks["tool.execute.before"](...call("x", "c", "other_tool"))
})

test("a prompt gets its context as a part of its own", async () => {
  const hooks = await plugin()
  const [input, output] = userMessage("do it")
  await hooks["chat.message"](input, output)
  const added = output.parts[2]
  assert.equal(added.text, "asked do it")
  assert.equal(added.synthetic, true)
  assert.equal(added.messageID, "msg_1")
  assert.match(added.id, /^prt_[0-9a-f]{12}.{14}$/)
})

test("a denied prompt throws, and the user is told why", async () => {
  const hooks = await plugin()
  await assert.rejects(hooks["chat.message"](...userMessage("DENY")), { message: "not now" })
  assert.equal(client.named("toast")[0].body.message, "not now")
})

test("a subagent's prompt is not the user's", async () => {
  client = fakeClient({ ses_1: { parentID: "ses_0", time: { created: Date.now() } } })
  const hooks = await plugin()
  const [input, output] = userMessage("DENY")
  await hooks["chat.message"](input, output)
  assert.equal(output.parts.length, 2)
})

test("the context of the session's start is in the system text of every request", async () => {
  const hooks = await plugin()
  await emit(hooks, "session.created", { sessionID: "ses_1", info: { id: "ses_1", time: { created: Date.now() } } })
  await hooks["chat.message"](...userMessage("do it"))
  for (const _ of [1, 2]) {
    const output = { system: ["own"] }
    await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1", model: {} }, output)
    assert.deepEqual(output.system, ["own", "started by startup"])
  }
})

test("a session that is older than the plugin is taken up again; a subagent's has its own event", async () => {
  client = fakeClient({ ses_1: { time: { created: 1 } }, ses_2: { parentID: "ses_1", time: { created: 1 } } })
  const hooks = await plugin()
  for (const [id, context] of [["ses_1", "started by resume"], ["ses_2", "you are a child"]]) {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: id, callID: id }, { args: { command: "ls" } })
    const output = { system: [] }
    await hooks["experimental.chat.system.transform"]({ sessionID: id, model: {} }, output)
    assert.deepEqual(output.system, [context])
  }
})

test("a request that belongs to no session is left alone", async () => {
  const hooks = await plugin()
  const output = { system: [] }
  await hooks["experimental.chat.system.transform"]({ model: {} }, output)
  assert.deepEqual(output.system, [])
})

test("a failed tool's context is in the next request, once", async () => {
  const hooks = await plugin()
  await hooks["tool.execute.before"](...call("ls"))
  const part = { type: "tool", sessionID: "ses_1", callID: "call_1", tool: "bash", state: { status: "error", input: { command: "ls" }, error: "boom" } }
  await emit(hooks, "message.part.updated", { part: { ...part, state: { status: "running", input: {} } } })
  await emit(hooks, "message.part.updated", { part })
  await emit(hooks, "message.part.updated", { part })
  const output = { system: [] }
  await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output)
  assert.deepEqual(output.system, ["started by startup", "failed with boom"])
  const later = { system: [] }
  await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, later)
  assert.deepEqual(later.system, ["started by startup"])
})

test("our own denial is not reported as a failed tool", async () => {
  const hooks = await plugin()
  await assert.rejects(hooks["tool.execute.before"](...call("DENY")))
  const part = { type: "tool", sessionID: "ses_1", callID: "call_1", tool: "bash", state: { status: "error", error: "not that" } }
  await emit(hooks, "message.part.updated", { part })
  const output = { system: [] }
  await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output)
  assert.deepEqual(output.system, ["started by startup"])
})

test("a denied stop continues the session with the same agent and model, up to the limit, and a new prompt begins anew", async () => {
  const hooks = await plugin()
  await hooks["chat.message"](...userMessage("do it"))
  await hooks["experimental.text.complete"]({ sessionID: "ses_1" }, { text: "done" })
  for (const round of [1, 2, 3, 4]) {
    await emit(hooks, "session.idle", { sessionID: "ses_1" })
    assert.equal(client.named("promptAsync").length, Math.min(round, 2)) // install's stop limit here is 2
    if (round < 3) await hooks["chat.message"](...userMessage("go on, done"))
  }
  const sent = client.named("promptAsync")[0]
  assert.deepEqual(sent.body, { parts: [{ type: "text", text: "go on, done" }], agent: "build", model: { providerID: "x", modelID: "m" } })
  await hooks["chat.message"](...userMessage("more"))
  await emit(hooks, "session.idle", { sessionID: "ses_1" })
  assert.equal(client.named("promptAsync").length, 3)
})

test("after an interrupt nobody is sent back to work", async () => {
  const hooks = await plugin()
  await hooks["chat.message"](...userMessage("do it"))
  await emit(hooks, "session.error", { sessionID: "ses_1", error: { name: "MessageAbortedError" } })
  await emit(hooks, "session.idle", { sessionID: "ses_1" })
  assert.equal(client.named("promptAsync").length, 0)
})

test("in a headless run the work is seen through before the program may end", async () => {
  const hooks = await plugin("open", { run: true })
  await hooks["chat.message"](...userMessage("do it"))
  const idle = emit(hooks, "session.idle", { sessionID: "ses_1" })
  await new Promise((resolve) => setImmediate(resolve))
  await hooks.dispose()
  assert.equal(client.named("prompt").length, 2)
  await idle
})

test("a subagent's end is told and never continued", async () => {
  client = fakeClient({ ses_9: { parentID: "ses_1", time: { created: 1 } } })
  const hooks = await plugin()
  await emit(hooks, "session.idle", { sessionID: "ses_9" })
  assert.equal(client.named("promptAsync").length, 0)
  assert.match(readFileSync(LOG, "utf8"), /^SubagentStop ses_9$/m)
})

test("compaction gets its context", async () => {
  const hooks = await plugin()
  const output = { context: [] }
  await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, output)
  assert.deepEqual(output.context, ["keep this"])
})

test("an allowed call answers its own dialog, others are for the policy, and silence leaves the dialog", async () => {
  const hooks = await plugin()
  for (const [command, response] of [["ALLOW", "once"], ["YES", "once"], ["NO", "reject"], ["ls", undefined]]) {
    client.calls.length = 0
    await hooks["tool.execute.before"](...call(command, command))
    await emit(hooks, "permission.asked", { id: "per_1", sessionID: "ses_1", permission: "bash", patterns: ["*"], metadata: {}, tool: { callID: command } })
    const replies = client.named("reply").map((reply) => [reply.path, reply.body.response])
    assert.deepEqual(replies, response ? [[{ id: "ses_1", permissionID: "per_1" }, response]] : [])
  }
})

test("a session ends once: deleted, or with the program", async () => {
  client = fakeClient({ ses_d: { time: { created: 1 } }, ses_e: { time: { created: 1 } } })
  const hooks = await plugin()
  for (const id of ["ses_d", "ses_e"]) await hooks["tool.execute.before"]({ tool: "bash", sessionID: id, callID: id }, { args: { command: "ls" } })
  await emit(hooks, "session.deleted", { sessionID: "ses_d" })
  await hooks.dispose()
  await hooks.dispose()
  const ended = readFileSync(LOG, "utf8").split("\n").filter((line) => /^SessionEnd ses_[de]$/.test(line))
  assert.deepEqual(ended, ["SessionEnd ses_d", "SessionEnd ses_e"])
})

test("events that the policy does not handle, and streaming, start no process", async () => {
  const hooks = await plugin("narrow")
  await emit(hooks, "message.part.updated", { part: { type: "text", text: "x" } })
  await emit(hooks, "message.part.delta", {})
  await emit(hooks, "session.idle", { sessionID: "ses_1" })
  await hooks["chat.message"](...userMessage("do it"))
  await hooks["tool.execute.before"](...call("ls", "c", "read"))
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c", args: {} }, { output: "" })
  await hooks.dispose()
  assert.equal(existsSync(join(FOLDER, "narrow", "started")), false)
  await hooks["tool.execute.before"](...call("ls"))
  await hooks["tool.execute.before"](...call("ls", "c", "proof_note"))
  assert.equal(readFileSync(join(FOLDER, "narrow", "started"), "utf8"), "xx")
})

for (const [variant, told] of [
  ["missing", /cannot be started/],
  ["crash", /exit code 3/],
  ["signal", /ended by SIG/],
  ["slow", /no answer within/],
  ["garbage", /not JSON/],
  ["null", /not one of onehook/],
  ["list", /not one of onehook/],
  ["unknown", /not one of onehook/],
]) {
  test(`fail closed: ${variant} denies tools and prompts`, async () => {
    const hooks = await plugin(`${variant}-closed`)
    await assert.rejects(hooks["tool.execute.before"](...call("ls")), told)
    await assert.rejects(hooks["chat.message"](...userMessage("do it")), told)
    await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c", args: {} }, { output: "x" })
  })

  test(`fail open: ${variant} goes on, with a warning in the log`, async () => {
    const hooks = await plugin(`${variant}-open`)
    const [input, output] = call("ls")
    await hooks["tool.execute.before"](input, output)
    assert.deepEqual(output.args, { command: "ls", timeout: 5 })
    assert.match(client.named("log")[0].body.message, told)
  })
}

test("a launcher that takes too long is ended", async () => {
  const hooks = await plugin("slow-open")
  await hooks["tool.execute.before"](...call("ls"))
  const pid = Number(readFileSync(join(FOLDER, "pid"), "utf8"))
  for (let waited = 0; waited < 100 && alive(pid); waited++) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(alive(pid), false)
})

test("the policy's own error is a denial under fail closed, and a warning under fail open", async () => {
  await assert.rejects((await plugin("closed"))["tool.execute.before"](...call("RAISE")), /ValueError: boom \(blocked: fail=closed\)/)
  await (await plugin())["tool.execute.before"](...call("RAISE"))
  assert.match(client.named("log")[0].body.message, /ValueError: boom/)
})

test("a broken client takes nothing down", async () => {
  client = new Proxy({}, { get: () => () => { throw new Error("gone") } })
  const hooks = await plugin()
  await assert.rejects(hooks["tool.execute.before"](...call("DENY")), /not that/)
  await hooks["tool.execute.before"](...call("ls", "d"))
  await emit(hooks, "session.idle", { sessionID: "ses_1" })
  await emit(hooks, "session.idle", undefined)
})
