"""What the plugin's tests need from a policy; each answer is named in the call."""

import os
from pathlib import Path

from onehook import Hooks, Response, allow, deny

hooks = Hooks()


@hooks.on("PreToolUse")
def before(event):
    said = str(event.tool_input)
    if "DENY" in said:
        return deny("not that", additional_context="try this", user_message="denied for you")
    if "REWRITE" in said:
        return Response(modified_input={"command": "echo changed"})
    if "CONTEXT" in said:
        return Response(additional_context="know this")
    if "ALLOW" in said:
        return allow()
    if "RAISE" in said:
        raise ValueError("boom")
    return None


@hooks.on("PreToolUse", tool="mcp__my-db__*")
def database(event):
    return deny(f"{event.mcp.server} {event.mcp.tool}")


@hooks.on("PostToolUse")
def after(event):
    if "MASK" in event.result.text:
        return Response(modified_output=lambda text: text.replace("MASK", f"*** exit {event.result.exit_code}"))
    return Response(additional_context=f"saw {event.tool_response}")


@hooks.on("PostToolUseFailure")
def failed(event):
    return Response(additional_context=f"failed with {event.error}")


@hooks.on("UserPromptSubmit")
def prompt(event):
    return deny("not now") if "DENY" in event.prompt else Response(additional_context=f"asked {event.prompt}")


@hooks.on("SessionStart")
def start(event):
    return Response(additional_context=f"started by {event.source}")


@hooks.on("SubagentStart")
def child(event):
    return Response(additional_context="you are a child")


@hooks.on("Stop")
def stop(event):
    return deny(f"go on, {event.last_assistant_message}")


@hooks.on("PreCompact")
def compact(event):
    return Response(additional_context="keep this")


@hooks.on("PermissionRequest")
def request(event):
    return allow() if "YES" in event.command else deny("no") if "NO" in event.command else None


@hooks.on("SessionEnd")
@hooks.on("SubagentStop")
def end(event):
    with Path(os.environ["ONEHOOK_TEST_LOG"]).open("a") as log:
        log.write(f"{event.event} {event.session_id}\n")
