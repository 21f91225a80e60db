"""secrets: credentials in prompts, written files, commands and tool results."""

from __future__ import annotations

from onehook.core import Hooks, Response, deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from onehook.core import Event


def secrets(
    *,
    prompts: bool = True,
    writes: bool = True,
    commands: bool = True,
    results: bool = False,
    skip: Iterable[str] = (),
    allow_examples: bool = True,
) -> Hooks:
    """Stop credentials on their way to the model (prompts), into files (writes), and into commands, addresses and MCP calls (commands).

    results         mask credentials in tool results, before the model sees them; nothing is refused
    skip            formats to disable, by name (see the list in docs/policies.md)
    allow_examples  ignore placeholders and the sample keys of vendors' documentation
    """
    left_out = tuple(skip)
    if left_out:
        from onehook.policies.rule_names import check
        from onehook.policies.secret_formats import FORMATS

        check(left_out, tuple(FORMATS))
    hooks = Hooks()

    def found_in(text: str) -> str:
        if not text:
            return ""
        from onehook.policies.secret_formats import find_secrets

        found = find_secrets(text, allow_examples=allow_examples, skip=left_out)
        return found[0].kind if found else ""

    if prompts:

        @hooks.on("UserPromptSubmit")
        def secret_in_prompt(event: Event) -> Response | None:
            kind = found_in(event.prompt)
            reason = f"the prompt contains a credential ({kind}); remove it, and name the file or variable that contains it instead"
            return deny(reason, user_message=reason) if kind else None

    if results:

        def redacted(text: str) -> str:
            from onehook.policies.secret_formats import redact_secrets

            return redact_secrets(text, allow_examples=allow_examples, skip=left_out)

        @hooks.on("PostToolUse")
        @hooks.on("PostToolUseFailure")
        def secret_in_result(event: Event) -> Response:
            return Response(modified_output=redacted)

        @hooks.on("PreToolUse")
        def mask_in_write(event: Event) -> Response | None:
            """Deny writing a mask: a model that was shown one in a file would overwrite the credential with it."""
            for change in event.changes:
                if "[redacted: " in (change.new or ""):
                    return deny(
                        f"the new content of {change.path} has [redacted: ...] in it, which you were shown instead of a credential; "
                        "change the other lines only, and leave that one as it is"
                    )
            return None

    @hooks.on("PreToolUse")
    def secret_in_call(event: Event) -> Response | None:
        for where, text in _texts(event, writes, commands):
            kind = found_in(text)
            if kind:
                return deny(f"{where} contains a credential ({kind}); read it from the environment or a secret store instead")
        return None

    return hooks


def _texts(event: Event, writes: bool, commands: bool) -> Iterator[tuple[str, str]]:
    if writes:
        for change in event.changes:
            yield f"the new content of {change.path}", change.new or ""
    if commands:
        yield "the command", event.command
        yield "the URL", event.url
        if event.mcp is not None:
            yield f"the call to {event.mcp.name}", "\n".join(_strings(event.tool_input))


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, with its key, so that "password": "..." is recognised."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            for key, inner in item.items():
                waiting.append(f'{key}: "{inner}"' if isinstance(inner, str) else inner)
        elif isinstance(item, list):
            waiting += item
