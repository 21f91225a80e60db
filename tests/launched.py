"""A launcher that has loaded all and forks for each event: warm.py starts it, and says what it is for.

Like the launcher, it imports nothing but what an interpreter has loaded when it starts, and our own modules. _socket is forgotten again.
"""

import _socket
import gc
import marshal
import posix
import sys


def serve(requests):
    """Fork for each request; a fork returns what it is to do."""
    while True:
        size, ancillary, _, _ = requests.recvmsg(4, 64)
        if not size:
            posix._exit(0)
        descriptors = memoryview(ancillary[0][2]).cast("i")
        data = b""
        while len(data) < int.from_bytes(size, "little"):
            data += requests.recv(1 << 20)
        child = posix.fork()
        if not child:
            requests.close()
            for number, descriptor in enumerate(descriptors):
                posix.dup2(descriptor, number)
            posix.closerange(3, max(descriptors) + 1)
            return marshal.loads(data)
        for descriptor in descriptors:
            posix.close(descriptor)
        requests.send(child.to_bytes(4, "little"))
        requests.send(posix.waitpid(child, 0)[1].to_bytes(4, "little"))


def become(argv, folder, variables, umask):
    """The process that would have been started."""
    for name in posix.environ:
        posix.unsetenv(name)
    posix.environ.clear()
    posix.environ.update(variables)
    for name, value in variables.items():
        posix.putenv(name, value)
    posix.umask(umask)
    posix.chdir(folder)
    sys.argv[:] = argv
    sys.orig_argv[3:] = argv


gc.disable()
_, package, descriptor = sys.argv
requests = _socket.socket(fileno=int(descriptor))
del sys.modules["_socket"]
sys.path.append(package)
import onehook.cache  # noqa: E402

onehook.cache.start(onehook.cache)
from onehook.hosts import HOSTS, load  # noqa: E402
from onehook.runner import main  # noqa: E402

for host in HOSTS:
    load(host)
onehook.cache.save()  # or each fork would do it
become(*serve(requests))
main(sys.argv[1:])
