"""Every hook of the corpus does the same on every agent as it does without onehook, or the difference is declared in the agent's table.

`python -m tests.guests.test_guests` prints how many cases agree.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from onehook.hosts import HOSTS, having, optional
from tests.guests.corpus import HOOKS, STOP_AGAIN, Fire, Hook
from tests.guests.running import NotThere, Seen, effects, event_on, expected_on, natively, sessions_of, through
from tests.host_folders import facts

_NO_AGENT_TYPE = "its tool calls do not tell the kind of agent that they come from"
_NO_TRANSCRIPT = "it has no transcript that onehook can read"


def _forgets(hook: Hook, host: str) -> bool:
    """Whether a hook expects to be told about a stop that was refused before, and this agent does not tell it."""
    if STOP_AGAIN not in hook.fires or host == hook.host:
        return False
    try:
        return not event_on(host, STOP_AGAIN, Path("/"), "", ("", "")).stop_hook_active
    except NotThere:
        return False


UNREAD = [host for host in HOSTS if host not in having("transcripts")]
# What an agent cannot do, beyond what its table says, by (hook, agent).
LIMITS: dict[tuple[str, str], str] = {
    **{("a count of calls in the transcript", host): _NO_TRANSCRIPT for host in UNREAD},
    **{("the last prompt, before a tool", host): _NO_TRANSCRIPT for host in UNREAD},
    **{
        ("a guard of one kind of agent", host): _NO_AGENT_TYPE
        for host in HOSTS
        if (config := optional(host, "config")) and "PreToolUse" not in config.TRAITS.agent_types
    },
    **{(hook.name, host): "its stop does not tell that one was refused before" for hook in HOOKS for host in HOSTS if _forgets(hook, host)},
    **{(name, host): why for host in HOSTS for name, why in facts(host).HOOK_LIMITS.items()},
}
IDS = [f"{hook.host}: {hook.name}" for hook in HOOKS]


def hosts_for(hook: Hook, number: int) -> list[str]:
    """The agents on which a hook is started for the event of this number: all for the first, two for events that it lets through."""
    own = [hook.host] if hook.host in HOSTS else []
    another = HOSTS[(crc32(hook.name.encode()) + number) % len(HOSTS)]  # by name: a new hook must not change the others
    return list(HOSTS) if number == 0 else list(dict.fromkeys([*own, another]))


def compared(hook: Hook, folder: Path, first: Seen) -> Iterator[tuple[str, Fire, Any, Any]]:
    """(agent, what happens, without onehook, through onehook) for each time the hook is started; None twice where it cannot be started.

    first: what it does on its own agent at its first event.
    """
    for number, fire in enumerate(hook.fires):
        native = natively(hook, fire, folder / f"native-{number}") if number else first
        for host in hosts_for(hook, number):
            try:
                event, seen = through(hook, fire, host, folder / f"{host}-{number}")
            except NotThere:
                yield host, fire, None, None
                continue
            wanted = native.answer if host == hook.host else expected_on(host, event, native.answer)
            yield host, fire, (effects(wanted), native.left), (effects(seen.answer), seen.left)


def test_there_are_enough_patterns_and_no_two_of_the_same_name() -> None:
    assert len(HOOKS) >= 60 and len(set(IDS)) == len(HOOKS)
    unseen = ["ONEHOOK_HOST", *filter(None, map(sessions_of, HOSTS))]
    assert not any(word in f"{hook.run}{hook.script}" for hook in HOOKS for word in unseen), "running.Starts takes it for granted"


@pytest.fixture(scope="module", params=HOOKS, ids=IDS)
def hook(request: pytest.FixtureRequest) -> Hook:
    """Scoped to the module: the tests of one hook run one after another, and share what it does on its own agent."""
    found: Hook = request.param
    return found


@pytest.fixture(scope="module")
def first(hook: Hook, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return natively(hook, hook.fires[0], tmp_path_factory.mktemp("first"))


@pytest.mark.slow
def test_a_hook_does_what_it_does_without_onehook(hook: Hook, tmp_path: Path, first: Seen) -> None:
    cases = list(compared(hook, tmp_path, first))
    differ = {(host, fire[:2]): (native, seen) for host, fire, native, seen in cases if native != seen}
    assert {key: value for key, value in differ.items() if (hook.name, key[0]) not in LIMITS} == {}
    limited = {host for host, fire, _, _ in cases if (hook.name, host) in LIMITS and (STOP_AGAIN not in hook.fires or fire == STOP_AGAIN)}
    assert limited == {host for host, _ in differ}, "a limit that is none any more"


@pytest.mark.slow
def test_a_hook_acts_on_its_own_agent(hook: Hook, first: Seen) -> None:
    """A pattern that does nothing would agree everywhere."""
    quiet = hook.name.endswith(("blocks nothing", "no output at all", "quiet answer", "approve"))
    assert quiet or effects(first.answer) or len(first.left) > 1


def main() -> None:
    agree = declared = absent = differ = 0
    for hook in HOOKS:
        with tempfile.TemporaryDirectory() as folder:
            first = natively(hook, hook.fires[0], Path(folder, "first"))
            for host, fire, native, seen in compared(hook, Path(folder), first):
                absent += native is None
                agree += native is not None and seen == native
                declared += seen != native and (hook.name, host) in LIMITS
                if seen != native and (hook.name, host) not in LIMITS:
                    differ += 1
                    print(f"{hook.host}: {hook.name} on {host}: {fire[0]} {fire[1]}\n    without {native}\n    through {seen}")
    print(f"{len(HOOKS)} hooks: {agree} cases agree, {declared} differ as declared, {differ} differ, {absent} have no such event or tool")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
