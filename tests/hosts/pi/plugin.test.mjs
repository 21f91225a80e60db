// Pi's extension against a fake Pi and the real launcher. test_plugin.py writes the variants and starts this.
import assert from "node:assert/strict"
import { homedir } from "node:os"
import test from "node:test"
import { pathToFileURL } from "node:url"

const FOLDER = process.env.ONEHOOK_TEST_PLUGINS

/** The extension of a variant in a session: fire() is what Pi does for one event. */
async function session(variant, hasUI = false) {
  const module = await import(pathToFileURL(`${FOLDER}/${variant}/.pi/extensions/onehook.js`).href)
  const handlers = new Map()
  const seen = { sent: [], told: [], asked: [], approve: true }
  module.default({ on: (name, handler) => handlers.set(name, handler), sendMessage: (...given) => seen.sent.push(given) })
  const ui = {
    notify: (message, type) => seen.told.push([message, type]),
    confirm: async (...given) => {
      seen.asked.push(given)
      return seen.approve
    },
  }
  const sessionManager = { getSessionId: () => `s-${variant}`, getSessionFile: () => undefined }
  const ctx = { cwd: `${FOLDER}/${variant}`, hasUI, ui, sessionManager, model: { id: "m" } }
  return { ...seen, seen, fire: (type, event) => handlers.get(type)({ type, ...event }, ctx), has: (type) => handlers.has(type) }
}

let calls = 0
const call = (toolName, input) => ({ toolName, toolCallId: `call_${calls++}`, input })
const bash = (command) => call("bash", { command })
const result = (before, text, isError = false) => ({ ...before, content: [{ type: "text", text }], isError })

test("a denied call is blocked with the reason, and its own result is nobody's business", async () => {
  const pi = await session("open")
  const event = bash("deny this")
  assert.deepEqual(await pi.fire("tool_call", event), { block: true, reason: "no: deny this" })
  assert.equal(await pi.fire("tool_result", result(event, "note", true)), undefined)
})

test("a rewrite changes the very object that Pi runs the tool with", async () => {
  const pi = await session("open")
  const event = bash("rewrite")
  event.input.timeout = 3
  const { input } = event
  assert.equal(await pi.fire("tool_call", event), undefined)
  assert.deepEqual(input, { command: "safe", timeout: 3 })
})

test("context before a tool comes with its result", async () => {
  const pi = await session("open", true)
  const event = bash("context")
  assert.equal(await pi.fire("tool_call", event), undefined)
  const { content } = await pi.fire("tool_result", result(event, "plain"))
  assert.deepEqual(content.map((part) => part.text), ["plain", "seen before"])
  assert.deepEqual(pi.told, [["to you", "info"]])
})

test("paths are those that Pi reads: @, ~ and URLs of files", async () => {
  const pi = await session("open")
  const paths = [["@deny.txt", "deny.txt"], ["~/deny", `${homedir()}/deny`], ["file:///x/deny", "/x/deny"], ["a\u00a0deny", "a deny"]]
  for (const [path, read] of paths) {
    const { reason } = await pi.fire("tool_call", call("read", { path }))
    assert.ok(reason.endsWith(read), reason)
  }
})

test("a question is asked where somebody is, and a no is a deny", async () => {
  const pi = await session("open", true)
  assert.equal(await pi.fire("tool_call", bash("question")), undefined)
  assert.deepEqual(pi.asked, [["really?", "bash question"]])
  pi.seen.approve = false
  assert.deepEqual(await pi.fire("tool_call", bash("question")), { block: true, reason: "really?" })
  assert.deepEqual(await (await session("open")).fire("tool_call", bash("question")), { block: true, reason: "really?" })
})

test("a result is replaced, of a tool that failed as well, and its end stays", async () => {
  const pi = await session("open")
  assert.deepEqual((await pi.fire("tool_result", result(bash("x"), "secret"))).content, [{ type: "text", text: "masked" }])
  const failed = result(bash("x"), "secret\n\n\nCommand exited with code 3", true)
  assert.deepEqual((await pi.fire("tool_result", failed)).content, [{ type: "text", text: "masked\n\nCommand exited with code 3" }])
  const image = { ...result(bash("x"), "note"), content: [{ type: "text", text: "note" }, { type: "image", data: "abc", mimeType: "image/png" }] }
  assert.deepEqual((await pi.fire("tool_result", image)).content, [...image.content, { type: "text", text: "seen after" }])
})

test("a denied prompt is handled, and said to the user", async () => {
  const pi = await session("open", true)
  assert.deepEqual(await pi.fire("input", { text: "deny me", source: "interactive" }), { action: "handled" })
  assert.deepEqual(pi.told, [["not this", "error"]])
})

test("context of a prompt goes with its run, or into what is said in between", async () => {
  const pi = await session("open")
  assert.equal(await pi.fire("input", { text: "context", source: "interactive" }), undefined)
  assert.equal((await pi.fire("before_agent_start", {})).message.content, "with the prompt")
  assert.equal(await pi.fire("before_agent_start", {}), undefined)
  const steered = await pi.fire("input", { text: "context", source: "interactive", streamingBehavior: "steer" })
  assert.deepEqual(steered, { action: "transform", text: "context\n\nwith the prompt" })
})

test("context of the start and of a compaction is in every request", async () => {
  const pi = await session("open")
  assert.equal(await pi.fire("context", { messages: [] }), undefined)
  await pi.fire("session_start", { reason: "new" })
  await pi.fire("session_compact", { reason: "threshold" })
  await pi.fire("session_compact", { reason: "threshold" })
  for (let i = 0; i < 2; i++) {
    const { messages } = await pi.fire("context", { messages: [{ role: "user" }] })
    assert.deepEqual(messages.map((message) => message.content), ["begun: clear\n\nafter a compaction", undefined])
  }
})

test("a compaction is cancelled", async () => {
  const pi = await session("open")
  assert.deepEqual(await pi.fire("session_before_compact", { reason: "manual" }), { cancel: true })
  assert.equal(await pi.fire("session_before_compact", { reason: "overflow" }), undefined)
})

test("a denied stop goes on as often as the limit says, and after a prompt again", async () => {
  const pi = await session("open")
  const said = { messages: [{ role: "assistant", content: [{ type: "text", text: "unfinished" }], stopReason: "stop" }] }
  for (let i = 0; i < 4; i++) await pi.fire("agent_end", said)
  assert.equal(pi.sent.length, 2)
  assert.equal(pi.sent[0][0].content, "go on")
  assert.equal(pi.sent[0][1].deliverAs, "followUp")
  await pi.fire("input", { text: "more", source: "interactive" })
  await pi.fire("agent_end", said)
  assert.equal(pi.sent.length, 3)
  for (const stopReason of ["aborted", "error"]) await pi.fire("agent_end", { messages: [{ ...said.messages[0], stopReason }] })
  assert.equal(pi.sent.length, 3)
})

test("a handler that raises: open goes on, closed blocks", async () => {
  assert.equal(await (await session("open")).fire("tool_call", bash("raise")), undefined)
  assert.match((await (await session("closed")).fire("tool_call", bash("raise"))).reason, /blocked: fail=closed/)
})

for (const [fault, said] of [["missing", /cannot be started/], ["crash", /exit code 3/], ["signal", /SIGKILL/], ["slow", /no answer within 1 s/], ["garbage", /not JSON/], ["null", /not one of onehook/], ["list", /not one of onehook/], ["unknown", /not one of onehook/]]) {
  test(`a launcher that fails (${fault}): open goes on with a warning, closed blocks`, async () => {
    const open = await session(`${fault}-open`, true)
    assert.equal(await open.fire("tool_call", bash("ls")), undefined)
    assert.match(open.told[0][0], said)
    assert.equal(await open.fire("input", { text: "x", source: "interactive" }), undefined)
    const closed = await session(`${fault}-closed`, true)
    const refused = await closed.fire("tool_call", bash("ls"))
    assert.equal(refused.block, true)
    assert.match(refused.reason, said)
    assert.match(refused.reason, /blocked: fail=closed/)
    assert.deepEqual(await closed.fire("input", { text: "x", source: "interactive" }), { action: "handled" })
    const end = { messages: [{ role: "assistant", content: [], stopReason: "stop" }] }
    assert.equal(await closed.fire("agent_end", end), undefined)
    assert.equal(closed.sent.length, 0)
  })
}

test("an error of the extension itself blocks under fail closed", async () => {
  const closed = await session("closed", true)
  const input = { get command() { throw new Error("odd input") } }
  assert.match((await closed.fire("tool_call", call("bash", input))).reason, /odd input \(blocked: fail=closed\)/)
})

test("no process for an event or a tool that no handler wants", async () => {
  const narrow = await session("narrow")
  assert.equal(await narrow.fire("tool_call", call("read", { path: "a" })), undefined)
  assert.equal(await narrow.fire("input", { text: "x", source: "interactive" }), undefined)
  const { existsSync } = await import("node:fs")
  assert.equal(existsSync(`${FOLDER}/narrow/started`), false)
  await narrow.fire("tool_call", bash("ls"))
  assert.equal(existsSync(`${FOLDER}/narrow/started`), true)
})
