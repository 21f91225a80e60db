// The scripted agent: plays Cursor's server side of a turn. Tools and hooks are the package's own.
import { randomUUID } from "node:crypto";

import { BadJob, EditMisfit, hookContexts, refusalText, resultText, toolMessage, TOOLS } from "./tools.mjs";

// Events that the server can ask this machine to run (fields of agent.v1.ExecuteHookRequest, 1.0.32).
const SERVER_EVENTS = [
  "preCompact",
  "subagentStart",
  "subagentStop",
  "preToolUse",
  "postToolUse",
  "postToolUseFailure",
  "beforeSubmitPrompt",
  "afterAgentResponse",
  "afterAgentThought",
  "stop",
];

function camelKeys(answer) {
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [
      key.replace(/_(\w)/g, (_all, letter) => letter.toUpperCase()),
      value,
    ]),
  );
}

export class ScriptedAgent {
  constructor({ parts, job, conversation, executor, seen }) {
    Object.assign(this, { parts, job, conversation, executor, seen, count: 0 });
  }

  /** One turn, as the session runner asks for it. Follow-up turns take their steps from job.followups. */
  async turn(prompt, resources) {
    const index = this.seen.turns.length;
    if (index >= (this.job.max_turns ?? 20)) {
      this.seen.ended = "turn-limit";
      throw new Error(`stopped by the driver after ${index} turns: a stop hook kept asking for more`);
    }
    const turn = { prompt, calls: [], events: [] };
    this.seen.turns.push(turn);
    const steps = [...((index === 0 ? this.job.steps : this.job.followups?.[index - 1]) ?? [])];
    while (steps[0]?.event === "beforeSubmitPrompt")
      if (!(await this.event(steps.shift(), turn, resources))) return;
    this.tell(index === 0 ? "prompt" : "followup", prompt);
    for (const step of steps) if (!(await this.step(step, turn, resources))) return;
  }

  tell(kind, text, more = {}) {
    this.seen.told.push({ kind, text, ...more });
  }

  show(event, text) {
    if (text) this.seen.shown.push({ event, text });
  }

  block(what, name, by, reason) {
    this.seen.blocked.push({ what, name, by, reason: reason ?? null });
  }

  /** Runs one step; false ends the turn. */
  async step(step, turn, resources) {
    if (step.event) return this.event(step, turn, resources);
    if (step.say !== undefined)
      return this.event({ event: "afterAgentResponse", fields: { text: step.say } }, turn, resources);
    if (step.call === "Task") return this.task(step.input ?? {}, turn, resources);
    if (!step.message && !TOOLS.includes(step.call))
      throw new BadJob(`no such tool: ${step.call}; known: ${[...TOOLS, "Task"].join(", ")}`);
    try {
      await this.callTool(
        step,
        step.message ?? toolMessage(step.call, step.input, this.job.workspace),
        turn,
        resources,
      );
    } catch (error) {
      if (!(error instanceof EditMisfit)) throw error;
      this.tell("result", error.message, { tool: step.call });
    }
    return true;
  }

  async callTool(step, message, turn, resources) {
    const tool = step.call ?? Object.keys(message)[0];
    const answersBefore = this.seen.answers.length;
    const replies = await this.send(message, resources);
    const denial = this.seen.answers.slice(answersBefore).find(({ answer }) => answer?.permission === "deny");
    const refused = refusalText(replies, denial !== undefined);
    turn.calls.push({ call: tool, input: step.input ?? {}, refused: refused !== null, replies });
    if (refused !== null) this.block("tool", tool, denial?.event ?? null, refused);
    this.tell(refused === null ? "result" : "refused", refused ?? resultText(replies), { tool });
    for (const { hookEventName, content } of hookContexts(replies))
      this.tell("context", content, { event: hookEventName });
  }

  async send(message, resources) {
    this.count += 1;
    const [[kind, args]] = Object.entries(message);
    const callId = kind === "executeHookArgs" ? {} : { toolCallId: `call-${this.count}` };
    const wire = this.parts.ServerMessage.fromJson(
      {
        id: this.count,
        execId: `exec-${this.count}`,
        acceptHookAdditionalContexts: true,
        [kind]: { ...callId, ...args },
      },
      { ignoreUnknownFields: true },
    );
    const replies = [];
    for await (const reply of this.parts.toolCalls
      .fromResources(resources)
      .handle(this.parts.newContext(), wire))
      replies.push(reply.toJson());
    return replies.filter((reply) => !reply.streamClose && !reply.heartbeat);
  }

  /**
   * An event fired by the server; false ends the turn. The answer is acted on as its fields say. What Cursor's
   * server really does with it is not visible here, so what the model is told is marked as assumed.
   */
  async event({ event, fields: given = {} }, turn, resources) {
    const fields = { ...this.eventDefaults(event, turn), ...given };
    const answer = await this.fire(event, fields, resources);
    const assumed = { event, assumed: true };
    turn.events.push({ event, answer });
    if (event === "beforeSubmitPrompt" && answer.continue === false) {
      this.block("prompt", event, event, answer.userMessage);
      this.show(event, answer.userMessage);
      return false;
    }
    if (event === "preCompact") this.show(event, answer.userMessage);
    if (answer.permission === "deny" || (answer.permission === "ask" && event === "subagentStart")) {
      const reason = answer.userMessage ?? answer.agentMessage ?? `${event} was refused by a hook`;
      this.block(
        event === "subagentStart" ? "subagent" : "tool",
        fields.tool_name ?? fields.subagent_type ?? event,
        event,
        reason,
      );
      this.tell("refused", reason, assumed);
    }
    if (answer.additionalContext) this.tell("context", answer.additionalContext, assumed);
    if (answer.followupMessage) this.tell("followup", answer.followupMessage, assumed);
    return true;
  }

  async fire(event, fields, resources) {
    if (!this.parts.events.includes(event))
      throw new BadJob(`no such event: ${event}; known: ${this.parts.events.join(", ")}`);
    if (!SERVER_EVENTS.includes(event))
      return camelKeys((await this.executor.executeHookForStep(event, fields)) ?? {});
    const replies = await this.send({ executeHookArgs: { request: { [event]: fields } } }, resources);
    return replies.find((reply) => reply.executeHookResult)?.executeHookResult.response?.[event] ?? {};
  }

  eventDefaults(event, turn) {
    const common = { conversation_id: this.conversation, generation_id: this.conversation, model: "unknown" };
    const task = {
      subagent_id: "subagent-1",
      subagent_type: "generalPurpose",
      task: turn.prompt,
      parent_conversation_id: this.conversation,
    };
    const call = { tool_name: "Task", tool_input: { prompt: turn.prompt }, tool_use_id: "task-1" };
    const own = {
      beforeSubmitPrompt: { prompt: turn.prompt, attachments: [], composer_mode: "agent" },
      subagentStart: task,
      subagentStop: { ...task, status: "completed", summary: "done", loop_count: 0 },
      preToolUse: call,
      postToolUse: { ...call, tool_output: "{}" },
      postToolUseFailure: { ...call, error_message: "failed", failure_type: "error" },
      preCompact: {
        trigger: "auto",
        context_usage_percent: 90,
        context_tokens: 90000,
        context_window_size: 100000,
        message_count: 10,
        messages_to_compact: 5,
        is_first_compaction: true,
      },
      afterAgentResponse: { text: "done" },
      afterAgentThought: { text: "thinking" },
      stop: { status: "completed", loop_count: 0 },
    };
    return { ...common, ...own[event] };
  }

  /** A subagent. The server runs it and fires the events around it; `steps` are its own tool calls. */
  async task(
    { prompt = "help", subagent_type = "generalPurpose", steps = [], summary = "done" },
    turn,
    resources,
  ) {
    const id = randomUUID();
    const call = { tool_name: "Task", tool_input: { prompt, subagent_type }, tool_use_id: id };
    const child = { subagent_id: id, subagent_type, task: prompt, tool_call_id: id };
    const fire = (event, fields) => this.event({ event, fields }, turn, resources);
    const refusals = this.seen.blocked.length;
    await fire("preToolUse", call);
    if (this.seen.blocked.length === refusals) await fire("subagentStart", child);
    if (this.seen.blocked.length > refusals) {
      const { reason } = this.seen.blocked.at(-1);
      return fire("postToolUseFailure", {
        ...call,
        error_message: reason,
        failure_type: "permission_denied",
      });
    }
    for (const step of steps) await this.step(step, turn, resources);
    await fire("subagentStop", { ...child, status: "completed", summary, tool_call_count: steps.length });
    this.tell("result", summary, { tool: "Task" });
    return fire("postToolUse", { ...call, tool_output: JSON.stringify({ summary }) });
  }
}
