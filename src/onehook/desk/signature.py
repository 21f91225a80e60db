"""Ed25519 (RFC 8032), written out: the hook has to check who answered, and nothing in the standard library can verify a signature.

A signature, because the agent runs as the same user and can read and write what the hook can. What the hook needs for checking is public,
so nothing on this machine lets anyone answer but what the person has in mind. Verifying takes a few milliseconds, and is done only for an
answer to an ask. Signing takes no care to run in constant time: the key is used by a program that the person starts, not by a service.
"""

from __future__ import annotations

from hashlib import sha512

TYPE_CHECKING = False
if TYPE_CHECKING:
    Point = tuple[int, int, int, int]  # X, Y, Z and T with x = X/Z, y = Y/Z and x*y = T/Z

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_2D = 2 * _D % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1
_NEUTRAL: Point = (0, 1, 1, 0)


def public_of(seed: bytes) -> bytes:
    """The public key of a secret of 32 bytes."""
    return _packed(_times_base(_secret(seed)[0]))


def sign(seed: bytes, message: bytes) -> bytes:
    scalar, prefix = _secret(seed)
    public = _packed(_times_base(scalar))
    nonce = _number(prefix, message) % _ORDER
    first = _packed(_times_base(nonce))
    return first + ((nonce + _number(first, public, message) * scalar) % _ORDER).to_bytes(32, "little")


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    key, first = _unpacked(public), _unpacked(signature[:32])
    second = int.from_bytes(signature[32:], "little")
    if key is None or first is None or len(signature) != 64 or second >= _ORDER:
        return False
    found = _both(second, _BASE, _number(signature[:32], public, message) % _ORDER, (-key[0], key[1], key[2], -key[3]))
    return (found[0] - first[0] * found[2]) % _P == 0 and (found[1] - first[1] * found[2]) % _P == 0


def _secret(seed: bytes) -> tuple[int, bytes]:
    wide = sha512(seed).digest()
    return int.from_bytes(wide[:32], "little") & ((1 << 254) - 8) | 1 << 254, wide[32:]


def _number(*parts: bytes) -> int:
    return int.from_bytes(sha512(b"".join(parts)).digest(), "little")


def _sum(a: Point, b: Point) -> Point:
    minus, plus = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])  # to divide larger numbers once is quicker
    t, z = a[3] * b[3] % _P * _2D, 2 * a[2] * b[2]
    e, f, g, h = plus - minus, z - t, z + t, plus + minus
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _twice(a: Point) -> Point:
    """_sum(a, a), in less time."""
    x, y, xy = a[0] * a[0], a[1] * a[1], a[0] + a[1]
    h, g = x + y, x - y
    e, f = h - xy * xy, 2 * a[2] * a[2] + g
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


_doubled: list[Point] = []  # _BASE, twice _BASE, four times ...: half of what a multiplication takes, for all of this process


def _times_base(scalar: int) -> Point:
    if not _doubled:
        points = [_BASE]
        for _ in range(255):
            points.append(_twice(points[-1]))
        _doubled[:] = points  # at once: another thread may be here, too
    total = _NEUTRAL
    for bit, point in zip(f"{scalar:0256b}", reversed(_doubled)):
        if bit == "1":
            total = _sum(total, point)
    return total


def _both(one: int, a: Point, other: int, b: Point) -> Point:
    """one * a + other * b: together they take little longer than one of them."""
    added = {"01": b, "10": a, "11": _sum(a, b)}
    total = _NEUTRAL
    for bits in zip(f"{one:0256b}", f"{other:0256b}"):
        total = _twice(total)
        point = added.get("".join(bits))
        if point is not None:
            total = _sum(total, point)
    return total


def _packed(point: Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _unpacked(data: bytes) -> Point | None:
    """The point that 32 bytes encode; None if they encode none."""
    if len(data) != 32:
        return None
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if y >= _P or (x * x - square) % _P or (x == 0 and odd):
        return None
    x = _P - x if x & 1 != odd else x
    return x, y, 1, x * y % _P


_BASE: Point = _unpacked((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little")) or _NEUTRAL
