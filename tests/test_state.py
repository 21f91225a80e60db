"""event.session and event.project: kept, shared, bounded, and never lost to a crash or a race."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import MutableMapping
from pathlib import Path

import pytest
from harness import ANY, PACKAGE, assert_blocked, cold_fire, fire, tool_payload

from onehook.hostkit.reverse import sample
from onehook.state import MAX_BYTES, State, StateError
from onehook.sweep import DAYS, sweep

HEAD = f"import os, sys; sys.path.append({str(PACKAGE.parent)!r})\nfrom onehook.state import State\nstate = State('sessions', 'h', 's')\n"


def process(code, *arguments):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", HEAD + code, *arguments], **pipes)


@pytest.fixture
def state():
    return State("sessions", "h", "s")


@pytest.fixture
def folder():
    return Path(os.environ["ONEHOOK_STATE_DIR"])


def event(**fields):
    return sample("PreToolUse", "Bash", command="ls", **fields)


def test_it_is_a_mutable_mapping(state):
    assert isinstance(state, MutableMapping)
    state["a"] = {"list": [1, None, 2.5, "é\ud800"], "yes": True}
    assert state["a"] == {"list": [1, None, 2.5, "é\ud800"], "yes": True}
    state.update({"b": 1}, c=2)
    assert (dict(state), len(state), list(state)) == ({**state}, 3, ["a", "b", "c"])
    assert "b" in state and "z" not in state and state.get("z", 5) == 5
    assert state.setdefault("b", 9) == 1 and state.setdefault("d", 9) == 9
    assert state.pop("d") == 9 and state.pop("d", None) is None
    del state["a"]
    assert sorted(state.items()) == [("b", 1), ("c", 2)] and sorted(state.values()) == [1, 2] and state.keys() == {"b", "c"}
    assert state.popitem() in (("b", 1), ("c", 2))
    state.clear()
    assert state == {} and not state


def test_a_missing_key_is_a_key_error_and_changes_nothing(state):
    state["a"] = 1
    for failing in (lambda: state["z"], lambda: state.__delitem__("z"), lambda: state.pop("z")):
        with pytest.raises(KeyError):
            failing()
    assert state == {"a": 1}


def test_a_value_of_another_type_is_kept_although_it_compares_equal(state):
    state["a"] = 1
    state["a"] = True
    assert state["a"] is True


def test_increment_starts_at_nought_and_refuses_what_is_not_a_number(state):
    assert (state.increment("n"), state.increment("n", 2), state.increment("m", -0.5)) == (1, 3, -0.5)
    state["t"] = "text"
    state["yes"] = True
    for key in ("t", "yes"):
        with pytest.raises(StateError, match="is not a number"):
            state.increment(key)


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), b"bytes"])
def test_what_is_not_json_is_refused_and_the_old_value_stays(state, value):
    state["a"] = 1
    with pytest.raises(StateError, match="JSON"):
        state["a"] = value
    assert state == {"a": 1}


def test_a_key_that_is_not_a_string_is_refused(state):
    with pytest.raises(StateError, match="keys must be strings"):
        state[1] = 1


def test_too_much_is_refused_with_the_limit_and_the_old_values_stay(state):
    state["a"] = 1
    with pytest.raises(StateError, match="256 KB is the limit"):
        state["b"] = "x" * MAX_BYTES
    assert state == {"a": 1}
    state["b"] = "x" * (MAX_BYTES - 1000)
    assert len(state["b"]) == MAX_BYTES - 1000


def test_sessions_are_apart_and_a_session_is_found_again(tmp_path):
    first, other, second_host = event(session_id="s-1"), event(session_id="s-2"), event(session_id="s-1")
    second_host.host = "another"
    first.session["n"] = 1
    assert event(session_id="s-1").session == {"n": 1}
    assert other.session == {} and second_host.session == {}


@pytest.mark.parametrize("names", [("S-1", "s-1"), ("../../x", ".._.._x"), ("a" * 300, "a" * 301), ("é", "e"), ("a/b", "a_b"), ("", "_")])
def test_two_sessions_never_share_a_file_whatever_they_are_called(names, folder):
    for number, name in enumerate(names):
        State("sessions", "h", name)["n"] = number
    assert [State("sessions", "h", name)["n"] for name in names] == [0, 1]
    assert len(list((folder / "sessions").glob("*.json"))) == 2
    assert not list(folder.parent.glob("*.json"))


def test_without_a_session_the_project_stands_in(tmp_path):
    event(cwd=str(tmp_path)).session["n"] = 1
    assert event(cwd=str(tmp_path)).session == {"n": 1}
    assert event(cwd=str(tmp_path / "elsewhere")).session == {}


def test_a_project_is_the_repository_for_every_agent_and_folder_in_it(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    inner = event(cwd=str(tmp_path / "repo" / "src" / "deep"), session_id="a")
    inner.project["n"] = 1
    elsewhere = event(cwd=str(tmp_path / "repo"), session_id="b")
    elsewhere.host = "another"
    assert elsewhere.project == {"n": 1}
    assert event(cwd=str(tmp_path)).project == {}


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_only_the_owner_can_read_it(state, folder):
    before = os.umask(0o000)
    state["a"] = 1
    os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder / "sessions").iterdir()}
    assert set(modes.values()) == {0o600} and len(modes) == 2
    assert stat.S_IMODE((folder / "sessions").stat().st_mode) == 0o700


def test_twenty_processes_at_once_lose_nothing(state):
    crowd = [process("for _ in range(25): state.increment('n')\nstate[sys.argv[1]] = True", str(number)) for number in range(20)]
    for one in crowd:
        _, errors = one.communicate(timeout=60)
        assert (one.returncode, errors) == (0, b"")
    assert state["n"] == 500
    assert len(state) == 21


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_kill_in_the_middle_leaves_a_whole_state_and_no_lock(state):
    for _ in range(5):
        write = "n += 1; state.update(n=n, text='x' * 50_000, end=n)"
        writer = process(f"n = 0\n{write}\nprint(flush=True)\nwhile True: {write}")
        writer.stdout.readline()
        time.sleep(0.05)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        assert state["n"] == state["end"] and len(state["text"]) == 50_000
        state["n"] = state["end"] = 0  # would wait forever if the lock were still held


def test_a_damaged_file_is_put_aside_with_a_warning_and_the_state_starts_empty(state, folder, capfd):
    state["a"] = 1
    (path,) = (folder / "sessions").glob("*.json")
    for damage in (b'{"a": 1', b"\xff\x00", b"[1]", b"", b'{"a": 1}' + b" " * (5 * MAX_BYTES) + b"x"):
        path.write_bytes(damage)
        assert dict(state) == {}
        assert "was damaged, and starts again empty" in capfd.readouterr().err
        assert Path(f"{path}.corrupt").read_bytes() == damage
        state["b"] = 2
        assert state == {"b": 2}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(state, folder):
    folder.chmod(0o500)
    try:
        with pytest.raises(StateError, match="cannot be saved"):
            state["a"] = 1
    finally:
        folder.chmod(0o700)


def test_a_state_that_cannot_be_kept_blocks_under_fail_closed(policy, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    path = policy("event.session.increment('n')", options="fail='closed'")
    result = fire(path, tool_payload(ANY), "--host", ANY, env={"ONEHOOK_STATE_DIR": str(blocker)})
    assert_blocked(result, ANY, "event.session cannot be saved")


def test_a_handler_counts_across_processes(policy, tmp_path):
    path = policy("n = event.session.increment('calls')\nreturn deny(f'call {n}') if n == 3 else None")
    answers = [fire(path, tool_payload(ANY), "--host", ANY) for _ in range(3)]
    assert [answer.exit_code for answer in answers] == [0, 0, 2]
    assert "call 3" in answers[2].stdout


def test_old_states_are_swept_once_a_day_when_a_new_session_begins(folder):
    old, young = State("sessions", "h", "old"), State("sessions", "h", "young")
    old["a"] = young["a"] = 1
    long_ago = time.time() - (DAYS["sessions"] + 1) * 24 * 3600
    for path in (folder / "sessions").glob("h_old*"):
        os.utime(path, (long_ago, long_ago))
    (folder / "stops").mkdir()
    (folder / "stops" / "x").write_text("1")
    os.utime(folder / "stops" / "x", (long_ago, long_ago))
    State("sessions", "h", "new")["a"] = 1
    assert old == {"a": 1}, "swept again on the same day"
    os.utime(folder / "swept", (long_ago, long_ago))
    State("sessions", "h", "newer")["a"] = 1
    assert old == {} and young == {"a": 1}
    assert not (folder / "stops" / "x").exists()
    assert not list((folder / "sessions").glob("h_old*"))


def test_a_lock_that_is_held_is_not_swept(folder, state):
    state["a"] = 1
    lock = next((folder / "sessions").glob("*.lock"))
    holder = process("from onehook.lock import Lock\nwith Lock(sys.argv[1]): print(flush=True); sys.stdin.read()", str(lock))
    holder.stdout.readline()

    state_file = next((folder / "sessions").glob("*.json"))
    state_file.unlink()
    os.utime(lock, (0, 0))
    sweep(str(folder / "sessions"), time.time() - 1000)
    assert lock.exists()
    holder.kill()
    holder.communicate()
    sweep(str(folder / "sessions"), time.time() - 1000)
    assert not lock.exists()


def test_who_waits_for_a_lock_that_is_swept_away_locks_the_new_one(folder, state):
    state["n"] = 0
    lock = next((folder / "sessions").glob("*.lock"))
    with open(lock, "rb+") as held:
        from onehook.lock import try_acquire

        assert try_acquire(held.fileno())
        waiter = process("print(flush=True)\nstate.increment('n')")
        waiter.stdout.readline()
        time.sleep(0.1)
        lock.unlink()
        state.increment("n", 10)  # takes a new lock file, since the old one is gone
    waiter.communicate(timeout=30)
    assert state["n"] == 11


def test_nothing_of_it_is_imported_unless_it_is_used(policy):
    show = "import sys\nsys.stderr.write(str('onehook.state' in sys.modules))"
    assert "False" in cold_fire(policy(show), tool_payload(ANY), "--host", ANY).stderr
    assert "True" in cold_fire(policy("event.session\n" + show), tool_payload(ANY), "--host", ANY).stderr


def test_using_it_imports_nothing_from_the_ban_list(policy):
    from tests.test_hot_path import BANNED, SHOW, modules_of

    result = cold_fire(policy("event.session.increment('n')\nevent.project['x'] = 1\n" + SHOW), tool_payload(ANY), "--host", ANY)
    assert modules_of(result).isdisjoint(BANNED)


def test_the_file_is_plain_json(state, folder):
    state["a"] = "é"
    (path,) = (folder / "sessions").glob("*.json")
    assert path.name == "h_s.json"
    assert json.loads(path.read_text(encoding="ascii")) == {"a": "é"}
