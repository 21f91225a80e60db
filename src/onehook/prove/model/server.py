"""The scripted model: a model API on loopback that plays a script and keeps the requests."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from urllib.parse import urlsplit

from onehook.prove.model import anthropic, chat, gemini, responses
from onehook.prove.model.http import BadBody, LoopbackServer
from onehook.prove.model.record import Request, safe_headers, safe_path
from onehook.prove.model.script import ASIDE, DONE, NOMINAL_TOKENS, Turn, parse_script
from onehook.prove.model.shape import Ask, Dialect, Reply, declared, error_reply, json_reply, obj

DIALECTS: tuple[Dialect, ...] = (anthropic, responses, chat, gemini)
MAX_BODY = 32 * 1024 * 1024
HOLD_SECONDS = 20.0
MODEL_NAME = "scripted"

OnRequest = Callable[[Request], None]


class ScriptedModel:
    """Serves a script on 127.0.0.1, within a `with` block or between start() and close()."""

    def __init__(self, script: Sequence[object], port: int = 0, *, on_request: OnRequest | None = None) -> None:
        self.script = parse_script(script)
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self._taken = [False] * len(self.script)
        self._usage = NOMINAL_TOKENS
        self._on_request = on_request
        self._changed = threading.Condition()
        self._server = LoopbackServer(port, self._answer, MAX_BODY, self.problems.append)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._closed = False

    def start(self) -> ScriptedModel:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop serving and end open connections. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._thread.is_alive():
            self._server.close()
            self._thread.join(timeout=5)
        else:
            self._server.server_close()

    def __enter__(self) -> ScriptedModel:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address without a path; the agent's config adds a dialect's prefix such as /v1."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def turns(self) -> list[Request]:
        """The requests of the agent's own loop: those that offered tools and were answered."""
        return [request for request in self.requests if request.is_turn]

    def told(self) -> str:
        """All text that the model was given in the agent's own loop, without duplicates, in order."""
        seen = {text: None for request in self.turns for text in request.told()}
        return "\n".join(seen)

    def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes | BadBody) -> Reply:
        with self._changed:
            request = Request(len(self.requests) + 1, method, safe_path(path), safe_headers(headers))
            self.requests.append(request)
            try:
                reply = self._reply(request, path, body)
            except RecursionError:
                request.dialect = None
                reply = self._refuse(request, 400, "the body is nested too deeply")
            request.status = reply.status
        if self._on_request:
            with contextlib.suppress(Exception):
                self._on_request(request)
        return reply

    def _reply(self, request: Request, path: str, body: bytes | BadBody) -> Reply:
        if isinstance(body, BadBody):
            return self._refuse(request, body.status, str(body))
        place = urlsplit(path).path.rstrip("/")
        extra = _extra(request.method, place)
        if extra:
            request.kind, request.side = extra[0], True
            request.body = _parse(body)
            return json_reply(extra[1])
        dialect = next((one for one in DIALECTS if place.endswith(one.PATHS)), None)
        if dialect is None or request.method != "POST":
            return self._refuse(request, 404, f"nothing is served at {request.method} {place or '/'}")
        request.kind, request.body = dialect.NAME, _parse(body)
        if not isinstance(request.body, dict):
            return self._refuse(request, 400, "the body is not a JSON object")
        key, kinds, wanted = dialect.REQUIRED
        if not isinstance(request.body.get(key), kinds):
            return self._refuse(request, 400, f"{key}: {wanted}")
        request.dialect = dialect
        request.tools = tuple(dialect.offered(obj(request.body)))
        turn, tools = self._next(request), obj(request.body).get("tools")
        calls = tuple(call.sent_to(declared(tools, call.tool)) if call.spare else call for call in turn.calls)
        return dialect.reply(replace(turn, calls=calls), Ask(request.number, path, obj(request.body)))

    def _refuse(self, request: Request, status: int, message: str) -> Reply:
        request.error = message
        return error_reply(status, message)

    def _next(self, request: Request) -> Turn:
        """The turn for a request. Titles and summaries offer no tools and must not use up a step that is not for them."""
        request.side = not request.tools
        told = request.text()
        for index, turn in enumerate(self.script):
            if turn.aside == request.side and not self._taken[index] and turn.fits(told):
                self._taken[index] = True
                self._usage = self._usage if turn.aside else turn.usage
                self._changed.notify_all()
                request.step = index + 1
                if turn.wait:
                    self._hold(index)
                self._check_offered(turn, request)
                return turn
        if request.side:
            return replace(ASIDE, usage=self._usage)  # a summary is requested over the same context
        request.overrun = True
        return DONE

    def _hold(self, index: int) -> None:
        """Keep the request waiting, for a limited time, until all steps before this one are taken."""
        if not self._changed.wait_for(lambda: all(self._taken[:index]), HOLD_SECONDS):
            self.problems.append(f"step {index + 1} waited {HOLD_SECONDS:g} s for the steps before it")

    def _check_offered(self, turn: Turn, request: Request) -> None:
        for call in turn.calls:
            if call.tool not in request.tools and not turn.deferred:
                offered = ", ".join(sorted(request.tools))
                self.problems.append(f"step {request.step}: {call.tool} is not among the offered tools ({offered})")


def _parse(body: bytes) -> object:
    """The body as JSON; a body that is not JSON is kept as text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _extra(method: str, place: str) -> tuple[str, object] | None:
    """What agents request besides turns: the list of models, and token counts."""
    if method in ("GET", "HEAD") and place.endswith("/models"):
        gemini_form = {"name": f"models/{MODEL_NAME}", "supportedGenerationMethods": ["generateContent"]}
        openai_form = {"id": MODEL_NAME, "object": "model", "type": "model", "created": 1, "owned_by": "onehook"}
        models = [gemini_form] if "/v1beta" in place else []
        return "models", {"object": "list", "data": [openai_form], "has_more": False, "models": models}
    if method == "POST" and place.endswith("/count_tokens"):
        return "count", {"input_tokens": NOMINAL_TOKENS}
    if method == "POST" and place.endswith(":countTokens"):
        return "count", {"totalTokens": NOMINAL_TOKENS}
    return None


def wait_for_ever() -> None:
    threading.Event().wait()


def serve(script: Sequence[object], port: int) -> int:
    """Serve until interrupted, with one line per request on stderr."""

    def show(request: Request) -> None:
        print(request.line(), file=sys.stderr, flush=True)

    with ScriptedModel(script, port, on_request=show) as model:
        print(f"serving {len(model.script)} steps on {model.url}", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            wait_for_ever()
        for problem in model.problems:
            print(f"problem: {problem}", file=sys.stderr, flush=True)
    return 0
