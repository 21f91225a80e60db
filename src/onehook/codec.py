"""Read and write JSON on the hot path.

`import json` costs as much as two thirds of a bare interpreter start (it brings re and enum), so the C scanner and encoder
underneath it are used directly. They are private to CPython: if they are missing or have another shape, json itself is used.
"""

from __future__ import annotations

from onehook.core import PayloadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANK = " \t\n\r"


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _refuse_object(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


class _ScannerSettings:
    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse_constant)
    memo: dict[str, str] = {}  # noqa: RUF012


def _c_codec() -> tuple[Callable[[str, int], tuple[Any, int]], Callable[[Any], str], Callable[[Any], str]]:
    import _json

    settings: Any = _ScannerSettings
    scan = _json.make_scanner(settings)
    encoder = _json.make_encoder(None, _refuse_object, _json.encode_basestring_ascii, None, ": ", ", ", False, False, False)
    compact = _json.make_encoder(None, _refuse_object, _json.encode_basestring, None, ":", ",", False, False, False)

    def encode(value: Any) -> str:
        return "".join(encoder(value, 0))

    def encode_compact(value: Any) -> str:
        return "".join(compact(value, 0))

    # Trust them only after a round trip.
    sample = {"a": [1, "\u00e9"]}
    if scan('{"a": [1, "\\u00e9"]}', 0) != (sample, 20) or encode(sample) != '{"a": [1, "\\u00e9"]}':
        raise ImportError("the C codec of json behaves differently here")
    if encode_compact(sample) != '{"a":[1,"\u00e9"]}':
        raise ImportError("the C codec of json behaves differently here")
    return scan, encode, encode_compact


def _stdlib_codec() -> tuple[Callable[[str, int], tuple[Any, int]], Callable[[Any], str], Callable[[Any], str]]:
    import json

    decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def encode(value: Any) -> str:
        return json.dumps(value, allow_nan=False)

    def encode_compact(value: Any) -> str:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))

    return decoder.scan_once, encode, encode_compact  # type: ignore[attr-defined,unused-ignore]


try:
    _scan, _encode, _encode_compact = _c_codec()
except Exception:
    _scan, _encode, _encode_compact = _stdlib_codec()


def text_of(data: bytes) -> str:
    """The text of a payload: UTF-8 with or without a BOM, or UTF-16 with one (Windows PowerShell pipes)."""
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode("utf-16")
        # (Without the utf-8-sig codec, which is a separate module and would be imported for every event.)
        return data[3 if data.startswith(b"\xef\xbb\xbf") else 0 :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise PayloadError(f"the payload is not UTF-8 text (byte {error.start})") from None


def _scanned(text: str, start: int) -> tuple[Any, int]:
    try:
        return _scan(text, start)
    except SystemError:
        # The C scanner takes the class of its errors from json.decoder, and up to 3.12 it does not import it: the error is lost then.
        import json.decoder  # noqa: F401

        return _scan(text, start)


def loads(text: str) -> Any:
    """One JSON document. Anything else raises a PayloadError with the position."""
    start = len(text) - len(text.lstrip(_BLANK))
    if start == len(text):
        raise PayloadError("the payload is empty")
    try:
        value, end = _scanned(text, start)
    except StopIteration as error:
        raise PayloadError(f"the payload is not JSON (character {error.value})") from None
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    except (ValueError, MemoryError) as error:
        raise PayloadError(f"the payload is not JSON ({error})") from None
    if text[end:].strip(_BLANK):
        raise PayloadError(f"there is more than one JSON document in the payload (character {end})")
    return value


def dumps(value: Any) -> str:
    """ASCII JSON on one line. Raises ValueError or TypeError for what is not JSON."""
    try:
        return _encode(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def compact(value: Any) -> str:
    """JSON as agents write it (JSON.stringify): no spaces, and only the escapes that JSON requires."""
    try:
        # Half of a surrogate pair has no UTF-8 form; agents escape that, and nothing else.
        return _encode_compact(value).encode("utf-8", "backslashreplace").decode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None


def lowered(text: str) -> str:
    """The text in lower case, including the letters that a regular expression treats as ASCII ones if case is ignored."""
    small = text.lower()
    return small if text.isascii() else small.replace("\u017f", "s").replace("\u0131", "i").replace("i\u0307", "i")
