"""Runs on Windows or in Wine: starts commands as an agent does, with Windows pipes, for tests that may run on another system.

It reads one JSON object per line from stdin ({"call": NAME, ...}), and writes what the function of that name returns as a line to stdout.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time

TIMEOUT = 60


def run(command, data="", env=None, cwd=None, line=None, timeout=TIMEOUT):
    """command: a list of words, or with `line` a raw command line. Returns exit code, stdout and stderr."""
    variables = {**os.environ, **(env or {})}
    variables = {name: value for name, value in variables.items() if value is not None}
    started = subprocess.Popen(
        line or command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, cwd=cwd
    )
    try:
        outputs = started.communicate(base64.b64decode(data), timeout=timeout)
    except subprocess.TimeoutExpired:
        started.kill()
        return [None, "", ""]
    return [started.returncode, *(base64.b64encode(output).decode() for output in outputs)]


def run_all(jobs):
    """Run all of them at the same time."""
    results = [None] * len(jobs)

    def one(index):
        results[index] = run(**jobs[index])

    workers = [threading.Thread(target=one, args=(index,)) for index in range(len(jobs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


def kill(pid):
    try:
        os.kill(pid, 9)
    except OSError:
        return False
    return True


def end_servers(folder, seconds=TIMEOUT):
    """End all servers that have files in a folder, and those that are about to replace them."""
    import msvcrt

    calm, until = 0.0, time.monotonic() + seconds
    while calm < 1 and time.monotonic() < until:
        calm += 0.05
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            key, _, kind = name.rpartition(".")
            if kind != "lock":
                continue
            with open(os.path.join(folder, name), "r+b") as file:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                    msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
                    continue
                except OSError:  # another process holds it
                    calm = 0.0
            try:
                with open(os.path.join(folder, f"{key}.state"), encoding="utf-8") as file:
                    kill(int(file.readline().split("\t")[1]))
            except (OSError, ValueError, IndexError):  # it is just starting
                pass
        time.sleep(0.05)
    return calm >= 1


STARTED = []


def start(command, wait_for=""):
    """Start a process that keeps running, and wait until it has written this line; returns its pid."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    STARTED.append(process)
    said = process.stdout.readline().decode().strip() if wait_for else ""
    assert said == wait_for, said
    return process.pid


def times(command, data, count, env=None):
    """Milliseconds for each of several runs."""
    found = []
    for _ in range(count):
        begun = time.perf_counter()
        run(command, data, env)
        found.append((time.perf_counter() - begun) * 1000)
    return found


CALLS = {function.__name__: function for function in (run, run_all, kill, end_servers, start, times)}

if __name__ == "__main__":
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        try:
            said = {"returned": CALLS[asked.pop("call")](**asked)}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.buffer.write(json.dumps(said).encode() + b"\n")
        sys.stdout.buffer.flush()
    for process in STARTED:
        process.kill()
