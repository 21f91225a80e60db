"""The two model APIs that most providers support, with only the standard library.

Proxies are taken from the environment, certificates are verified, redirects are not followed (they would also get the key).
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

APIS = {"anthropic": "https://api.anthropic.com/v1", "openai": "https://api.openai.com/v1"}
ATTEMPTS = 3
MAX_REPLY = 4 << 20
_AGAIN = (429, 500, 502, 503, 504, 529)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ModelError(Exception):
    """The model cannot be asked, or its answer cannot be used. The message never contains the key."""


class Call(NamedTuple):
    """A tool that the model wants to use."""

    id: str
    name: str
    given: dict[str, Any]


class Tool(NamedTuple):
    name: str
    about: str
    schema: dict[str, Any]


class Model:
    """A model as [model] in a manifest names it, until a deadline."""

    def __init__(self, settings: dict[str, Any], deadline: float) -> None:
        self.api: str = settings["api"]
        self.name: str = settings["model"]
        self.url = (settings.get("url") or APIS[self.api]).rstrip("/")
        self.key = key_of(settings)
        self.deadline = deadline
        self.system = ""
        self._opener = _opener()
        place = urlsplit(self.url)
        if not place.path:
            self.url += "/v1"
        if place.scheme not in ("http", "https") or not place.hostname:
            raise ModelError(f"[model] url {self.url!r} is not an http address")
        if self.key and place.scheme == "http" and place.hostname not in _LOOPBACK:
            raise ModelError(f"[model] url {self.url} would send the key without TLS; use https")

    def begin(self, system: str, text: str) -> list[dict[str, Any]]:
        self.system = system
        first = [{"role": "system", "content": system}] if self.api == "openai" else []
        return [*first, {"role": "user", "content": text}]

    def ask(self, messages: list[dict[str, Any]], tools: tuple[Tool, ...]) -> tuple[str, list[Call]]:
        """The model's text and the tools that it wants to use. Its message is added to the conversation."""
        reply = self._sent(self._path(), self._body(messages, tools))
        try:
            return self._read(reply, messages)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            raise ModelError(f"the answer of {self.url} does not have the format of the {self.api} API") from None

    def results(self, called: list[tuple[Call, str]]) -> list[dict[str, Any]]:
        if self.api == "openai":
            return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in called]
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in called]
        return [{"role": "user", "content": blocks}]

    def _path(self) -> str:
        return f"{self.url}/chat/completions" if self.api == "openai" else f"{self.url}/messages"

    def _body(self, messages: list[dict[str, Any]], tools: tuple[Tool, ...]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.name, "messages": messages}
        if self.api == "openai":
            functions = [{"name": one.name, "description": one.about, "parameters": one.schema} for one in tools]
            named: list[dict[str, Any]] = [{"type": "function", "function": function} for function in functions]
        else:
            body.update(max_tokens=4096, system=self.system)
            named = [{"name": one.name, "description": one.about, "input_schema": one.schema} for one in tools]
        return {**body, "tools": named} if named else body

    def _read(self, reply: dict[str, Any], messages: list[dict[str, Any]]) -> tuple[str, list[Call]]:
        if self.api == "openai":
            message = reply["choices"][0]["message"]
            asked = message.get("tool_calls") or []
            messages.append({"role": "assistant", "content": message.get("content"), **({"tool_calls": asked} if asked else {})})
            return message.get("content") or "", [_call(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in asked]
        content = reply["content"]
        messages.append({"role": "assistant", "content": content})
        text = "".join(block["text"] for block in content if block["type"] == "text")
        return text, [_call(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]

    def _sent(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        """One request. Temporary errors are retried while there is time."""
        for attempt in range(1, ATTEMPTS + 1):
            status, reply, wait = self._once(url, json.dumps(body).encode())
            if status == 200:
                return reply
            pause = min(wait or 0.5 * attempt, 20.0)
            if status not in _AGAIN or attempt == ATTEMPTS or time.monotonic() + pause >= self.deadline:
                raise ModelError(self._hidden(f"{url} answered {status}{_said(reply)}"))
            time.sleep(pause)
        raise AssertionError("not reached")

    def _once(self, url: str, body: bytes) -> tuple[int, dict[str, Any], float]:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        left = self.deadline - time.monotonic()
        if left <= 0:
            raise ModelError(f"{url} did not answer in time")
        try:
            with self._opener.open(Request(url, body, self._headers(), method="POST"), timeout=left) as answer:
                data = answer.read(MAX_REPLY)
                if answer.length:  # bytes that were announced but did not arrive
                    raise ModelError(f"the answer of {url} is cut off, or too long")
                return answer.status, _object(data, url), 0.0
        except HTTPError as error:
            with error:
                after = error.headers.get("Retry-After") or ""
                return error.code, _object(error.read(MAX_REPLY), ""), float(after) if after.isascii() and after.isdigit() else 0.0
        except (OSError, HTTPException) as error:  # URLError is an OSError
            raise ModelError(self._hidden(f"{url} cannot be reached: {getattr(error, 'reason', None) or error!r}")) from None

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "onehook"}
        if self.api == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        if self.key:
            headers |= {"x-api-key": self.key} if self.api == "anthropic" else {"Authorization": f"Bearer {self.key}"}
        return headers

    def _hidden(self, text: str) -> str:
        return text.replace(self.key, "***") if self.key else text


def _opener() -> Any:
    from ssl import create_default_context
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, build_opener

    class Here(HTTPRedirectHandler):
        def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
            return None

    return build_opener(Here, HTTPSHandler(context=create_default_context()))


def key_of(settings: dict[str, Any]) -> str:
    """The key: from a variable, or from a file that nobody else can read. "" if [model] names neither."""
    variable, path = settings.get("key_env"), settings.get("key_file")
    if variable:
        key = os.environ.get(variable, "").strip()
        if not key:
            raise ModelError(f"the variable {variable}, which [model] names as key_env, is not set")
    elif path:
        place = os.path.expanduser(path)
        try:
            with open(place, encoding="utf-8") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                    raise ModelError(f"[model] key_file {path} can be read by others; run: chmod 600 {path}")
                key = file.read().strip()
        except OSError as error:
            raise ModelError(f"[model] key_file {path} cannot be read: {error.strerror}") from None
    else:
        return ""
    if not key.isprintable() or not key.isascii():
        raise ModelError("the key of [model] has characters that a header cannot hold")
    return key


def _call(call_id: Any, name: Any, given: Any) -> Call:
    return Call(str(call_id), str(name), json.loads(given or "{}") if isinstance(given, str) else dict(given))


def _object(data: bytes, url: str) -> dict[str, Any]:
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        reply = None
    if isinstance(reply, dict):
        return reply
    if url:
        raise ModelError(f"the answer of {url} is not a JSON object")
    return {}


def _said(reply: dict[str, Any]) -> str:
    """The error that an API names."""
    error = reply.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return f": {' '.join(message.split())[:200]}" if isinstance(message, str) and message else ""
