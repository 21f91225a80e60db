"""What an answer contains, and whether it comes from the person. An answer is a string, signed with the key derived from the PIN."""

from __future__ import annotations

from onehook.codec import dumps
from onehook.desk.requests import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.desk.pin import Key

_HEAD = b"onehook answer 1\n"  # so that a signature for this is one for nothing else
# id and digest: the request, as the person saw it. call: what an answer for the next attempt is bound to. session: what one for the session
# is bound to, "" for an answer that counts once. words: for the model. input: the changed parts of the call. by, via, at: who, how, when.
_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "digest": (str,),
    "call": (str,),
    "session": (str,),
    "decision": (str,),
    "words": (str,),
    "input": (dict, type(None)),
    "by": (str,),
    "via": (str,),
    "at": (int, float),
    "until": (int, float),
}


def sealed(statement: dict[str, Any], key: Key) -> bytes:
    text = dumps(statement)
    return dumps({"statement": text, "signature": key.sign(_HEAD + text.encode("ascii"))}).encode("ascii")


def named(data: bytes) -> dict[str, Any]:
    """The content of an answer, whoever wrote it; {} if it is not an answer."""
    text = parsed(data).get("statement")
    statement = parsed(text.encode("utf-8", "replace")) if isinstance(text, str) else {}
    return statement if is_statement(statement) else {}


def is_statement(statement: dict[str, Any]) -> bool:
    well_formed = set(statement) == set(_FIELDS) and all(isinstance(statement[name], kinds) for name, kinds in _FIELDS.items())
    return well_formed and statement["decision"] in ("allow", "deny")


def genuine(data: bytes, public: str) -> dict[str, Any]:
    """The content of an answer; {} if the person did not give it."""
    from onehook.desk.signature import verify

    statement = named(data)
    envelope = parsed(data)
    try:
        signature, key = bytes.fromhex(envelope["signature"]), bytes.fromhex(public)
    except (KeyError, TypeError, ValueError):
        return {}
    signed = statement and verify(key, _HEAD + envelope["statement"].encode("utf-8", "replace"), signature)
    return statement if signed else {}
