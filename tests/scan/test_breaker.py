"""The circuit breaker, shared by several processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from onehook.scan.breaker import Breaker
from onehook.scan.cache import Cache
from onehook.scan.content import pieces_of
from onehook.scan.engine import Engine
from onehook.scan.model import Found, Sample, Verdict
from onehook.scan.settings import Settings
from tests.scan.service import SECRET, service

NAME = ("lakera", "0123456789abcdef")


def breaker(failures=3, pause=60.0, probing=60.0):
    return Breaker(NAME, failures, pause, probing)


def file_of(tmp_path):
    return tmp_path / "state" / "scanners" / "lakera_0123456789abcdef.json"


def age(tmp_path, seconds, *keys):
    """Make these times in the file that much older."""
    file = file_of(tmp_path)
    known = json.loads(file.read_text())
    file.write_text(json.dumps({**known, **{key: known[key] - seconds for key in keys}}))


def test_it_opens_after_failures_in_a_row_and_a_success_in_between_starts_again(tmp_path):
    for _ in range(2):
        breaker().failed("no")
    breaker().succeeded()
    for _ in range(2):
        breaker().failed("no")
    assert breaker().enter() == "closed"
    breaker().failed("HTTP 500")
    one = breaker()
    assert (one.enter(), one.why) == ("open", "HTTP 500")


def test_nothing_is_written_while_all_is_well(tmp_path):
    one = breaker()
    assert one.enter() == "closed"
    one.succeeded()
    assert not (tmp_path / "state").exists()


def test_after_the_pause_one_process_tries_and_the_others_wait(tmp_path):
    breaker(1).failed("no")
    age(tmp_path, 61, "opened")
    program = (
        "from onehook.scan.breaker import Breaker; import sys; sys.stdin.read(1);"
        "print(Breaker(('lakera', '0123456789abcdef'), 1, 60.0, 60.0).enter())"
    )
    started = [subprocess.Popen([sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)]
    for process in started:  # all of them have been started before the first continues
        process.stdin.write(b"x")
        process.stdin.flush()
    states = [process.communicate()[0].decode().strip() for process in started]
    assert sorted(states) == ["half-open"] + ["open"] * 5


def test_a_probe_that_fails_opens_it_again_and_one_that_succeeds_closes_it(tmp_path):
    breaker(1).failed("no")
    age(tmp_path, 61, "opened")
    one = breaker(1)
    assert one.enter() == "half-open"
    one.failed("again")
    assert breaker(1).enter() == "open"
    age(tmp_path, 61, "opened")
    two = breaker(1)
    assert two.enter() == "half-open"
    two.succeeded()
    assert breaker(1).enter() == "closed"


def test_a_probe_whose_process_died_is_taken_over(tmp_path):
    breaker(1).failed("no")
    age(tmp_path, 61, "opened")
    assert (breaker(1).enter(), breaker(1).enter()) == ("half-open", "open")
    age(tmp_path, 61, "probe")
    assert breaker(1).enter() == "half-open"


def test_a_clock_that_was_set_back_does_not_keep_it_open(tmp_path):
    breaker(1).failed("no")
    age(tmp_path, -3600, "opened")
    assert breaker(1).enter() == "half-open"


def test_failures_of_many_processes_are_all_counted():
    program = "from onehook.scan.breaker import Breaker; Breaker(('lakera', '0123456789abcdef'), 99, 60.0, 60.0).failed('no')"
    started = [subprocess.Popen([sys.executable, "-I", "-c", program]) for _ in range(5)]
    assert [process.wait() for process in started] == [0] * 5
    assert breaker(99).look()["failures"] == 5


def test_a_state_that_cannot_be_kept_does_not_stop_the_scan(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "file" / "below"))
    with service("lakera") as running:
        running.script = [500]
        settings = Settings("lakera", url=running.url)
        outcome = Engine(settings).scan([Sample("prompts", "p", pieces_of(SECRET))], 30)
        assert outcome.found and not outcome.error


def scanned(url, **given):
    settings = Settings("lakera", url=url, cache=0, **given)
    return Engine(settings).scan([Sample("prompts", "p", pieces_of("hello"))], settings.seconds)


def test_a_dead_scanner_costs_one_event_its_time_and_the_next_a_file_read():
    with service("lakera") as running:
        running.forever = "slow"
        first = scanned(running.url, seconds=2.0, failures=1)
        second = scanned(running.url, seconds=2.0, failures=1)
        assert "in time" in first.error and "not called" in second.error and "in time" in second.error
        assert len(running.requests) == 1 and (first.breaker, second.breaker) == ("open", "open")


def test_attempts_end_when_the_breaker_opens():
    with service("lakera") as running:
        running.forever = 500
        assert scanned(running.url, retries=5, failures=2).breaker == "open" and len(running.requests) == 2


# --- the cache -------------------------------------------------------------------------------------------------------------------


def test_the_same_content_is_scanned_once_and_the_cache_has_no_content(tmp_path):
    with service("lakera") as running:
        samples = [Sample("prompts", "p", pieces_of(f"key {SECRET}"))]
        first = Engine(Settings("lakera", url=running.url)).scan(samples, 30)
        running.forever = 500
        second = Engine(Settings("lakera", url=running.url)).scan(samples, 30)
        assert (first.requests, first.cached, second.requests, second.cached) == (1, 0, 0, 1)
        assert [one for _, one in first.found] == [one for _, one in second.found] != []
        (kept,) = (tmp_path / "state" / "scans").iterdir()
        assert SECRET not in kept.read_text() and (os.name == "nt" or kept.stat().st_mode & 0o077 == 0)
        another = Settings("lakera", url=running.url, options={"project_id": "other"}, retries=0)
        assert Engine(another).scan(samples, 30).error


def test_a_verdict_is_good_for_its_time_and_a_damaged_one_for_nothing(tmp_path):
    sample = Sample("prompts", "p", pieces_of("x"))
    cache = Cache("id", 100)
    cache.put(sample, Verdict([Found("a", 1, 2)], "S"))
    (file,) = (tmp_path / "state" / "scans").iterdir()
    known = cache.get(sample)
    assert (known.found, known.id) == ([Found("a", 1, 2)], "S")
    assert cache.get(Sample("results", "p", pieces_of("x"))) is None and Cache("other", 100).get(sample) is None
    file.write_text('{"found": 3}')
    assert cache.get(sample) is None
    cache.put(sample, Verdict())
    os.utime(file, (time.time() - 101, time.time() - 101))
    assert cache.get(sample) is None and Cache("id", 0).get(sample) is None
