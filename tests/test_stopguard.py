"""If a Stop handler always denies, the agent may stop after stop_limit rounds, on every host."""

from __future__ import annotations

import os
import subprocess

import pytest
from harness import ANY, HOSTS, ISOLATIONS, PATIENCE, STOP, continues, encoded, fire, launcher, spread, stop_payload

from onehook.hosts import load

ALWAYS = "return deny('run the tests')"


@pytest.fixture
def state(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def answered_stops(request):
    """Skipped where a stop takes no answer: nothing is denied there."""
    given = getattr(request.node, "callspec", None)
    host = given and (given.params.get("host") or given.params.get("name"))
    if host and load(host).caps(stop_of(host)).silent:
        pytest.skip(f"a stop of {host} takes no answer")


def stop_of(host):
    return load(host).parse(stop_payload(host), STOP[host])


def counts_itself(host):
    return stop_of(host).loop_count is not None


def limit_of(host):
    """How often a stop is denied by default: five times, or as often as the agent itself allows."""
    return min(5, stop_of(host)._stop_cap or 5)


def begins_anew(host):
    """Whether a stop after one that was let through is a new one: true where the host does not report that it is not the first."""
    return bool(stop_of(host).stop_chain)


def rounds(path, host, count, *arguments, session="s-1"):
    """One agent turn: the first stop is fresh, and each later one follows a denial."""
    results = []
    for number in range(count):
        payload = stop_payload(host, active=number > 0, session=session, loop_count=number)
        results.append(fire(path, payload, "--host", host, *arguments))
    return results


@spread(ISOLATIONS, names="isolation, host")
def test_a_stop_is_denied_five_times_in_a_row_and_then_let_go_with_a_warning(policy, host, isolation, state):
    limit = limit_of(host)
    results = rounds(policy(ALWAYS, event="Stop"), host, limit + 2, "--isolation", isolation)
    assert [continues(result, host) for result in results] == [True] * limit + [False, begins_anew(host)]
    whose = "stop_limit=5" if limit == 5 else "the agent's own limit"
    assert f"sent back to work {limit} times in a row; letting it stop ({whose})" in results[limit].stderr
    assert "letting it stop" not in "".join(result.stderr for result in results[:limit])


@pytest.mark.parametrize("host", [host for host in HOSTS if begins_anew(host)])
def test_a_host_that_does_not_say_it_is_told_by_the_count_that_the_agent_was_sent_back(policy, host, state):
    path = policy("return None if event.stop_hook_active else deny('run the tests')", event="Stop")
    results = [fire(path, stop_payload(host), "--host", host) for _ in range(4)]
    assert [continues(result, host) for result in results] == [True, False, True, False]


@spread(["the policy", "the command line"], names="where, host")
def test_the_limit_is_an_option(policy, host, state, where):
    options = {"options": "stop_limit=2"} if where == "the policy" else {}
    arguments = ("--stop-limit", "2") if where == "the command line" else ()
    results = rounds(policy(ALWAYS, event="Stop", **options), host, 4, *arguments)
    assert [continues(result, host) for result in results] == [True, True, False, begins_anew(host)]


def test_a_fresh_stop_starts_the_count_again(policy, host, state):
    path = policy(ALWAYS, event="Stop", options="stop_limit=2")
    for _ in range(3):
        assert [continues(result, host) for result in rounds(path, host, 3)] == [True, True, False]


def test_sessions_are_counted_apart(policy, host, state):
    path = policy(ALWAYS, event="Stop", options="stop_limit=1")
    assert [continues(result, host) for result in rounds(path, host, 2, session="one")] == [True, False]
    assert [continues(result, host) for result in rounds(path, host, 2, session="two/../\ud800")] == [True, False]


@pytest.mark.parametrize("host", [host for host in HOSTS if counts_itself(host)])
def test_a_host_that_counts_itself_needs_no_file(policy, state, host):
    rounds(policy(ALWAYS, event="Stop"), host, 2)
    assert not (state / "stops").exists()


def test_the_count_is_private(policy, state):
    rounds(policy(ALWAYS, event="Stop"), ANY, 2)
    (count,) = (state / "stops").iterdir()
    assert (state / "stops").stat().st_mode & 0o077 == 0
    assert count.read_text() == "2"


@pytest.mark.parametrize("kind", ["a file in the way", "a folder in the count's place", "no home"])
@pytest.mark.parametrize("name", [host for host in HOSTS if not counts_itself(host) and not begins_anew(host)])
def test_where_nothing_can_be_counted_one_round_is_all(policy, name, kind, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(blocked))
    path = policy(ALWAYS, event="Stop")
    if kind == "a file in the way":
        blocked.write_text("")
    elif kind == "no home":
        monkeypatch.setenv("ONEHOOK_STATE_DIR", "~/no such user's")
    else:
        rounds(path, name, 1)
        (count,) = (blocked / "stops").iterdir()
        count.unlink()
        count.mkdir()
    results = rounds(path, name, 3)
    assert [continues(result, name) for result in results] == [True, False, False]
    assert "the count cannot be stored in" in results[1].stderr


@pytest.mark.parametrize("content", [b"", b"x", b"\xff", b"-", b"9" * 5000], ids=["empty", "text", "bytes", "sign", "digits"])
def test_a_damaged_count_starts_again(policy, state, content):
    path = policy(ALWAYS, event="Stop", options="stop_limit=2")
    rounds(path, ANY, 1)
    (count,) = (state / "stops").iterdir()
    count.write_bytes(content)
    results = [fire(path, stop_payload(ANY, active=True)) for _ in range(3)]
    assert [continues(result, ANY) for result in results] == [True, True, False]


def test_processes_at_the_same_time_do_not_damage_the_count(policy, state):
    path = policy(ALWAYS, event="Stop", options="stop_limit=1000")
    words = launcher(path, "--host", ANY)
    for _ in range(3):
        hooks = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
        for hook in hooks:
            hook.communicate(encoded(stop_payload(ANY, active=True)), timeout=PATIENCE)
        assert [hook.returncode for hook in hooks] == [2] * 6
    (count,) = (state / "stops").iterdir()
    assert 3 <= int(count.read_text()) <= 18


def test_letting_go_is_not_counted(policy, host, state):
    path = policy("return None if event.stop_hook_active else deny('run the tests')", event="Stop")
    results = rounds(path, host, 2)
    assert [continues(result, host) for result in results] == [True, False]
    assert "letting it stop" not in results[1].stderr


def test_a_home_that_is_not_known_makes_no_folder_called_tilde(policy, monkeypatch, tmp_path):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", "")
    monkeypatch.setenv("XDG_STATE_HOME", "~")
    fire(policy(ALWAYS, event="Stop"), stop_payload(ANY), cwd=tmp_path)
    assert not (tmp_path / "~").exists()


def test_old_counts_are_swept_by_a_policy_that_keeps_no_state_of_its_own(policy, state):
    host = next(host for host in HOSTS if not counts_itself(host))
    old, young = state / "stops" / "old", state / "stops" / "young"
    old.parent.mkdir(parents=True)
    for path in (old, young):
        path.write_text("1")
    os.utime(old, (0, 0))
    rounds(policy(ALWAYS, event="Stop"), host, 1)
    assert young.exists() and not old.exists()
