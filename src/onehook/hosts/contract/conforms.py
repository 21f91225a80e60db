"""For the type checkers: each part of the open stdin/stdout contract against its Protocol. Nothing imports this file when onehook runs."""

from onehook.hosts.contract import reverse, wire
from onehook.hosts.interface import conforms

conforms(wire=wire, reverse=reverse)
