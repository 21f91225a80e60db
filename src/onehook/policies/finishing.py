"""session_briefing, tests_before_stop and run_before_stop: how a session begins, and when it may end."""

from __future__ import annotations

from onehook.core import Hooks, Response, deny, wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onehook.core import Event

_KEY, _RUN_KEY = "onehook.tests_before_stop", "onehook.run_before_stop"
_SHOWN = 3000  # characters of a command's output


def session_briefing(text: str | Callable[[Event], str | None]) -> Hooks:
    """Give the model context at the start of every session: a string, or a function of the event that returns one (or None)."""
    if not isinstance(text, str) and not callable(text):
        raise TypeError(f"expected a string or a function of the event, not {type(text).__name__}")
    hooks = Hooks()

    @hooks.on("SessionStart")
    def briefing(event: Event) -> Response | None:
        told = text if isinstance(text, str) else text(event)
        return Response(additional_context=told) if told else None

    return hooks


def tests_before_stop(*commands: Sequence[str], paths: str | Iterable[str] = "*", must_pass: bool = False) -> Hooks:
    """Keep the agent working when it wants to stop and files have changed since the tests last ran.

    commands   the commands that run the tests, each as a list of words: tests_before_stop(["make", "test"], ["pytest"])
    paths      which changed files count: "*.py", or several patterns
    must_pass  ignore runs that the agent reports as failed

    Only edits by the agent's file tools count. The agent runs the tests, never this policy.
    """
    wanted = [tuple(words) for words in commands]
    if not wanted or any(isinstance(words, str) or not words for words in commands):
        raise ValueError('give each command as a list of words: tests_before_stop(["make", "test"])')
    patterns = (paths,) if isinstance(paths, str) else tuple(paths)
    shown = " or ".join(f"`{' '.join(words)}`" for words in wanted)
    hooks = Hooks()

    @hooks.on("PostToolUse")
    def note_edits_and_runs(event: Event) -> None:
        if any(_matches(path, patterns) for path in _changed(event)):
            _remember(event, "changed")
        elif event.command and _runs(event.command, wanted):
            _remember(event, "run")

    @hooks.on("PostToolUseFailure", tool="Bash")
    def note_failed_runs(event: Event) -> None:
        if _runs(event.command, wanted):
            _remember(event, "failed" if must_pass else "run")

    @hooks.on("Stop")
    def tests_have_run(event: Event) -> Response | None:
        state = event.session.get(_KEY)
        if state == "changed":
            return deny(f"files have changed since the tests last ran: run {shown}, fix what fails, then finish")
        return deny(f"the last run of {shown} failed: fix what fails and run it again, then finish") if state == "failed" else None

    return hooks


def run_before_stop(*commands: Sequence[str], paths: str | Iterable[str] = "*", timeout: float = 120) -> Hooks:
    """When the agent wants to stop and files have changed, run these commands, and keep it working until all of them pass.

    commands  each as a list of words, run in the agent's folder, without a shell: run_before_stop(["make", "test"])
    paths     which changed files count: "*.py", or several patterns
    timeout   seconds for all commands together

    Unlike tests_before_stop, the policy runs them itself, so that nothing depends on what the agent reports about a run. In a rules file,
    set `timeout` there too if they need more than 20 s.
    """
    wanted = [list(words) for words in commands]
    if not wanted or any(isinstance(words, str) or not words for words in commands):
        raise ValueError('give each command as a list of words: run_before_stop(["make", "test"])')
    patterns = (paths,) if isinstance(paths, str) else tuple(paths)
    hooks = Hooks(timeout=timeout + 10)

    @hooks.on("PostToolUse")
    def note_changes(event: Event) -> None:
        if any(_matches(path, patterns) for path in _changed(event)):
            _remember(event, "changed", _RUN_KEY)

    @hooks.on("Stop")
    def commands_pass(event: Event) -> Response | None:
        import os

        if event.session.get(_RUN_KEY) != "changed" or os.environ.get("ONEHOOK_REPLAY"):
            return None
        why = _first_failure(wanted, event.cwd, timeout)
        if why:
            return deny(why)
        event.session[_RUN_KEY] = "passed"
        return None

    return hooks


def _first_failure(commands: list[list[str]], cwd: str, timeout: float) -> str:
    import os
    import subprocess
    import time

    end = time.monotonic() + timeout
    for words in commands:
        shown = " ".join(words)
        try:
            done = subprocess.run(
                words,
                cwd=cwd if os.path.isdir(cwd) else None,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=max(0.1, end - time.monotonic()),
                check=False,
            )
        except OSError as error:
            return f"`{shown}` could not be started: {error.strerror}"
        except subprocess.TimeoutExpired:
            return f"`{shown}` took longer than {timeout:g} s"
        if done.returncode:
            tail = done.stdout.decode("utf-8", "replace").strip()[-_SHOWN:]
            return f"`{shown}` failed (exit {done.returncode}); fix it before you finish:\n{tail}"
    return ""


# The function's name begins with "test": without this, pytest would collect it wherever it is imported.
tests_before_stop.__test__ = False  # type: ignore[attr-defined]


def _changed(event: Event) -> list[str]:
    return [change.to or change.path for change in event.changes]


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    name = path.replace("\\", "/").rpartition("/")[2]
    return any(wildcard(pattern, name) or wildcard(pattern, path) for pattern in patterns)


def _remember(event: Event, what: str, key: str = _KEY) -> None:
    if event.session.get(key) != what:  # reading is cheaper than writing, and most edits follow an edit
        event.session[key] = what


def _runs(command: str, wanted: list[tuple[str, ...]]) -> bool:
    """Whether one of the commands runs anywhere in the text. Options may be between and after its words."""
    if not any(words[0] in command for words in wanted):
        return False
    from onehook.policies.shell import parse

    return any(_is_call(found.name, list(map(str, found.argv)), words) for found in parse(command).commands for words in wanted)


def _is_call(name: str, argv: list[str], words: tuple[str, ...]) -> bool:
    if not argv or words[0] not in (name, argv[0]):
        return False
    rest = iter(argv[1:])
    return all(word in rest for word in words[1:])
