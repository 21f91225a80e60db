"""Kilo in reverse: the same plugin as OpenCode's, under its own name."""

from __future__ import annotations

from onehook.hostkit import reverse
from onehook.hosts.kilo.wire import ID
from onehook.hosts.opencode.reverse import ANSWERS, Plugin

__all__ = ["ANSWERS", "ENV_FILE", "LABEL", "answer", "losses", "parts", "payload", "variables"]
LABEL = "Kilo"
ENV_FILE = ""
losses = reverse.no_losses
variables = reverse.no_variables
_PLUGIN = Plugin(ID, LABEL)
payload, parts, answer = _PLUGIN.payload, _PLUGIN.parts, _PLUGIN.answer
