from cchooks import PreToolUseContext, create_context

context = create_context()
assert isinstance(context, PreToolUseContext)
if context.tool_name == "Bash" and "rm -rf" in context.tool_input.get("command", ""):
    context.output.deny("rm -rf is blocked by policy")
else:
    context.output.exit_success()
