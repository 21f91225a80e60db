from agent_hooks import AgentHook, PermissionRequestEvent, build_permission_response
from agent_hooks.enums import DialogButton

app = AgentHook()


@app.permission()
def permission(hook_event: PermissionRequestEvent):
    # Its Claude Code route is PermissionRequest, so it gets that event; the work is the same.
    blocked = hook_event.tool_name == "Bash" and "rm -rf" in hook_event.tool_input.command
    return build_permission_response(DialogButton.DENY if blocked else DialogButton.ALLOW_ONCE, hook_event)
