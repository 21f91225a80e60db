// Notes every hook that the package starts, and every merged answer, without changing either.
import { AsyncLocalStorage } from "node:async_hooks";

import { PartMissing } from "./package.mjs";

const METHODS = ["executeHookForStep", "executeCommandHook", "executeCommandScript"];

/** Watches the class of `executor`: all executors of the package share it. */
export function record(executor) {
  const shared = Object.getPrototypeOf(executor);
  const real = {};
  for (const name of METHODS) {
    if (typeof shared[name] !== "function")
      throw new PartMissing(`the method ${name} of the hook executor was not found`);
    real[name] = shared[name];
  }
  const hooks = [];
  const answers = [];
  const running = new AsyncLocalStorage();

  shared.executeHookForStep = async function (event, ...rest) {
    const answer = await real.executeHookForStep.call(this, event, ...rest);
    answers.push({ event, answer: answer ?? null });
    return answer;
  };
  // A hook that has used up its loop_limit passes here too, but no command is started for it.
  shared.executeCommandHook = function (event, script, cwd, env, request, source, ...rest) {
    const hook = { event, source, command: script.command, cwd, stdin: request };
    return running.run(hook, async () => {
      const outcome = await real.executeCommandHook.call(
        this,
        event,
        script,
        cwd,
        env,
        request,
        source,
        ...rest,
      );
      hook.answer = outcome.success ? outcome.data : null;
      return outcome;
    });
  };
  shared.executeCommandScript = async function (options) {
    const hook = running.getStore();
    hooks.push(hook);
    try {
      const ended = await real.executeCommandScript.call(this, options);
      Object.assign(hook, { exit_code: ended.exitCode, stdout: ended.stdout, stderr: ended.stderr });
      return ended;
    } catch (error) {
      Object.assign(hook, {
        exit_code: null,
        stdout: "",
        stderr: "",
        error: String(error?.message ?? error),
      });
      throw error;
    }
  };
  return { hooks, answers };
}
