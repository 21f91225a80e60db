#!/usr/bin/env node
// Runs one scripted session on Cursor's own local runtime (the npm package @cursor/sdk): its session runner,
// its tools, its hook loader and executor. The model and Cursor's server are scripted. No account needed.
//
//   node driver.mjs JOB.json      (or the job on stdin)        one JSON result on stdout
//
// The job:
//   workspace, home, prompt
//   steps       what the agent does in the first turn; each step is one of
//               {call, input}     a tool call; for Task, input.steps are the subagent's own calls
//               {event, fields}   an event that Cursor's server fires; missing fields have defaults
//               {say}             the agent's answer (afterAgentResponse)
//               {message}         a raw protocol message (agent.v1.ExecServerMessage as JSON)
//   followups   [[steps], ...] for the turns that stop hooks start
//   package     the folder of @cursor/sdk; else $AGENTS/node_modules/@cursor/sdk
//   version     what hooks see as cursor_version (the SDK's own is 1.0.0)
//   mcp         {name, argv} or a list: stdio servers, beside those of .cursor/mcp.json
//   approve     the answer to approval requests; true, as the SDK's own approver gives
//   sources     ["project", "user"]
//   max_turns, timeout (seconds)   20, 60
//
// Exit code: 0 the session ran (read `ended`), 1 Cursor's runtime failed, 2 the job is wrong, 3 the package
// is missing or packed differently, 4 out of time.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";

import { ScriptedAgent } from "./agent.mjs";
import { openPackage, PartMissing } from "./package.mjs";
import { record } from "./recorder.mjs";
import { BadJob } from "./tools.mjs";

function readJob() {
  let job;
  try {
    job = JSON.parse(readFileSync(process.argv[2] ?? 0, "utf8"));
  } catch (error) {
    throw new BadJob(`the job cannot be read: ${error.message}`);
  }
  for (const key of ["workspace", "home", "prompt"])
    if (typeof job[key] !== "string") throw new BadJob(`the job needs "${key}" (a string)`);
  for (const key of ["workspace", "home"])
    if (!existsSync(job[key])) throw new BadJob(`${key} does not exist: ${job[key]}`);
  const agents = process.env.AGENTS && join(process.env.AGENTS, "node_modules/@cursor/sdk");
  const folder = job.package ?? agents;
  if (!folder)
    throw new BadJob(
      'the job needs "package" (the folder of @cursor/sdk), or AGENTS the folder it is installed in',
    );
  return {
    ...job,
    workspace: realpathSync(job.workspace),
    home: resolve(job.home),
    package: resolve(folder),
  };
}

// The package reads these while it loads.
function setEnvironment(job) {
  process.env.HOME = process.env.USERPROFILE = job.home;
  if (job.version) process.env.AGENT_CLI_STATIC_VERSION = job.version;
}

// stdout is for the result alone.
function captureLog() {
  const log = [];
  const text = (value) =>
    value instanceof Error ? value.message : typeof value === "string" ? value : JSON.stringify(value);
  for (const level of ["log", "info", "debug", "warn", "error"])
    console[level] = (...values) =>
      ["warn", "error"].includes(level) && log.push(`${level}: ${values.map(text).join(" ")}`);
  return log;
}

function useRipgrep(parts, packageDir) {
  const siblings = resolve(packageDir, "..");
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  const found = readdirSync(siblings)
    .map((entry) => join(siblings, entry, "bin", name))
    .find(existsSync);
  if (found) parts.shell.configureRipgrepPath(found);
}

function mcpServers(job) {
  const servers = [job.mcp ?? []].flat();
  return Object.fromEntries(
    servers.map(({ name, argv: [command, ...args] }) => [name, { type: "stdio", command, args }]),
  );
}

async function openWorkspace(parts, job, seen) {
  parts.treeSitter.configureVendoredTreeSitterWorkspaceDir(job.workspace);
  useRipgrep(parts, job.package);
  return parts.createWorkspace({
    workingDirectory: job.workspace,
    projectDir: parts.projectFolder(job.home, job.workspace),
    initializationCtx: parts.newContext(),
    settingSources: job.sources ?? ["project", "user"],
    mcpServers: mcpServers(job),
    // The SDK's own choice: payload on stdin. Its default approver says yes to everything.
    useCommandHookStdinTransport: true,
    pendingDecisionProvider: {
      async requestApproval(request) {
        seen.approvals.push({ type: String(request.type), approved: job.approve ?? true });
        return { approved: job.approve ?? true };
      },
    },
  });
}

function startSession(parts, job, { session, hooksRuntime, agent, conversation }) {
  const prompt = parts.Action.fromJson({ userMessageAction: { userMessage: { text: job.prompt } } });
  return parts.runSession(parts.newContext(), prompt, {
    agentClient: {
      run: (_context, _state, action, _reserved, _listener, resources) =>
        agent.turn(action.action.value?.userMessage?.text ?? "", resources),
    },
    interactionListener: { sendUpdate: async () => {}, query: async () => {} },
    resources: session.resources.wrapped,
    blobStore: {},
    initialState: {},
    conversationId: conversation,
    mcpTools: [],
    runOptions: {},
    hooks: parts.sessionHooks({
      workspaceRuntime: hooksRuntime,
      sessionState: session.state,
      metadata: session.metadata,
    }),
    nextAction: async () => undefined,
  });
}

async function runJob(job, parts, seen) {
  const workspace = await openWorkspace(parts, job, seen);
  const hooksRuntime = workspace.services.hooksRuntime;
  if (!hooksRuntime) throw new PartMissing("the hooks runtime of the workspace was not found");
  const executor = hooksRuntime.createSessionRuntime({}).hookExecutor;
  Object.assign(seen, record(executor));
  seen.config_errors = hooksRuntime.hooksConfig.errors.map((error) => `${error.source}: ${error.message}`);
  const conversation = randomUUID();
  const session = await workspace.createSessionRuntime({ sessionId: conversation });
  const agent = new ScriptedAgent({ parts, job, conversation, executor, seen });
  try {
    await startSession(parts, job, { session, hooksRuntime, agent, conversation }).done;
    seen.ended = seen.blocked.some(({ what }) => what === "prompt") ? "prompt-blocked" : "completed";
  } catch (error) {
    if (error instanceof BadJob) throw error;
    noteFailure(error, seen);
  } finally {
    await session.dispose();
  }
}

// The session runner ends with an error before the first turn only when a sessionStart hook said so.
function noteFailure(error, seen) {
  seen.error = error?.message ?? String(error);
  const beforeFirstTurn = seen.turns.length === 0;
  if (beforeFirstTurn) {
    seen.blocked.push({ what: "session", name: "sessionStart", by: "sessionStart", reason: seen.error });
  }
  seen.ended ??= beforeFirstTurn ? "session-blocked" : "error";
}

function print(result) {
  return new Promise((done) => process.stdout.write(`${JSON.stringify(result)}\n`, done));
}

async function main() {
  const log = captureLog();
  const seen = {
    ended: null,
    error: null,
    told: [],
    shown: [],
    blocked: [],
    approvals: [],
    turns: [],
    hooks: [],
    answers: [],
    config_errors: [],
    log,
  };
  try {
    const job = readJob();
    setEnvironment(job);
    const late = setTimeout(
      async () => {
        await print({ ...seen, ended: "timeout" });
        process.exit(4);
      },
      1000 * (job.timeout ?? 60),
    );
    const parts = await openPackage(job.package);
    seen.package = `@cursor/sdk@${parts.version}`;
    await runJob(job, parts, seen);
    clearTimeout(late);
    await print(seen);
    return 0;
  } catch (error) {
    if (!(error instanceof BadJob) && !(error instanceof PartMissing)) throw error;
    process.stderr.write(`cursor driver: ${error.message}\n`);
    return error instanceof BadJob ? 2 : 3;
  }
}

// The package starts processes of its own; a failure there ends a real session too.
process.on("uncaughtException", (error) => {
  process.stderr.write(`cursor driver: Cursor's runtime failed: ${error?.stack ?? error}\n`);
  process.exit(1);
});
process.exit(await main());
