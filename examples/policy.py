"""A sample policy that shows everything a handler can do. `make demo` runs it on captured payloads of each agent."""

from onehook import Hooks, allow, ask, deny, run

hooks = Hooks(fail="closed", timeout=10)


@hooks.on("SessionStart")
def brief(event):
    return {"additional_context": "This repository is formatted with ruff; run `make test` before you finish."}


@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked by policy")
    if ">" in event.command:
        return deny("write files with the file tool, not with a redirect", user_message="a shell redirect was blocked")
    if event.command.startswith("ls "):
        return allow(modified_input={"command": event.command + " || true"})


@hooks.on("PreToolUse", tool="Write|Edit")
def careful(event):
    if any(path.endswith(("b.txt", ".env")) for path in event.paths):
        return ask("this file is watched")


@hooks.on("PostToolUse", tool="Read")
def remind(event):
    return {"additional_context": "The file may have changed since you read it."}


@hooks.on("UserPromptSubmit")
def prompt(event):
    if "AKIA" in event.prompt:
        return deny("the prompt contains an AWS key", user_message="remove the AWS key from the prompt")


@hooks.on("Stop")
def finish(event):
    if not event.stop_hook_active:
        return deny("run `make test` before you finish")


if __name__ == "__main__":
    run(hooks)
