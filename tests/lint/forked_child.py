"""The processes that lint starts, as forks of a process that has already imported what they import before they load the policy.

Run as a program, this is that process: it reads orders from stdin, and writes the process id and the exit code of each.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import subprocess
import sys


def serve(path: str) -> None:
    """path: onehook/lint/child.py."""
    child = {"__name__": "child", "__file__": path}
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), child)
    child["like_the_launcher"]()
    import onehook.policy
    import onehook.resident.learning  # noqa: F401

    while True:
        try:
            order = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        number = os.fork()
        if number == 0:
            run(child["main"], *order)
        os.write(1, b"%d\n" % number)
        os.write(1, b"%d\n" % os.waitpid(number, 0)[1])


def run(main, words, folder, variables, stdin, stderr):
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        for number, (name, flags) in enumerate(((stdin, os.O_RDONLY), (os.devnull, os.O_WRONLY), (stderr, os.O_WRONLY | os.O_CREAT))):
            os.dup2(os.open(name, flags), number)
        os.closerange(3, 20)
        main(*words)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


@contextlib.contextmanager
def children(interpreter, path):
    """A replacement for subprocess.Popen, with the part of its interface that lint uses."""
    argv = [interpreter, "-I", "-S", "-X", "importtime", __file__, path]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

    class Child:
        def __init__(self, argv, *, cwd, env, **_):
            assert argv[0] == interpreter and path in argv
            self.words, self.folder, self.variables = argv[argv.index(path) + 1 :], str(cwd), env
            self.stdin, self.stderr = f"{cwd}.stdin", f"{cwd}.stderr"
            self.pid = 0

        def communicate(self, stdin=b"", timeout=None):
            if not self.pid:
                with open(self.stdin, "wb") as file:
                    file.write(stdin)
                server.stdin.write(marshal.dumps((self.words, self.folder, self.variables, self.stdin, self.stderr)))
                self.pid = int(server.stdout.readline())
            if not select.select([server.stdout], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.words, timeout)
            server.stdout.readline()
            with open(self.stderr, "rb") as file:
                return None, file.read()

    try:
        yield Child
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()


if __name__ == "__main__":
    serve(sys.argv[1])
