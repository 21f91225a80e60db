from onehook import Hooks, deny

hooks = Hooks()


@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked by policy")
