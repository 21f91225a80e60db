"""Distributes a replay over a Dask cluster: each task is the worker process that a local replay starts, on another machine.

Dask is used because it is plain Python and connects to what exists (a scheduler and its workers, on any machines). Ray's wheel alone is
79 MB, and all that is needed is to run a function elsewhere.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from onehook.core import OnehookError
from onehook.record.worker import COMMAND, EXITED
from onehook.version import VERSION

_PARTS = 4  # for each worker, so that none waits long for the slowest
_SECONDS = 30  # to reach the scheduler


class Cluster:
    """A scheduler with its workers."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.shards = _PARTS * len(client.scheduler_info(n_workers=-1)["workers"])

    def start(self, orders: Sequence[dict[str, Any]]) -> list[Iterator[bytes]]:
        """What each worker process printed, once it has ended."""
        futures = self.client.map(run, orders, [VERSION] * len(orders), pure=False)
        return [_lines(future) for future in futures]


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    try:
        dask: Any = import_module("distributed")  # the type checkers run without it
    except ImportError:
        raise OnehookError("a cluster needs the package distributed: pip install 'onehook[dask]'") from None
    try:
        client = dask.Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise OnehookError(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        found = Cluster(client)
        if not found.shards:
            raise OnehookError(f"the Dask scheduler at {address} has no workers")
        yield found
    finally:
        client.close()


def _lines(future: Any) -> Iterator[bytes]:
    try:
        found = future.result()
    except Exception as error:
        raise OnehookError(f"the replay failed on the cluster: {type(error).__name__}: {error}") from None
    yield from found.splitlines()


def run(order: dict[str, Any], version: str) -> bytes:
    """Runs on a worker of the cluster."""
    if version != VERSION:
        raise OnehookError(f"onehook is {VERSION} there, and {version} here")
    done = subprocess.run(COMMAND, input=json.dumps(order).encode(), stdout=subprocess.PIPE, check=False)
    return done.stdout + EXITED % done.returncode
