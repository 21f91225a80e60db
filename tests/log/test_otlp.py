"""[telemetry] otlp: every line reaches the collector at least once, and no event waits for it."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import ANY, fire, tool_payload
from test_logger import entry_of

from onehook.cli import main
from onehook.core import Hooks, OnehookError, Options, UsageError
from onehook.log import flusher, wake
from onehook.log.flusher import Destination, destinations, flush
from onehook.log.reader import entries, log_folder
from onehook.logger import append, stamp
from onehook.logger import wake as woken
from onehook.rules.load import load_rules

POLICY = "/p/onehook.toml"


class Collector:
    """An OTLP/HTTP receiver. `refuse`: how many of the next requests for logs get an error."""

    scheme, enough = "http", 500

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.records, self.metrics, self.refuse, self.server = [], [], 0, None

    def start(self):
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                self.send_response(collector.take(self.path, body))
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def take(self, path, body):
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        if path == "/v1/metrics":
            self.metrics.append(ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0].metrics)
            return 200
        assert path == "/v1/logs"
        if self.refuse:
            self.refuse -= 1
            return 400
        told = ExportLogsServiceRequest.FromString(body).resource_logs
        self.records += [record for one in told for scope in one.scope_logs for record in scope.log_records]
        return 200

    def stop(self):
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    def ids(self):
        return [values(record)["log.record.uid"] for record in self.records]


class Program:
    """A receiver in a separate program, which is stopped with SIGKILL."""

    process = None

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


class Rotel(Program):
    """Rotel, an independent collector (PyPI), which prints what it receives, possibly after confirming it."""

    scheme, enough = "http", 700

    def __init__(self, folder):
        self.ports = {"http": free_port(), "grpc": free_port()}
        self.url = f"{self.scheme}://127.0.0.1:{self.ports[self.scheme]}"
        self.out = folder / "printed.txt"

    def start(self):
        program = Path(find_spec("rotel").origin).parent / "rotel-agent"
        places = [f"--otlp-{kind}-endpoint=127.0.0.1:{port}" for kind, port in self.ports.items()]
        words = [program, "start", "--exporter=blackhole", "--debug-log=logs", "--debug-log-verbosity=detailed", *places]
        with self.out.open("ab") as file:
            self.process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
        until(lambda: listens(self.ports[self.scheme]))

    def ids(self):
        return re.findall(r"log\.record\.uid: Str\((\w+)\)", self.out.read_text(encoding="utf-8", errors="replace"))


class RotelGrpc(Rotel):
    scheme = "grpc"


class SyslogNg(Program):
    """syslog-ng with its opentelemetry() source, which writes what it receives to a file."""

    scheme, enough = "grpc", 500

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.url = f"grpc://127.0.0.1:{self.port}"
        self.out = folder / "got.jsonl"
        (folder / "syslog-ng.conf").write_text(f"""@version: current
source otel {{ opentelemetry(port({self.port})); }};
destination file {{ file("{self.out}" template("$(format-json --scope all-nv-pairs --key .otel.*)\\n")); }};
log {{ source(otel); parser {{ opentelemetry(); }}; destination(file); }};
""")

    def command(self, *more):
        place = [
            f"--{name}={self.folder / 'sng'}{ending}" for name, ending in (("persist-file", ".p"), ("pidfile", ".pid"), ("control", ".c"))
        ]
        return ["syslog-ng", "--foreground", "--no-caps", f"--cfgfile={self.folder / 'syslog-ng.conf'}", *place, *more]

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: listens(self.port))

    def ids(self):
        text = self.out.read_text(encoding="utf-8", errors="replace") if self.out.exists() else ""
        return [entry["id"] for entry in entries() for _ in range(text.count(entry["id"]))]


@pytest.fixture
def collector(tmp_path):
    made = Collector(tmp_path)
    yield made
    made.stop()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def values(record):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in record.attributes}


def written(count, policy=POLICY, **fields):
    """Write this many lines to the log; returns their ids."""
    made = [entry_of(**{"policy": policy, "subject": f"command {number}", **fields}) for number in range(count)]
    for entry in made:
        append(entry, Options())
    return [entry["id"] for entry in made]


def destination(url, monkeypatch, policy=POLICY, since="2026-01-01T00:00:00.000Z"):
    """The destination that an event sets up for [telemetry], without starting a flusher."""
    with monkeypatch.context() as patch:
        patch.setattr(wake.os, "posix_spawn", lambda *_, **__: 0)
        assert woken(url, policy, since) == ""
    (found,) = [one for one in destinations() if one.url == url]
    return found


def points(metrics, name):
    (metric,) = [one for one in metrics if one.name == name]
    return {
        values(point).get("onehook.outcome", ""): point
        for point in (metric.sum if metric.HasField("sum") else metric.histogram).data_points
    }


def test_an_event_is_answered_and_its_line_arrives_by_a_process_of_its_own(tmp_path, collector):
    collector.start()
    policy = tmp_path / "policy.py"
    policy.write_text(
        f"from onehook import Hooks, deny\nhooks = Hooks(telemetry={{'otlp': {collector.url!r}}})\n"
        "@hooks.on('PreToolUse')\ndef guard(event):\n    return deny('no such thing')\n"
    )
    fire(policy, tool_payload(ANY, "ls"), "--host", ANY)
    until(lambda: collector.records)
    (record,) = collector.records
    (entry,) = entries()
    told = values(record)
    assert record.body.string_value.startswith("deny: ") and record.event_name == "gen_ai.security.finding"
    assert told["log.record.uid"] == entry["id"] and told["gen_ai.agent.name"] == ANY
    assert told["gen_ai.security.action.type"] == "block" and told["gen_ai.security.policy.rule.id"] == "guard"
    assert told["gen_ai.security.policy.id"] == str(policy) and json.loads(told["onehook.by"]) == entry["by"]
    assert record.time_unix_nano % 1_000_000_000 // 1_000_000 == int(entry["time"][-4:-1])
    # It exits by itself, and leaves nothing behind that would keep an event from starting the next one.
    until(lambda: not list(Path(log_folder()).glob("*.awake")))


def test_while_it_shows_signs_of_life_no_second_one_is_started(monkeypatch):
    started = []
    monkeypatch.setattr(wake, "start", lambda *words: started.append(words[0]) or Path(f"{words[0]}.awake").touch())
    Path(log_folder()).mkdir(parents=True)
    for _ in range(3):
        assert woken("http://127.0.0.1:1", POLICY, stamp(time.time())) == ""
    assert len(started) == 1
    long_ago = time.time() - 31
    os.utime(f"{started[0]}.awake", (long_ago, long_ago))
    woken("http://127.0.0.1:1", POLICY, stamp(time.time()))
    assert len(started) == 2


def test_what_cannot_be_started_is_told_and_the_line_is_kept(monkeypatch):
    monkeypatch.setattr(wake, "start", lambda *_: 1 / 0)
    assert "is not sent to http://127.0.0.1:1: ZeroDivisionError" in woken("http://127.0.0.1:1", POLICY, "")


def test_nothing_is_lost_while_the_collector_is_down(collector, monkeypatch):
    ids = written(1200)
    one = destination(collector.url, monkeypatch)
    with pytest.raises(OnehookError, match="did not confirm"):
        flush(one, 0)
    (one,) = destinations()
    assert one.places == {} and one.behind() == 1200 and "did not confirm" in one.problem
    collector.start()
    assert flush(one, 0) == 1200
    assert collector.ids() == ids
    (one,) = destinations()
    assert one.behind() == 0 and one.problem == "" and one.sent == 1200


def test_a_batch_that_was_refused_is_sent_again_and_the_others_are_not(collector, monkeypatch):
    collector.start()
    first = written(512)
    one = destination(collector.url, monkeypatch)
    flush(one, 0)
    later = written(600)
    collector.refuse = 1
    with pytest.raises(OnehookError):
        flush(one, 0)
    assert collector.ids() == first
    flush(one, 0)
    assert collector.ids() == first + later


def test_a_flusher_that_is_killed_after_the_collector_had_the_lines_sends_them_again(collector, monkeypatch):
    collector.start()
    ids = written(3)
    one = destination(collector.url, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(Destination, "save", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            flush(one, 0)
    flush(one, 0)
    assert collector.ids() == ids + ids


@pytest.mark.parametrize("kind", [Collector, Rotel, RotelGrpc, SyslogNg])
def test_every_line_arrives_though_the_collector_dies_in_the_middle(kind, tmp_path, monkeypatch):
    if issubclass(kind, Rotel) and not find_spec("rotel"):
        pytest.skip("rotel is not installed (`make fleet` installs it)")
    if kind is SyslogNg:
        if shutil.which("syslog-ng") is None:
            pytest.skip("syslog-ng is not installed")
        if subprocess.run(SyslogNg(tmp_path).command("--syntax-only"), capture_output=True).returncode:
            pytest.skip("this syslog-ng was built without its opentelemetry() source")
    receiver = kind(tmp_path)
    one = destination(receiver.url, monkeypatch)
    process = None
    try:
        receiver.start()
        ids = written(700)
        process = subprocess.Popen([sys.executable, "-c", "import sys; from onehook.log.flusher import main; main(sys.argv[1])", one.name])
        until(lambda: len(set(receiver.ids())) >= receiver.enough)
        receiver.stop()
        ids += written(700)
        until(lambda: destinations()[0].problem)  # it has noticed that the collector is down
        receiver.start()
        until(lambda: set(receiver.ids()) == set(ids))
        assert process.wait(60) == 0
    finally:
        receiver.stop()
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
    assert destinations()[0].behind() == 0


def test_only_one_sends_at_a_time(collector, monkeypatch):
    one = destination(collector.url, monkeypatch)
    with one.lock(0):
        assert one.running()
        with pytest.raises(OnehookError, match="lock"):
            flush(one, 0)
    assert not one.running()


def test_only_lines_of_the_policy_that_names_the_collector_are_sent(collector, monkeypatch):
    collector.start()
    mine = written(2)
    written(2, policy="/q/onehook.toml", reason=f'"policy": "{POLICY}"')
    one = destination(collector.url, monkeypatch)
    flush(one, 0)
    assert collector.ids() == mine


def test_lines_from_before_it_was_set_up_are_not_sent(collector, monkeypatch):
    collector.start()
    now = time.time()
    written(2, time=stamp(now - 100))
    ids = written(1, time=stamp(now))
    flush(destination(collector.url, monkeypatch, since=stamp(now)), 0)
    assert collector.ids() == ids


def test_the_place_continues_from_file_to_file_and_waits_for_the_end_of_a_line(collector, monkeypatch):
    collector.start()
    folder = Path(log_folder())
    ids = written(2, time="2026-03-01T10:00:00.000Z") + written(2, time="2026-03-02T10:00:00.000Z")
    one = destination(collector.url, monkeypatch)
    flush(one, 0)
    whole = (folder / "2026-03-02.jsonl").read_bytes().splitlines(keepends=True)[-1].replace(ids[-1].encode(), b"half-a-line")
    with (folder / "2026-03-02.2.jsonl").open("wb") as file:
        file.write(whole[:50])
        file.flush()
        flush(one, 0)
        assert collector.ids() == ids
        file.write(whole[50:])
    flush(one, 0)
    assert collector.ids() == [*ids, "half-a-line"]


def test_metrics_tell_all_of_it_each_time_so_that_what_is_sent_twice_counts_once(collector, monkeypatch):
    collector.start()
    rule = {"kind": "rule", "name": "core.rm-broad", "said": "deny"}
    written(3, by=[rule], ms=40.0)
    now = time.time()
    Path(log_folder(), f"{stamp(now)[:10]}.quiet").write_text(f"{now:.3f} {ANY} Stop - 2.00 /x\n{now:.3f} {ANY} Stop - 4.00 /x\n")
    one = destination(collector.url, monkeypatch)
    flush(one, 0)
    written(1, by=[rule], ms=3000.0)
    flush(one, 0)
    flush(one, 0)
    assert len(collector.metrics) == 2  # nothing is sent if nothing is new
    counted = points(collector.metrics[-1], "onehook.events")
    assert {outcome: point.as_int for outcome, point in counted.items()} == {"deny": 4, "none": 2}
    assert values(counted["deny"])["gen_ai.security.policy.rule.id"] == "core.rm-broad"
    (times,) = points(collector.metrics[-1], "onehook.event.duration").values()
    assert (times.count, times.min, times.max) == (6, 0.002, 3.0) and list(times.bucket_counts)[:4] == [2, 0, 0, 3]


def test_without_the_sdk_the_package_is_named(monkeypatch):
    written(1)
    one = destination("http://127.0.0.1:1", monkeypatch)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    flusher.main(one.name)
    shown = CliRunner().invoke(main, ["telemetry"]).output
    assert "pip install 'onehook[otlp]'" in shown and "waiting  1 lines" in shown
    assert os.stat(f"{one.name}.awake").st_mtime > time.time() + 60  # so that not every event tries again


def test_status_flush_and_doctor_show_what_waits(collector, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    written(2)
    destination(collector.url, monkeypatch)
    (told,) = json.loads(CliRunner().invoke(main, ["telemetry", "--json"]).output)
    assert told["behind"] == 2 and told["sent"] == 0 and not told["running"]
    assert f"2 lines of the log are waiting to be sent to {collector.url}" in CliRunner().invoke(main, ["doctor", "--no-fire"]).output
    collector.start()
    assert CliRunner().invoke(main, ["telemetry", "flush"]).output == f"{collector.url}: 2 lines sent\n"
    assert f"the log is sent to {collector.url}, 2 lines so far" in CliRunner().invoke(main, ["doctor", "--no-fire"]).output
    collector.stop()
    written(1)
    failed = CliRunner().invoke(main, ["telemetry", "flush"])
    assert failed.exit_code == 1 and "did not confirm 1 lines" in failed.output


def test_a_rules_file_sets_it_and_a_wrong_address_is_an_error_at_its_line(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text('[telemetry]\notlp = "grpc://collector:4317"\n')
    assert load_rules(str(path)).options["telemetry"] == "grpc://collector:4317"
    for wrong, why in (('otlp = "collector"', "such as http://localhost:4318"), ('oltp = "http://x"', "unknown key 'oltp'")):
        path.write_text(f"[telemetry]\n{wrong}\n")
        with pytest.raises(UsageError, match=why):
            load_rules(str(path))
    with pytest.raises(UsageError, match="unknown key 'grpc'"):
        Hooks(telemetry={"grpc": "http://x"})
