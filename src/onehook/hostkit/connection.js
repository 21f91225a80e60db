// Resident mode: asks the warm process over its socket instead of starting a process. Output is passed on only once it is complete, so
// whenever there is any doubt the command can be run instead; its client starts a warm process for the next event.
// onehook/resident/inline.py is the other side, and describes the protocol.
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as net from "node:net"

const WORDS = COMMAND.slice(OPTIONS.client)
const PATIENCE = 1000 // milliseconds until the server has to be ready
const MAX_INLINE = 8 * 1024 * 1024
const HEAD = 15 // bytes before stdout and stderr
const NAME = 15 // bytes that the name of a process has
const AT_START = ["LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"]
const LINUX = process.platform === "linux"
const UMASK = process.umask() // once: reading it changes it for a moment, for every thread

function folderOf({ HOME, XDG_STATE_HOME, ONEHOOK_STATE_DIR }) {
  const base = XDG_STATE_HOME || (HOME && `${HOME}/.local/state`)
  const state = ONEHOOK_STATE_DIR || (base && `${base}/onehook`) || ""
  if (!state.startsWith("/")) throw new Error("no folder is known")
  return `${state}/resident`
}

/** The name of the server: the same as key_of() in onehook/resident/asking.py gives for a policy with an absolute path. */
const known = {}
function keyOf(env) {
  const text = [...WORDS.slice(0, 5), "", ...AT_START.map((name) => env[name] ?? "")].join("\0")
  if (known.text !== text) Object.assign(known, { text, key: hashed(Buffer.from(text)) })
  return known.key
}

function hashed(bytes) {
  let number = 0xcbf29ce484222325n // FNV-1a
  for (const byte of bytes) number = BigInt.asUintN(64, (number ^ BigInt(byte)) * 0x100000001b3n)
  return number.toString(16).padStart(16, "0")
}

function numbers(...values) {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, index) => bytes.writeUInt32LE(value, 4 * index))
  return bytes
}

function requestFor(stdin) {
  const variables = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  const body = Buffer.from([...WORDS, ...variables, ""].join("\0"))
  const cwd = Buffer.from(process.cwd())
  const head = [Buffer.from("OHI1"), numbers(body.length, UMASK, WORDS.length), body]
  return Buffer.concat([...head, crypto.randomBytes(16), numbers(cwd.length, stdin.length), cwd, stdin])
}

/** A descriptor of the folder of the sockets, if it belongs to this user and nobody else has access. */
function openFolder(path) {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants
  const folder = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const { uid, mode } = fs.fstatSync(folder)
  if (uid === process.geteuid() && !(mode & 0o077)) return folder
  fs.closeSync(folder)
  throw new Error("the folder is not the user's alone")
}

/** Whether the command's own interpreter sent this: only a process itself can take such a name. */
function isTheirs(pid, request, answer) {
  if (!LINUX) return true // the folder says it
  const [theirs, ours] = [`/proc/${pid}/exe`, WORDS[0]].map((path) => fs.statSync(path, { bigint: true }))
  const name = crypto.createHash("sha256").update(request).update(answer).digest("hex").slice(0, NAME)
  return theirs.dev === ours.dev && theirs.ino === ours.ino && fs.readFileSync(`/proc/${pid}/comm`, "latin1").trim() === name
}

/** Collects what the server sends: heard() returns the answer once it is complete, null before, and throws if anything is in doubt. */
class Hearing {
  constructor(request) {
    Object.assign(this, { request, pieces: [], size: 0, wanted: 5 })
  }

  get isReady() {
    return this.wanted >= HEAD
  }

  heard(piece) {
    this.pieces.push(piece)
    this.size += piece.length
    if (this.size < this.wanted) return null
    const said = Buffer.concat(this.pieces)
    this.pieces = [said]
    if (said[0] !== 0x52) throw new Error("not ready")
    this.wanted = HEAD
    if (said.length < HEAD) return null
    const [out, err] = [said.readUInt32LE(7), said.readUInt32LE(11)]
    this.wanted = HEAD + out + err
    if (said[5] !== 0x58 || this.wanted > MAX_ANSWER || said.length > this.wanted) throw new Error("not an answer")
    return said.length === this.wanted ? this.answer(said, out) : null
  }

  answer(said, out) {
    if (!isTheirs(said.readUInt32LE(1), this.request, said.subarray(5))) throw new Error("not the server's")
    return { code: said[6], stdout: said.toString("utf8", HEAD, HEAD + out), stderr: said.toString("utf8", HEAD + out) }
  }
}

/** The server's answer; undefined if there is any doubt. */
function served(stdin) {
  return new Promise((resolve, reject) => {
    if (!WORDS[4]?.startsWith("/") || stdin.length > MAX_INLINE) return reject(new Error("not for the server"))
    const [path, name, request] = [folderOf(process.env), `${keyOf(process.env)}.sock`, requestFor(stdin)]
    const folder = openFolder(path)
    const socket = net.connect({ path: LINUX ? `/proc/self/fd/${folder}/${name}` : `${path}/${name}` }) // the name of a socket must be short
    const hearing = new Hearing(request)
    const settle = (answer) => {
      if (!timers.length) return
      timers.splice(0).forEach(clearTimeout)
      fs.closeSync(folder)
      socket.destroy()
      resolve(answer)
    }
    const late = () => settle({ problem: `no answer within ${OPTIONS.timeout} s` })
    const impatient = () => setImmediate(() => hearing.isReady || settle()) // if the agent was busy, read first what has arrived by now
    const timers = [setTimeout(late, OPTIONS.timeout * 1000)]
    socket.on("connect", () => {
      timers.push(setTimeout(impatient, PATIENCE))
      socket.write(request)
    })
    socket.on("error", () => settle())
    socket.on("close", () => settle())
    socket.on("data", (piece) => {
      try {
        const answer = hearing.heard(piece)
        if (answer) settle(answer)
      } catch {
        settle()
      }
    })
  })
}

reach = async (payload) => {
  const begun = performance.now()
  const answer = await served(Buffer.from(JSON.stringify(payload))).catch(() => undefined)
  return answer ?? launch(payload, OPTIONS.timeout - (performance.now() - begun) / 1000)
}
