"""The index of hosts that also run another host's configuration, written into the registry from the hosts' own tables.

python -m onehook.docgen.registry
"""

from __future__ import annotations

import re
from pathlib import Path

import onehook.hosts
from onehook.hostkit.effects import CERTAIN
from onehook.hosts import HOSTS, wire_of

_LINE = re.compile(r"^READ_BY.*$", re.MULTILINE)


def read_by() -> dict[str, dict[str, str]]:
    """Lender -> a key that tells a reader's payload from the lender's -> the reader."""
    index: dict[str, dict[str, str]] = {}
    for reader in HOSTS:
        wire = wire_of(reader)
        for lender in wire.READS_CONFIG_OF:
            certain = {key for mark in wire.MARKS if mark.weight == CERTAIN for key in mark.fields}
            own = [key for key in wire.SENDS if key in certain and key not in wire_of(lender).SENDS]
            index.setdefault(lender, {}).update(dict.fromkeys(own, reader))
    return index


def with_index(source: str) -> str:
    line = f"READ_BY = {read_by()}".replace("'", '"')
    return _LINE.sub(lambda _: line, source)


if __name__ == "__main__":
    registry = Path(onehook.hosts.__file__)
    registry.write_text(with_index(registry.read_text(encoding="utf-8")), encoding="utf-8")
