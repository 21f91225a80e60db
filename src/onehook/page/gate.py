"""Who may use the page's server. The agent runs as the same user and can reach loopback as well: only the PIN is secret from it.

    the address   Host is a name of this machine, and Origin is that very address: no other web page can drive this one, by whatever name
    the cookie    shows that the browser had the link of `onehook desk`; with it one can see, which the agent can do without us
    the visit     each opened page gets a token, which it keeps in its memory and sends with every change
    the PIN       opens one visit, for some minutes: no other page, and no program that has the link or the cookie, can use it

Cookies of 127.0.0.1 go to every port of it, so whatever else is served there gets to see ours: the PIN opens a visit and not a cookie.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from dataclasses import dataclass, field
from email.message import Message

from onehook.desk.pin import Key

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
KEPT_FOR = (0, 5, 15, 60)  # minutes for which the PIN can be kept; 0: for one answer
_MOST = 64  # cookies and visits that are remembered


class Refused(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass
class Visit:
    """A page that is open in a browser."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    token: str = field(default_factory=new_token)
    welcome: str = field(default_factory=new_token)  # sent on every connection, so that the page can verify it: see Gate.welcome
    key: Key | None = None
    until: float = 0.0  # when the PIN has to be given again
    once: bool = False

    def open(self, key: Key, minutes: int) -> None:
        self.key, self.once = key, minutes == 0
        self.until = time.time() + 60 * (minutes or 1)

    def lock(self) -> None:
        self.key, self.until, self.once = None, 0.0, False

    def key_now(self) -> Key | None:
        if time.time() >= self.until:
            self.lock()
        return self.key

    @property
    def seconds(self) -> int:
        """How long the PIN is still known."""
        return max(0, round(self.until - time.time())) if self.key_now() and not self.once else 0


class Gate:
    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.token = new_token()  # of the link
        self._names = {*LOOPBACK, *names}
        self._cookies: dict[str, None] = {}
        self._visits: dict[str, Visit] = {}
        self._lock = threading.Lock()

    def check_address(self, headers: Message, changes: bool) -> None:
        """Raises Refused unless a browser uses one of the desk's own names, for one of its own pages."""
        host = headers.get("Host", "")
        if host.rpartition(":")[0] not in self._names and host not in self._names:
            raise Refused(421, "this is not an address of the desk")
        origin = headers.get("Origin")
        if (changes and origin is None) or (origin is not None and origin not in (f"http://{host}", f"https://{host}")):
            raise Refused(403, "only the desk's own page may send this request")
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and headers.get("Sec-Fetch-Mode") != "navigate":
            raise Refused(403, "only the desk's own page may send this request")

    def enter(self, token: str) -> str:
        """A cookie for the token of the link."""
        if not same(token, self.token):
            raise Refused(401, "this link belongs to another desk; open the one that `onehook desk` printed last")
        cookie = new_token()
        with self._lock:
            self._cookies[cookie] = None
            while len(self._cookies) > _MOST:
                del self._cookies[next(iter(self._cookies))]
        return cookie

    def check_cookie(self, cookie: str) -> None:
        with self._lock:
            known = [one for one in self._cookies if same(one, cookie)]
        if not known:
            raise Refused(401, "open the link that `onehook desk` printed")

    def visit(self) -> Visit:
        visit = Visit()
        with self._lock:
            self._visits[visit.id] = visit
            while len(self._visits) > _MOST:  # a locked one, if there is one: nobody may lock another's page by opening many
                oldest = next((id for id, one in self._visits.items() if one.key is None), next(iter(self._visits)))
                del self._visits[oldest]
        return visit

    def visit_of(self, token: str) -> Visit:
        with self._lock:
            found = [visit for visit in self._visits.values() if same(visit.token, token)]
        if not found:
            raise Refused(403, "this page belongs to an earlier desk; reload it")
        return found[0]

    def welcome(self, id: str) -> str:
        """What shows an open page that we are the desk it was opened from: nobody else was ever told.

        Whoever ends this desk and takes its port gets the page's next connection; without this the person would type the PIN there.
        """
        with self._lock:
            visit = self._visits.get(id)
        if visit is None:
            raise Refused(403, "this page belongs to an earlier desk; reload it")
        return visit.welcome

    def forget(self) -> None:
        """Drop every key whose time is over."""
        with self._lock:
            for visit in self._visits.values():
                visit.key_now()
