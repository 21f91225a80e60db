"""A policy as a user writes it; mypy --strict and pyright must accept it."""

from __future__ import annotations

from onehook import Change, Event, Hooks, Response, allow, ask, define_hook, deny, run

hooks = Hooks(fail="closed", timeout=5, ask_fallback="deny", cursor_ask_fallback="ask", on_unsupported="warn")
by_agent = Hooks(ask_fallback={"cursor": "ask"})


@hooks.on("PreToolUse", tool="Bash")
def guard(event: Event) -> Response | None:
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked by policy", user_message="blocked")
    return None


@hooks.on("PreToolUse", tool=["Write", "Edit"], host="claude|codex")
async def protect(event: Event) -> Response | None:
    changed: list[Change] = event.changes
    if any(change.path.endswith(".env") for change in changed):
        return ask("touches secrets")
    return allow(modified_input={"file_path": event.paths[0]}) if event.paths else None


@hooks.on("PreToolUse", tool="mcp__github__*")
def tools(event: Event) -> dict[str, str] | None:
    if event.mcp is not None and event.mcp.server == "github":
        return {"decision": "deny", "reason": event.mcp.tool}
    return None


other = define_hook({"Stop": lambda event: deny("run the tests") if not event.stop_hook_active else None}, fail="open")

if __name__ == "__main__":
    run(hooks, host="claude", timeout=3)
