"""One HTTP request with a deadline, and the key that it needs.

Certificates are verified, the usual proxy variables are obeyed, and redirects are not followed: a key and a prompt go where the policy
says, and nowhere else. An error names the place and the status; it never quotes what was sent, nor what came back.
"""

from __future__ import annotations

import os
import sys
import time

from onehook.codec import dumps, loads
from onehook.core import PayloadError
from onehook.scan.model import ScanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPConnection
    from typing import Any

    from onehook.scan.settings import Settings

MAX_ANSWER = 4 << 20  # bytes
_AGAIN = (429, 500, 502, 503, 504)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def exchange(settings: Settings, deadline: float, path: str, body: Any, headers: Mapping[str, str]) -> Any:
    """Post JSON, and return the JSON that comes back."""
    url = settings.url + path
    data = dumps(body).encode("ascii")
    sent = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "onehook", **headers}
    status, retry_after, answer = _in_time(deadline, url, data, sent, settings.ca_file)
    if status in (401, 403):
        raise ScanError(f"{_place(url)} refused the key (HTTP {status})")
    if status != 200:
        raise ScanError(f"{_place(url)} answered with HTTP {status}", retry=status in _AGAIN, after=_seconds(retry_after))
    try:
        return loads(answer.decode("utf-8"))
    except (PayloadError, ValueError):
        raise ScanError(f"{_place(url)} did not answer with JSON") from None


def key_of(settings: Settings) -> str:
    """The key of a service, from a file that only its owner can read, or from the environment; "" where none is needed."""
    key = _from_file(settings.key_file) if settings.key_file else os.environ.get(settings.key_env, "").strip()
    own = settings.keyless and _is_loopback(settings.url)
    if not key and settings.key_env and not own:
        raise ScanError(f"there is no key for {settings.backend}: set {settings.key_env}, or key_file to a file of mode 0600", counts=False)
    if key and not (key.isascii() and key.isprintable()):
        raise ScanError(f"the key for {settings.backend} has characters that no key has", counts=False)
    if key and settings.url.startswith("http://") and not _is_loopback(settings.url):
        raise ScanError(f"{_place(settings.url)}: a key is not sent without TLS; use https://", counts=False)
    return key


def _from_file(path: str) -> str:
    full = os.path.expanduser(path)
    try:
        with open(full, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if sys.platform != "win32" and (status.st_mode & 0o077 or status.st_uid not in (os.getuid(), 0)):
                raise ScanError(f"the key file {path} must be yours and readable for you alone: chmod 600 {path}", counts=False)
            return file.read(10_000).strip()
    except (OSError, ValueError) as error:
        raise ScanError(f"the key file {path} cannot be read: {getattr(error, 'strerror', None) or error}", counts=False) from None


# --- one request -----------------------------------------------------------------------------------------------------------------


def _in_time(deadline: float, url: str, data: bytes, headers: dict[str, str], ca_file: str) -> tuple[int, str, bytes]:
    """In a thread: neither looking up a name nor an answer that comes byte by byte can be given a time limit otherwise."""
    from threading import Thread

    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(_post(deadline, url, data, headers, ca_file))
        except BaseException as error:
            outcome.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if not outcome:
        raise ScanError(f"{_place(url)} did not answer in time")
    if isinstance(outcome[0], BaseException):
        raise _explained(outcome[0], url)
    answer: tuple[int, str, bytes] = outcome[0]
    return answer


def _explained(error: BaseException, url: str) -> ScanError:
    from http.client import HTTPException
    from ssl import SSLCertVerificationError, SSLError

    if isinstance(error, ScanError):
        return error
    if isinstance(error, SSLCertVerificationError):
        return ScanError(f"the certificate of {_place(url)} cannot be verified: {error.verify_message}")
    if isinstance(error, SSLError):
        return ScanError(f"there is no TLS connection to {_place(url)}: {error.reason or 'failed'}", retry=True)
    if isinstance(error, TimeoutError):
        return ScanError(f"{_place(url)} did not answer in time")
    if isinstance(error, (OSError, HTTPException)):
        why = getattr(error, "strerror", None) or type(error).__name__
        return ScanError(f"{_place(url)} cannot be reached, or broke off: {why}", retry=True)
    return ScanError(f"{_place(url)}: {type(error).__name__}")


def _post(deadline: float, url: str, data: bytes, headers: dict[str, str], ca_file: str) -> tuple[int, str, bytes]:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
    proxy = proxy_for(parts.scheme, parts.hostname or "", parts.port)
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, proxy, ca_file, max(0.01, deadline - time.monotonic()))
    if proxy and parts.scheme == "http":
        target = url
        headers = {**headers, **_proxy_key(proxy)}
    try:
        connection.request("POST", target, data, headers)
        response = connection.getresponse()
        answer = response.read(MAX_ANSWER + 1)
        if len(answer) > MAX_ANSWER:
            raise ScanError(f"the answer of {_place(url)} is longer than {MAX_ANSWER >> 20} MB")
        promised = response.getheader("Content-Length") or ""
        if promised.isdigit() and len(answer) < int(promised):
            raise ScanError(f"{_place(url)} broke off in the middle of its answer", retry=True)
        return response.status, response.getheader("Retry-After") or "", answer
    finally:
        connection.close()


def _connection(scheme: str, host: str, port: int | None, proxy: str, ca_file: str, timeout: float) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    via = urlsplit(proxy) if proxy else None
    if scheme == "http":
        at, on = (via.hostname or "", via.port or 80) if via else (host, port or 80)
        return HTTPConnection(at, on, timeout=timeout)
    import ssl

    context = ssl.create_default_context(cafile=os.path.expanduser(ca_file) if ca_file else None)
    if via is None:
        return HTTPSConnection(host, port or 443, timeout=timeout, context=context)
    connection = HTTPSConnection(via.hostname or "", via.port or 80, timeout=timeout, context=context)
    connection.set_tunnel(host, port or 443, headers=_proxy_key(proxy))
    return connection


# --- proxies ---------------------------------------------------------------------------------------------------------------------


def proxy_for(scheme: str, host: str, port: int | None) -> str:
    """The proxy for an address by the variables that curl obeys too; "" for none."""
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    # HTTP_PROXY is a request header in a CGI program, so curl takes it in lower case alone; so do we.
    proxy = next((os.environ[name] for name in names if os.environ.get(name) and name != "HTTP_PROXY"), "")
    if not proxy or _without_proxy(host, port):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith("http://"):
        raise ScanError(f"a proxy of this kind is not supported: {proxy.partition('://')[0]}://", counts=False)
    return proxy


def _without_proxy(host: str, port: int | None) -> bool:
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    for entry in listed.replace(",", " ").split():
        name, _, number = (entry, "", "") if entry.count(":") > 1 else entry.lower().partition(":")
        name = name.lstrip("*.")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}")) and number in ("", str(port or ""))):
            return True
    return False


def _proxy_key(proxy: str) -> dict[str, str]:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(proxy)
    if not parts.username:
        return {}
    from base64 import b64encode

    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _place(url: str) -> str:
    """Where a request goes, without what may be secret in an address."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].rpartition('@')[2]}"


def _is_loopback(url: str) -> bool:
    from urllib.parse import urlsplit

    return (urlsplit(url).hostname or "") in _LOOPBACK


def _seconds(retry_after: str) -> float:
    """Of a Retry-After header; a date is not worth waiting for."""
    return float(retry_after) if retry_after.isdigit() else 0.0
