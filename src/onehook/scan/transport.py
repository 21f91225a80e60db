"""One HTTP request with a deadline, and the key that it needs. Without http.client, which takes longer to import than a scan.

Certificates are verified, the usual proxy variables are obeyed, and redirects are not followed: a key and a prompt go only to the
configured address. An error names the address and the status; it never quotes what was sent or received.
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


def post(url: str, data: bytes, headers: dict[str, str], deadline: float) -> int:
    """Post something for which only the status of the answer counts."""
    return _in_time(deadline, url, data, headers, "")[0]


def key_of(settings: Settings) -> str:
    """The key of a service, from a file that only its owner can read, or from the environment; "" if none is needed."""
    key = _from_file(settings.key_file) if settings.key_file else os.environ.get(settings.key_env, "").strip()
    own = settings.keyless and _is_loopback(settings.url)
    if not key and settings.key_env and not own:
        raise ScanError(f"there is no key for {settings.backend}: set {settings.key_env}, or key_file to a file of mode 0600", counts=False)
    if key and not (key.isascii() and key.isprintable()):
        raise ScanError(f"the key for {settings.backend} contains characters that are not allowed in a key", counts=False)
    if key and settings.url.startswith("http://") and not _is_loopback(settings.url):
        raise ScanError(f"{_place(settings.url)}: a key is not sent without TLS; use https://", counts=False)
    return key


def _from_file(path: str) -> str:
    full = os.path.expanduser(path)
    try:
        with open(full, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if sys.platform != "win32" and (status.st_mode & 0o077 or status.st_uid not in (os.getuid(), 0)):
                raise ScanError(f"the key file {path} must be owned by you and readable only by you: chmod 600 {path}", counts=False)
            return file.read(10_000).strip()
    except (OSError, ValueError) as error:
        raise ScanError(f"the key file {path} cannot be read: {getattr(error, 'strerror', None) or error}", counts=False) from None


# --- one request -----------------------------------------------------------------------------------------------------------------


class Address:
    """A URL split into its parts; importing urllib.parse would cost as much as the rest of a request."""

    def __init__(self, url: str) -> None:
        self.scheme, _, rest = url.partition("://")
        place, slash, path = rest.partition("/")
        self.path = slash + path or "/"
        self.user, _, place = place.rpartition("@")
        self.host, _, port = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
        self.host = self.host.strip("[]").lower()
        self.port = int(port) if port else {"https": 443}.get(self.scheme, 80)
        self.place = place


def _in_time(deadline: float, url: str, data: bytes, headers: dict[str, str], ca_file: str) -> tuple[int, str, bytes]:
    """Run it in a thread, since neither a name lookup nor an answer that arrives byte by byte can have a time limit otherwise."""
    import _thread  # threading is slow to import

    outcome: list[Any] = []
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            outcome.append(_post(deadline, Address(url), data, headers, ca_file))
        except BaseException as error:
            outcome.append(error)
        done.release()

    _thread.start_new_thread(run, ())
    done.acquire(True, max(0.0, deadline - time.monotonic()))
    if not outcome:
        raise ScanError(f"{_place(url)} did not answer in time")
    if isinstance(outcome[0], BaseException):
        raise _explained(outcome[0], _place(url))
    answer: tuple[int, str, bytes] = outcome[0]
    return answer


def _explained(error: BaseException, place: str) -> ScanError:
    if isinstance(error, ScanError):
        return error
    name = type(error).__name__
    if name == "SSLCertVerificationError":
        return ScanError(f"the certificate of {place} cannot be verified: {getattr(error, 'verify_message', '')}")
    if isinstance(error, TimeoutError) or name == "timeout":  # on Python 3.9 they differ
        return ScanError(f"{place} did not answer in time")
    if isinstance(error, OSError):
        return ScanError(f"{place} cannot be reached, or closed the connection: {error.strerror or name}", retry=True)
    return ScanError(f"{place}: {name}")


def _post(deadline: float, to: Address, data: bytes, headers: dict[str, str], ca_file: str) -> tuple[int, str, bytes]:
    proxy = proxy_for(to.scheme, to.host, to.port)
    target = to.path
    if proxy and to.scheme == "http":
        target = f"http://{to.place}{to.path}"
        headers = {**headers, **_proxy_key(proxy)}
    connection = _connected(to, proxy, ca_file, max(0.01, deadline - time.monotonic()))
    try:
        fields = {"Host": to.place, "Content-Length": str(len(data)), "Connection": "close", **headers}
        connection.sendall(_head(f"POST {target} HTTP/1.1", fields) + data)
        return _read(connection)
    finally:
        connection.close()


def _head(first: str, fields: Mapping[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in fields.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ScanError("a request header contains a line break", counts=False)
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _connected(to: Address, proxy: str, ca_file: str, seconds: float) -> Any:
    import socket

    at = Address(proxy) if proxy else to
    connection = socket.create_connection((at.host, at.port), seconds)
    try:
        if to.scheme == "http":
            return connection
        if proxy:
            end = f"{to.host}:{to.port}"
            connection.sendall(_head(f"CONNECT {end} HTTP/1.1", {"Host": end, **_proxy_key(proxy)}))
            answer = b""
            while b"\r\n\r\n" not in answer and len(answer) < 1 << 16 and (more := connection.recv(1)):  # what follows is TLS
                answer += more
            if answer[9:12] != b"200":
                raise ScanError(f"the proxy {at.place} refused the connection (HTTP {answer[9:12].decode('ascii', 'replace')})", retry=True)
        import ssl

        context = ssl.create_default_context(cafile=os.path.expanduser(ca_file) if ca_file else None)
        return context.wrap_socket(connection, server_hostname=to.host)
    except BaseException:
        connection.close()
        raise


def _read(connection: Any) -> tuple[int, str, bytes]:
    """Status, Retry-After and body of an answer; the server closes the connection after it."""
    data = b""
    while len(data) <= MAX_ANSWER and (more := connection.recv(1 << 16)):
        data += more
        head, blank, body = data.partition(b"\r\n\r\n")
        fields = _fields(head)
        if blank and len(body) >= int(fields.get("content-length") or MAX_ANSWER + 1):
            break  # not every server obeys Connection: close
    else:
        if len(data) > MAX_ANSWER:
            raise ScanError(f"an answer of more than {MAX_ANSWER >> 20} MB")
        head, blank, body = data.partition(b"\r\n\r\n")
        fields = _fields(head)
    if not blank or not head.startswith(b"HTTP/1.") or not head[9:12].isdigit():
        raise ConnectionError("no answer")
    if fields.get("transfer-encoding", "").lower() == "chunked":
        body = _dechunked(body)
    elif fields.get("content-length"):
        length = int(fields["content-length"])
        if len(body) < length:
            raise ConnectionError("an incomplete answer")
        body = body[:length]
    return int(head[9:12]), fields.get("retry-after", ""), body


def _fields(head: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    fields = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if not (fields.get("content-length") or "0").isdigit():
        raise ConnectionError("an answer with a wrong length")
    return fields


def _dechunked(data: bytes) -> bytes:
    body = b""
    while True:
        size, found, data = data.partition(b"\r\n")
        try:
            length = int(size.partition(b";")[0], 16)
        except ValueError:
            raise ConnectionError("an incomplete answer") from None
        if not found or length < 0 or len(data) < length:
            raise ConnectionError("an incomplete answer")
        if not length:
            return body
        body += data[:length]
        data = data[length + 2 :]


# --- proxies ---------------------------------------------------------------------------------------------------------------------


def proxy_for(scheme: str, host: str, port: int) -> str:
    """The proxy for an address by the variables that curl obeys too; "" for none."""
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    # In a CGI program HTTP_PROXY is a request header, so curl accepts it only in lower case; so do we.
    proxy = next((os.environ[name] for name in names if os.environ.get(name) and name != "HTTP_PROXY"), "")
    if not proxy or _without_proxy(host, port):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith("http://"):
        raise ScanError(f"a proxy of this kind is not supported: {proxy.partition('://')[0]}://", counts=False)
    return proxy


def _without_proxy(host: str, port: int) -> bool:
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    for entry in listed.replace(",", " ").split():
        name, _, number = (entry, "", "") if entry.count(":") > 1 else entry.lower().partition(":")
        name = name.lstrip("*.")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}")) and number in ("", str(port))):
            return True
    return False


def _proxy_key(proxy: str) -> dict[str, str]:
    user = Address(proxy).user
    if not user:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    return {"Proxy-Authorization": f"Basic {b64encode(unquote(user).encode()).decode()}"}


def _place(url: str) -> str:
    """Where a request goes, without the parts of the address that may be secret."""
    to = Address(url)
    return f"{to.scheme}://{to.place}"


def _is_loopback(url: str) -> bool:
    return Address(url).host in _LOOPBACK


def _seconds(retry_after: str) -> float:
    """The seconds in a Retry-After header; a date is not worth waiting for."""
    return float(retry_after) if retry_after.isdigit() else 0.0
