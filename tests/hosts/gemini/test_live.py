"""Gemini CLI started for a proof."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import Any

from onehook.hostkit.live import Sandbox
from onehook.hosts import load


def test_gemini_gets_a_second_prompt_since_a_first_one_has_nothing_to_compress(sandbox: Sandbox) -> None:
    module: Any = load("gemini", "live")
    launch = module.prepare(sandbox)
    twice = module.compactable(replace(launch, argv=["/bin/echo", *launch.argv[1:]]))
    said = subprocess.run(twice.argv, capture_output=True, text=True, check=True, timeout=10).stdout.splitlines()
    assert said == [" ".join(launch.argv[1:]), " ".join([*launch.argv[1:], "--resume", "latest"])]
