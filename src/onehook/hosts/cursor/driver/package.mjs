// Finds the parts of an installed @cursor/sdk that run hooks, tools and sessions on this machine.
// The package is used as it is installed; nothing of it is written anywhere.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { register } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const RUNTIME = "../cursor-sdk-local-runtime/dist";
const PROTO = "../proto/dist/generated/agent/v1";

/** A part of the package that this driver needs was not where 1.0.32 has it. */
export class PartMissing extends Error {}

function bundlePath(packageDir) {
  const path = join(packageDir, "dist", "esm", "index.js");
  if (existsSync(path)) return path;
  throw new PartMissing(
    `@cursor/sdk is not installed: no ${path}. ` +
      "Install it with: npm install --ignore-scripts @cursor/sdk@1.0.32",
  );
}

// The bundle keeps its modules behind one lookup function, which it does not export.
async function openBundle(path) {
  const lookup = /function (\w+)\((\w+)\)\{var (\w+)=\w+\[\2\];if\(void 0!==\3\)return \3\.exports;/.exec(
    readFileSync(path, "utf8"),
  );
  if (!lookup) throw new PartMissing("the module lookup function of dist/esm/index.js was not found");
  const url = pathToFileURL(path).href;
  register("./expose.mjs", import.meta.url, { data: { url, local: lookup[1], exported: "onehookLookup" } });
  try {
    return (await import(url)).onehookLookup;
  } catch (error) {
    throw new PartMissing(`${path} cannot be loaded: ${String(error?.message ?? error).split("\n")[0]}`);
  }
}

async function loadChunks(table, path) {
  const ids = readdirSync(dirname(path))
    .filter((name) => /^\d+\.js$/.test(name))
    .map((name) => Number.parseInt(name, 10));
  await Promise.all(ids.map((id) => table.e(id)));
}

function quietly(test, value) {
  try {
    return test(value);
  } catch {
    return false;
  }
}

/** Opens the package and returns its parts by what they do (the packer shortens their names). */
export async function openPackage(packageDir) {
  const path = bundlePath(packageDir);
  const table = await openBundle(path);
  await loadChunks(table, path);
  const part = async (id) => {
    if (!table.m[id]) throw new PartMissing(`the module ${id} was not found`);
    return table(id);
  };
  const pick = async (id, what, test) => {
    const found = Object.values(await part(id)).find((value) => quietly(test, value));
    if (!found) throw new PartMissing(`${what} was not found in the module ${id}`);
    return found;
  };
  const onlyFunction = (id, what) => pick(id, what, (value) => typeof value === "function");
  const message = (file, name) =>
    pick(`${PROTO}/${file}`, `the message ${name}`, (type) => type.typeName === `agent.v1.${name}`);
  return {
    version: JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")).version,
    events: Object.keys(
      await pick(
        "../hooks/dist/index.js",
        "the list of events",
        (value) => value.preToolUse === "preToolUse",
      ),
    ),
    newContext: await pick(
      "../context/dist/core.js",
      "the call context",
      (make) => typeof make().withCancel === "function",
    ),
    createWorkspace: await onlyFunction(
      `${RUNTIME}/agent-host/default-local-workspace-runtime.js`,
      "the workspace runtime",
    ),
    runSession: await onlyFunction(`${RUNTIME}/agent-host/agent-session-runner.js`, "the session runner"),
    sessionHooks: await onlyFunction(
      `${RUNTIME}/agent-host/local-hooks-session-adapter.js`,
      "the session's hooks",
    ),
    toolCalls: await pick(
      "../agent-exec/dist/index.js",
      "the tool dispatcher",
      (type) => typeof type.fromResources === "function",
    ),
    ServerMessage: await message("exec_pb.js", "ExecServerMessage"),
    Action: await message("agent_pb.js", "ConversationAction"),
    shell: await part("../shell-exec/dist/index.js"),
    treeSitter: await part("./src/agent/native/vendored-tree-sitter.ts"),
    projectFolder: await pick(
      "../utils/dist/workspace-paths.js",
      "the project folder rule",
      (rule) => rule("/h", "/w/x") === "/h/.cursor/projects/w-x",
    ),
  };
}
