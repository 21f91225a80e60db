// Tool calls as Cursor's server sends them, and its replies as text.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

/** The job asks for something that does not exist. */
export class BadJob extends Error {}

function writeMessage(path, fileText) {
  return { writeArgs: { path, fileText, returnFileContentAfterWrite: true } };
}

/** An edit that does not fit the file: the model is told, as by Cursor's server, and no tool runs. */
export class EditMisfit extends Error {}

// An edit reaches the machine as a Write of the whole new text; the protocol has no message for edits.
function editMessage({ file_path, old_string, new_string }, root) {
  const path = resolve(root, file_path);
  const text = existsSync(path) ? readFileSync(path, "utf8") : null;
  if (!text?.includes(old_string))
    throw new EditMisfit(`error: ${file_path} does not contain ${JSON.stringify(old_string)}`);
  return writeMessage(
    path,
    text.replace(old_string, () => new_string),
  );
}

// Tool (as hooks name it) -> the protocol message for a call with those inputs.
const CALLS = {
  Shell: (input, root) => ({
    shellStreamArgs: {
      command: input.command,
      workingDirectory: resolve(root, input.cwd ?? "."),
      timeout: input.timeout ?? 30000,
    },
  }),
  Read: (input, root) => ({ readArgs: { path: resolve(root, input.file_path) } }),
  Write: (input, root) => writeMessage(resolve(root, input.file_path), input.content ?? ""),
  Edit: editMessage,
  Delete: (input, root) => ({ deleteArgs: { path: resolve(root, input.file_path) } }),
  Grep: (input, root) => ({
    grepArgs: {
      pattern: input.pattern,
      path: resolve(root, input.file_path ?? "."),
      outputMode: input.output_mode ?? "content",
      ...(input.glob && { glob: input.glob }),
    },
  }),
  List: (input, root) => ({
    lsArgs: { path: resolve(root, input.file_path ?? "."), ignore: input.ignore ?? [] },
  }),
  ReadLints: (input, root) => ({ diagnosticsArgs: { path: resolve(root, input.file_path) } }),
  Fetch: (input) => ({ fetchArgs: { url: input.url } }),
  MCP: (input) => ({
    mcpArgs: {
      name: `${input.server}-${input.tool}`,
      toolName: input.tool,
      providerIdentifier: input.server,
      serverIdentifier: input.server,
      args: input.args ?? {},
    },
  }),
};

export const TOOLS = Object.keys(CALLS);

export function toolMessage(tool, input, root) {
  return CALLS[tool](input ?? {}, root);
}

// A reply holds one result, e.g. {readResult: {success: {...}}}, or {throw: {error}} when the tool failed.
function resultParts(replies) {
  return replies.flatMap((reply) => {
    const results = Object.entries(reply).filter(([kind]) => /(Result|Stream)$/.test(kind));
    const thrown = reply.throw ? [["error", reply.throw]] : [];
    return [...results.flatMap(([, result]) => Object.entries(result)), ...thrown];
  });
}

/** The refusal's text, or null when the call went through. Write reports a hook's deny as an error. */
export function refusalText(replies, denied) {
  const kinds = ["rejected", "permissionDenied", ...(denied ? ["error"] : [])];
  const refusal = resultParts(replies).find(([name]) => kinds.includes(name))?.[1];
  return refusal ? (refusal.reason ?? refusal.error ?? "(no reason given)") : null;
}

/** What the call returned, as text. A shell's output comes in pieces; the others answer once. */
export function resultText(replies) {
  const parts = resultParts(replies);
  const output = parts
    .filter(([name]) => name === "stdout" || name === "stderr")
    .map(([, piece]) => piece.data ?? "");
  const exit = parts.find(([name]) => name === "exit");
  if (exit) return `${output.join("")}[exit ${exit[1].code ?? 0}]`;
  return parts.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join("\n");
}

/** Contexts that hooks added: [{hookEventName, content}]. A shell sends them as a piece of its stream. */
export function hookContexts(replies) {
  return replies.flatMap((reply) => [
    ...(reply.hookAdditionalContexts ?? []),
    ...(reply.shellStream?.hookContext?.hookAdditionalContexts ?? []),
  ]);
}
