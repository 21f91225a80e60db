"""Programs that misbehave: each is stopped in time, and the result is reported."""

from __future__ import annotations

import os
import time

import pytest

from onehook.manifest import programs, programs_windows
from onehook.manifest.programs import Run

STAGES = {"posix_spawn": programs.run_all, "subprocess": programs_windows.run_all}


@pytest.fixture(params=STAGES, autouse=True)
def play(request):
    return STAGES[request.param]


def shell(script, stdin=b"", timeout=20.0):
    return Run([script], stdin, timeout, dict(os.environ), shell="/bin/sh")


def played(play, *runs, seconds=30.0):
    play(runs, seconds)
    return runs[0] if len(runs) == 1 else runs


def open_descriptors():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_output_input_and_exit_code_come_through(play):
    run = played(play, shell("cat; echo err >&2; exit 3", b"in \xc3\xa9\n"))
    assert (run.stdout, run.stderr, run.exit_code, run.problem) == (b"in \xc3\xa9\n", b"err\n", 3, "")


def test_arguments_are_never_seen_by_a_shell(play):
    run = played(play, Run(["printf", "%s", "$(id) ; ` *"], b"", 5, dict(os.environ)))
    assert run.stdout == b"$(id) ; ` *"


def test_a_large_input_and_a_program_that_does_not_read_it(play):
    big = b"x" * 3_000_000
    first, second = played(play, shell("wc -c", big), shell("exit 0", big))
    assert first.stdout.strip() == b"3000000"
    assert (second.exit_code, second.problem) == (0, "")


def test_a_missing_program_and_one_that_is_not_executable(play, tmp_path):
    (tmp_path / "plain").write_text("x")
    missing, named, plain = (
        Run([name], b"", 5, dict(os.environ)) for name in (str(tmp_path / "no"), "no-such-program-7461", str(tmp_path / "plain"))
    )
    played(play, missing, named, plain)
    assert "could not be started: No such file" in missing.problem
    assert "could not be started: No such file" in named.problem
    assert "could not be started: Permission denied" in plain.problem


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX shells")
@pytest.mark.parametrize(("name", "variables"), [("/bin/sh", {}), ("sh", {}), ("$SHELL", {"SHELL": "/bin/sh"}), ("$SHELL", {})])
def test_a_command_is_run_by_the_shell_that_is_named(name, variables):
    import pwd

    users = variables.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    run = Run(['echo "$0"'], b"", 5, variables, shell=name)
    programs.run_all([run], 10)
    assert (run.problem, run.stdout.decode().strip()) == ("", users if name == "$SHELL" else name)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX shells")
def test_a_shell_that_is_not_there_is_named():
    run = Run(["true"], b"", 5, dict(os.environ), shell="no-such-shell-7461")
    programs.run_all([run], 10)
    assert run.problem == "could not be started: No such file or directory: no-such-shell-7461"


def test_a_nul_in_a_word_is_an_error_like_any_other(play):
    assert "could not be started" in played(play, Run(["echo", "a\0b"], b"", 5, dict(os.environ))).problem


def test_a_program_that_hangs_is_killed_with_its_children(play, tmp_path):
    mark = tmp_path / "alive"
    run = played(play, shell(f"(sleep 2; touch {mark}) & sleep 60", timeout=0.3))
    assert run.problem == "took longer than 0.3 s"
    time.sleep(2.5)
    assert not mark.exists()


def test_the_time_of_the_whole_event_ends_programs_too_and_starts_no_more(play):
    runs = [shell("sleep 60") for _ in range(programs.AT_ONCE + 1)]
    played(play, *runs, seconds=0.5)
    assert all(run.problem.startswith("took longer than") for run in runs[: programs.AT_ONCE])
    assert runs[-1].problem == "was not started: no time left"


@pytest.mark.parametrize("redirect", ["", ">&2"])
def test_ten_megabytes_are_too_much(play, redirect):
    run = played(play, shell(f"head -c 10000000 /dev/zero {redirect}; sleep 60"))
    assert run.problem == "wrote more than 1 MB"


def test_one_megabyte_is_not_too_much(play):
    run = played(play, shell("head -c 1048576 /dev/zero"))
    assert (len(run.stdout), run.problem) == (1048576, "")


def test_a_child_left_behind_that_holds_the_output_is_not_waited_for(play):
    begun = time.monotonic()
    run = played(play, shell("sleep 30 & echo done"))
    assert (run.stdout, run.problem) == (b"done\n", "")
    assert time.monotonic() - begun < 20


def test_a_program_that_closes_its_output_and_hangs_ends_at_its_deadline(play):
    run = played(play, shell("exec >&- 2>&-; sleep 60", timeout=0.3))
    assert run.problem == "took longer than 0.3 s"


def test_death_by_a_signal_is_an_exit_code_as_a_shell_says_it(play):
    assert played(play, shell("kill -9 $$")).exit_code == 137


def test_programs_run_at_the_same_time(play, tmp_path):
    """Each waits for the other's mark, so running them one after the other would time out."""
    meet = "touch {0}/{1}; while [ ! -e {0}/{2} ]; do sleep 0.02; done"
    first, second = played(play, shell(meet.format(tmp_path, "a", "b"), timeout=10), shell(meet.format(tmp_path, "b", "a"), timeout=10))
    assert (first.problem, second.problem) == ("", "")


def test_at_most_so_many_run_at_once(play, tmp_path):
    script = f"touch {tmp_path}/$$; ls {tmp_path} | wc -l; sleep 0.3; rm {tmp_path}/$$"
    runs = played(play, *[shell(script) for _ in range(programs.AT_ONCE * 2)])
    assert max(int(run.stdout) for run in runs) <= programs.AT_ONCE
    assert not any(run.problem for run in runs)


def test_no_descriptor_is_left_open(play):
    played(play, shell("true"))
    before = open_descriptors()
    played(play, shell("echo x"), Run(["/no/such"], b"", 5, {}), shell("sleep 60", timeout=0.1), shell("sleep 5 &"))
    assert open_descriptors() == before


def test_a_closed_pipe_ends_a_program_as_it_would_in_a_terminal(play):
    run = played(play, shell("yes | head -n 1; echo ${PIPESTATUS:-ok}", timeout=5))
    assert run.stdout == b"y\nok\n"


def test_where_the_system_does_not_tell_of_an_end_it_is_looked_for(play, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert played(play, shell("echo x; sleep 0.2; echo y")).stdout == b"x\ny\n"
    assert played(play, shell("sleep 30 & echo done")).stdout == b"done\n"
