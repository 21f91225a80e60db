"""A person with a PIN, and where the desk keeps its files."""

from __future__ import annotations

import os

PIN = "correct horse"
CHEAP = 1 << 4  # the cost of scrypt


def desk_folder():
    return f"{os.environ['ONEHOOK_STATE_DIR']}/desk"
