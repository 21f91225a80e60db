"""The policy of plugin.test.mjs: what to do is in the command, the path, the prompt or the last message."""

from __future__ import annotations

from onehook import Hooks, Response, ask, deny

hooks = Hooks(stop_limit=2, timeout=20)


@hooks.on("PreToolUse")
def before(event):
    said = event.command or " ".join(event.paths)
    if "deny" in said:
        return deny("no: " + said)
    if "question" in said:
        return ask("really?")
    if "rewrite" in said:
        return Response(modified_input={"command": "safe"})
    if "context" in said:
        return Response(additional_context="seen before", user_message="to you")
    if "raise" in said:
        raise RuntimeError("broken")
    return None


@hooks.on("PostToolUse")
@hooks.on("PostToolUseFailure")
def after(event):
    if "secret" in event.result.text:
        return Response(modified_output="masked")
    return Response(additional_context="seen after") if "note" in event.result.text else None


@hooks.on("UserPromptSubmit")
def prompt(event):
    if "deny" in event.prompt:
        return deny("not this")
    return Response(additional_context="with the prompt") if "context" in event.prompt else None


@hooks.on("SessionStart")
def start(event):
    return Response(additional_context=f"begun: {event.source}")


@hooks.on("PostCompact")
def compacted(event):
    return Response(additional_context="after a compaction")


@hooks.on("PreCompact")
def compacting(event):
    return deny("keep it all") if event.native["trigger"] == "manual" else None


@hooks.on("Stop")
def stop(event):
    return deny("go on") if "unfinished" in event.last_assistant_message else None
