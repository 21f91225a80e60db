// Cline's plugin against a fake Cline and the real launcher. test_plugin.py writes the variants and starts this.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import test from "node:test"
import { pathToFileURL } from "node:url"

const FOLDER = process.env.ONEHOOK_TEST_PLUGINS
let number = 0

/** The plugin of a variant in a separate session: fire() is what Cline does for one event. */
async function session(variant) {
  const module = await import(`${pathToFileURL(`${FOLDER}/${variant}/.cline/plugins/onehook.js`).href}?${number++}`)
  const logged = []
  const plugin = module.default
  plugin.setup({}, { session: { sessionId: `s-${number}` }, client: { version: "3.0.65" }, workspaceInfo: { rootPath: `${FOLDER}/${variant}` }, logger: { log: (text) => logged.push(text) } })
  const snapshot = { agentId: "a", conversationId: `c-${number}`, iteration: 1, messages: [] }
  return { logged, snapshot, fire: (name, context) => plugin.hooks[name]({ snapshot, ...context }) }
}

const call = (toolName, input) => ({ toolCall: { toolName, toolCallId: `call_${number++}` }, input })
const bash = (command) => call("run_commands", { commands: [command] })
const after = (before, text) => ({ ...before, result: { output: [{ query: "x", result: text, success: true }] }, durationMs: 3 })
const user = (id, text) => ({ id, role: "user", content: [{ type: "text", text: `<user_input mode="act">${text}</user_input>` }] })
const texts = ({ messages }) => messages.map((message) => message.content.map((part) => part.text).slice(1).join())

test("a denied call is skipped with the reason, and is no error of the model's", async () => {
  const cline = await session("open")
  const event = bash("deny this")
  assert.deepEqual(await cline.fire("beforeTool", event), { skip: true, reason: "no: deny this\n\nseen before" })
  const skipped = { ...event, result: { output: { error: "no" }, isError: true } }
  assert.deepEqual(await cline.fire("afterTool", skipped), { result: { output: { error: "no" }, isError: false } })
})

test("an ask is Cline's own question, with the reason for the model; an allow asks nobody", async () => {
  const cline = await session("open")
  assert.deepEqual(await cline.fire("beforeTool", bash("question")), { policy: { autoApprove: false }, appendContext: "really?" })
  assert.deepEqual(await cline.fire("beforeTool", bash("allowed")), { policy: { autoApprove: true } })
})

test("a rewrite, and context before and after a tool", async () => {
  const cline = await session("open")
  assert.deepEqual(await cline.fire("beforeTool", bash("rewrite")), { input: { commands: ["safe"] } })
  assert.deepEqual(await cline.fire("beforeTool", bash("context")), { appendContext: "seen before" })
  assert.deepEqual(await cline.fire("afterTool", after(bash("ls"), "plain")), { appendContext: "seen after" })
  assert.deepEqual(await cline.fire("afterTool", after(bash("ls"), "secret")), { result: { output: "masked" } })
})

test("context of the start and of a prompt is in every request, beside the prompt", async () => {
  const cline = await session("open")
  cline.snapshot.messages = [user("m1", "go")]
  await cline.fire("beforeRun", {})
  for (let i = 0; i < 2; i++) assert.deepEqual(texts(await cline.fire("beforeModel", { request: { messages: [user("m1", "go"), user("m2", "x")] } })), ["begun: startup\n\nwith the prompt", ""])
  assert.deepEqual(texts(await cline.fire("beforeModel", { request: { messages: [user("m9", "a summary")] } })), ["begun: startup\n\nwith the prompt"]) // compacted
})

test("a session that goes on is one that is resumed", async () => {
  const cline = await session("open")
  cline.snapshot.messages = [user("m1", "go"), { id: "m2", role: "assistant", content: [] }, user("m3", "on")]
  await cline.fire("beforeRun", {})
  assert.deepEqual(texts(await cline.fire("beforeModel", { request: { messages: [user("m3", "on")] } })), ["begun: resume\n\nwith the prompt"])
})

test("a denied prompt fails the run, which says why, and no later request has it", async () => {
  const cline = await session("open")
  cline.snapshot.messages = [user("m1", "deny me")]
  await assert.rejects(cline.fire("beforeRun", {}), /^Error: not this$/)
  const { messages } = await cline.fire("beforeModel", { request: { messages: [user("m1", "deny me"), user("m2", "else")] } })
  assert.deepEqual(messages.map((message) => message.id), ["m2"])
})

test("a subagent's run is no prompt of a person", async () => {
  const cline = await session("open")
  Object.assign(cline.snapshot, { parentAgentId: "a0", messages: [user("m1", "deny me")] })
  await cline.fire("beforeRun", {})
  assert.equal(await cline.fire("beforeModel", { request: { messages: [] } }), undefined)
})

test("a handler that raises: open goes on, closed blocks", async () => {
  assert.deepEqual(await (await session("open")).fire("beforeTool", bash("raise")), {})
  assert.match((await (await session("closed")).fire("beforeTool", bash("raise"))).reason, /blocked: fail=closed/)
})

for (const [fault, said] of [["missing", /cannot be started/], ["crash", /exit code 3/], ["signal", /SIGKILL/], ["garbage", /not JSON/], ["null", /not one of onehook/], ["list", /not one of onehook/], ["unknown", /not one of onehook/]]) {
  test(`a launcher that fails (${fault}): open goes on with a warning, closed blocks`, async () => {
    const open = await session(`${fault}-open`)
    assert.deepEqual(await open.fire("beforeTool", bash("ls")), {})
    assert.match(open.logged[0], said)
    const closed = await session(`${fault}-closed`)
    const refused = await closed.fire("beforeTool", bash("ls"))
    assert.equal(refused.skip, true)
    assert.match(refused.reason, said)
    await assert.rejects(closed.fire("beforeRun", {}), /blocked: fail=closed/)
    assert.deepEqual(await closed.fire("afterTool", after(bash("ls"), "x")), {})
  })
}

for (const fail of ["open", "closed"]) {
  test(`a launcher that takes too long has allowed nothing (${fail})`, async () => {
    const slow = await session(`slow-${fail}`)
    assert.match((await slow.fire("beforeTool", bash("ls"))).reason, /no answer within 1 s; Cline waits for 3 s at most/)
  })
}

test("an error of the plugin itself blocks under fail closed", async () => {
  const closed = await session("closed")
  const input = { get commands() { throw new Error("odd input") } }
  assert.match((await closed.fire("beforeTool", call("run_commands", input))).reason, /odd input \(blocked: fail=closed\)/)
})

test("no process for an event or a tool that no handler wants", async () => {
  const narrow = await session("narrow")
  assert.equal(await narrow.fire("beforeTool", call("read_files", { files: [] })), undefined)
  await narrow.fire("beforeRun", {})
  assert.equal(existsSync(`${FOLDER}/narrow/started`), false)
  await narrow.fire("beforeTool", bash("ls"))
  assert.equal(existsSync(`${FOLDER}/narrow/started`), true)
})
