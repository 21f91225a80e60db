"""A scripted model on loopback, for proofs without an API key and without a network."""

from onehook.prove.model.record import Request
from onehook.prove.model.script import Call, ScriptError, Turn, load_script, parse_script
from onehook.prove.model.server import ScriptedModel, serve

__all__ = ["Call", "Request", "ScriptError", "ScriptedModel", "Turn", "load_script", "parse_script", "serve"]
