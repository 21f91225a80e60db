"""The policy of the plugin's tests."""

from onehook import Hooks

hooks = Hooks()


@hooks.on("PreToolUse", tool="Bash")
def command(event):
    if event.command == "raise":
        raise RuntimeError("broken")
    return {
        "deny this": {"decision": "deny", "reason": f"no: {event.command}", "additional_context": "seen before"},
        "question": {"decision": "ask", "reason": "really?"},
        "allowed": {"decision": "allow"},
        "rewrite": {"modified_input": {"command": "safe"}},
        "context": {"additional_context": "seen before"},
    }.get(event.command)


@hooks.on("PostToolUse")
def after(event):
    return {"modified_output": "masked"} if event.result.text == "secret" else {"additional_context": "seen after"}


@hooks.on("UserPromptSubmit")
def prompt(event):
    return {"decision": "deny", "reason": "not this"} if event.prompt == "deny me" else {"additional_context": "with the prompt"}


@hooks.on("SessionStart")
def start(event):
    return {"additional_context": f"begun: {event.source}"}
