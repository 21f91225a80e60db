"""Event, Response, Output and Hooks: plain values and the rules by which answers merge.

Rules of this file: no I/O, no names of hosts, nothing imported that costs start-up time (every hook event is a new process).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
    from typing import Any, TypeVar

    Handler = Callable[["Event"], Any]
    F = TypeVar("F", bound=Handler)

    class Memory(MutableMapping[str, Any]):
        """What event.session and event.project are."""

        @abstractmethod
        def increment(self, key: str, by: float = 1) -> Any:
            """Add to a number (0 if there is none) and return the sum."""


# The unified event names. The first five exist on every host; the others where the host has them.
EVENTS = (
    "SessionStart",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    "PostToolUseFailure",
    "PermissionRequest",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "AgentResponse",
)
# Events that some hosts have beyond those. They keep the name of the host that has them.
EXTENDED_EVENTS = (
    "AgentThought",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Interrupt",
    "MessageDisplay",
    "PermissionDenied",
    "PostCompact",
    "PostModelRequest",
    "PostModelSwitch",
    "PostToolBatch",
    "PreModelRequest",
    "PreModelSwitch",
    "SessionDelete",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "TodoCompleted",
    "TodoCreated",
    "UserPromptExpansion",
    "UserPromptTransformed",
    "WorkspaceOpen",
    "WorktreeCreate",
    "WorktreeRemove",
)
TOOLS = ("Bash", "Read", "Write", "Edit", "Delete", "Grep", "Glob", "List", "WebFetch", "WebSearch", "Agent", "MCP")
DECISIONS = ("allow", "deny", "ask")
# Denying one of these means "keep working", so a denial is never the safe answer to an error there.
STOPS = ("Stop", "SubagentStop")
# A tool has returned something (event.result).
RESULTS = ("PostToolUse", "PostToolUseFailure")


class OnehookError(Exception):
    """An error that onehook itself reports. The message is for a person, and explains what to do."""


class PayloadError(OnehookError):
    """The host sent something that cannot be read or is not what that host sends."""


class NotSupported(PayloadError):
    """A known agent that policies cannot run on yet."""


class HandlerError(OnehookError):
    """The policy's fault: a handler raised, or returned something that is not an answer.

    `handler` is the name of the handler, and `cause` the exception that it raised; "" and None if there is none. `by` is who it was,
    as in Response.
    """

    def __init__(self, text: str, handler: str = "", cause: BaseException | None = None, by: list[dict[str, Any]] | None = None) -> None:
        super().__init__(text)
        self.handler = handler
        self.cause = cause
        self.by = by


class UsageError(OnehookError):
    """The command line, the policy file or an option is wrong."""


class Mcp:
    """The server and tool of an MCP call. `server` is "" if the agent does not report it.

    `joint` is set if the agent joins both to one name ("github-mcp-server-list_issues") that cannot always be split again; handlers
    are then matched against the joined name.
    """

    __slots__ = ("joint", "server", "tool")

    def __init__(self, server: str, tool: str, joint: str = "") -> None:
        self.server = server
        self.tool = tool
        self.joint = joint

    @classmethod
    def joined(cls, name: str, joint: str) -> Mcp:
        """From a joined name. It is split only if there is just one way to do so."""
        server, _, tool = name.partition(joint) if name.count(joint) == 1 else ("", "", name)
        return cls(server, tool, joint)

    @property
    def name(self) -> str:
        return f"mcp__{self.server}__{self.tool}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mcp) and (self.server, self.tool) == (other.server, other.tool)

    def __hash__(self) -> int:
        return hash((self.server, self.tool))

    def __repr__(self) -> str:
        return f"Mcp(server={self.server!r}, tool={self.tool!r})"


class PowerShell(str):
    """A command line for PowerShell, not for a POSIX shell. `event.command` is one if the agent's tool runs PowerShell."""

    __slots__ = ()


class Change:
    """One change to one file, whichever tool makes it.

    kind: "write" (new is the whole text), "edit" (old becomes new), "delete", "move" (to `to`).
    """

    __slots__ = ("kind", "new", "old", "path", "to")

    def __init__(self, path: str, kind: str, old: str | None = None, new: str | None = None, to: str | None = None) -> None:
        self.path = path
        self.kind = kind
        self.old = old
        self.new = new
        self.to = to

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, str | None, str | None, str | None]:
        return (self.path, self.kind, self.old, self.new, self.to)

    def __repr__(self) -> str:
        return f"Change(path={self.path!r}, kind={self.kind!r}, old={self.old!r}, new={self.new!r}, to={self.to!r})"


class Facts:
    """What a tool call is about, read out of one host's own input shape."""

    __slots__ = ("changes", "command", "mcp", "paths", "url")

    def __init__(
        self,
        command: str = "",
        paths: list[str] | None = None,
        changes: list[Change] | None = None,
        url: str = "",
        mcp: Mcp | None = None,
    ) -> None:
        self.command = command
        self.changes = changes or []
        self.paths = paths or []
        self.url = url
        self.mcp = mcp


class Result:
    """What a tool returned, in the same form for every agent. Empty on events other than PostToolUse and PostToolUseFailure.

    text: the output, or the error, without what the agent adds around it. exit_code: of a command; None if the agent does not report
    it. failed: the tool failed, as far as the agent reports that. structured: the agent's own value. duration: in seconds, or None.
    """

    __slots__ = ("duration", "exit_code", "failed", "structured", "text")

    def __init__(
        self, text: str = "", exit_code: int | None = None, failed: bool = False, structured: Any = None, duration: float | None = None
    ) -> None:
        self.text = text
        self.exit_code = exit_code
        self.failed = failed
        self.structured = structured
        self.duration = duration

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("text", "exit_code", "failed", "structured", "duration")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # holds mutable values

    def __repr__(self) -> str:
        return f"Result(text={self.text!r}, exit_code={self.exit_code!r}, failed={self.failed!r})"


class Event:
    """One thing that happened in a coding agent, in the same form for every agent.

    Missing strings are "", missing lists are []; `native` is the original payload.
    """

    __slots__ = (
        "_begun",
        "_fold",
        "_given",
        "_names",
        "_pause",
        "_policy",
        "_raw",
        "_result",
        "_spell",
        "_stop_cap",
        "_tool",
        "_transcript",
        "agent_id",
        "agent_type",
        "changes",
        "command",
        "cwd",
        "echo",
        "error",
        "event",
        "host",
        "host_version",
        "last_assistant_message",
        "loop_count",
        "mcp",
        "model",
        "native",
        "native_event",
        "native_tool",
        "paths",
        "prompt",
        "session_id",
        "source",
        "stop_chain",
        "stop_hook_active",
        "tool",
        "tool_input",
        "tool_response",
        "transcript_path",
        "url",
    )

    def __init__(self, event: str, host: str, native: dict[str, Any] | None = None) -> None:
        self.event = event
        self.host = host
        self.native: dict[str, Any] = {} if native is None else native
        self.native_event = event
        self.host_version = ""
        self.session_id = ""
        self.cwd = ""
        self.transcript_path = ""
        self.model = ""
        self.tool = ""
        self.native_tool = ""
        self.tool_input: dict[str, Any] = {}
        self.tool_response: Any = None
        self.prompt = ""
        self.source = ""
        self.stop_hook_active = False
        self.stop_chain = ""  # if stop_hook_active is not true on every round: a string that stays the same until the next prompt
        self._stop_cap: int | None = None  # how often in a row the agent itself lets a stop be denied, if that is known
        self.loop_count: int | None = None
        self.last_assistant_message = ""
        self.error = ""
        self.agent_id = ""
        self.agent_type = ""
        self.echo = False  # the host repeats an event, or nothing happened: no handler sees it, and there is no answer
        self.command = ""
        self.paths: list[str] = []
        self.changes: list[Change] = []
        self.url = ""
        self.mcp: Mcp | None = None
        self._names: tuple[str, ...] = ()
        self._pause: Pause | None = None  # what a person has paused; set by the launcher, as are the next three
        self._begun: float | None = None  # when the event began, by time.monotonic(); None if nobody counts
        self._given: Mapping[str, Any] = {}  # options of the command line
        self._policy: Mapping[str, Any] = {}  # options of the policy
        self._raw = b""  # the payload as it arrived, for programs that expect exactly these bytes
        self._result: Result | None = None  # read when it is asked for
        self._fold: Callable[[Event], Facts] | None = None
        self._spell: Callable[[Event, Mapping[str, Any]], dict[str, Any]] | None = None
        self._transcript = ""  # the session's transcript in the form that the program for this event expects, if one was made
        self._tool: Any = None  # the tool's entry in the table of the host, if it has one

    def take_tool(
        self,
        names: tuple[str, ...],
        native_tool: str,
        tool_input: dict[str, Any],
        fold: Callable[[Event], Facts],
        spell: Callable[[Event, Mapping[str, Any]], dict[str, Any]] | None = None,
    ) -> None:
        """Set the tool of this event.

        names[0] is the unified name; a handler for any of the names gets the event. fold reads the facts out of the input; spell turns
        unified input keys into the host's own.
        """
        self.tool = names[0]
        self._names = (*names, native_tool)
        self.native_tool = native_tool
        self.tool_input = tool_input
        self._fold = fold
        self._spell = spell
        self._read_facts()

    def _read_facts(self) -> None:
        if self._fold is not None:
            facts = self._fold(self)
            self.command, self.paths, self.changes = facts.command, facts.paths, facts.changes
            self.url, self.mcp = facts.url, facts.mcp

    def spelled(self, modified_input: Mapping[str, Any]) -> dict[str, Any]:
        """A rewrite in the host's own spelling of the input."""
        return dict(modified_input) if self._spell is None else self._spell(self, modified_input)

    def rewritten(self, modified_input: Mapping[str, Any]) -> Event:
        """The same event with its input rewritten, as the handlers after the rewriting one see it."""
        copy = self.copy()
        copy.tool_input = {**self.tool_input, **self.spelled(modified_input)}
        copy._read_facts()
        return copy

    def after(self, answer: Response) -> Event:
        """The event as the handlers after one that gave this answer see it."""
        event = self if answer.modified_input is None else self.rewritten(answer.modified_input)
        if isinstance(answer.modified_output, str):
            event = event.copy()
            event._result = Result(**{**self.result.to_dict(), "text": answer.modified_output})
        return event

    def copy(self) -> Event:
        copy = Event(self.event, self.host, self.native)
        for slot in Event.__slots__:
            setattr(copy, slot, getattr(self, slot))
        return copy

    # Set by onehook/__init__.py, because nothing here does I/O: opens the memory of a "session" or a "project".
    open_memory: Callable[[str, Event], Memory]
    # Likewise: the tokens according to the agent's transcript, as {"tokens": ...} with what is needed to continue from there; None if it
    # does not report them.
    count_tokens: Callable[[Event, dict[str, Any] | None], dict[str, Any] | None]

    # Likewise: reads the result out of the host's own shape.
    read_result: Callable[[Event], Result]

    @property
    def result(self) -> Result:
        """What the tool returned."""
        if self._result is None:
            self._result = Event.read_result(self)
        return self._result

    @property
    def session(self) -> Memory:
        """What the policy remembers about this agent's session: a mapping that lasts from event to event."""
        return Event.open_memory("session", self)

    @property
    def project(self) -> Memory:
        """What the policy remembers about this project, whichever agent works in it."""
        return Event.open_memory("project", self)

    def to_dict(self) -> dict[str, Any]:
        """The unified event as plain data (see docs/schema/event.json)."""
        plain = {slot: getattr(self, slot) for slot in Event.__slots__ if not slot.startswith("_")}
        plain["mcp"] = None if self.mcp is None else {"server": self.mcp.server, "tool": self.mcp.tool}
        plain["changes"] = [{name: getattr(c, name) for name in ("path", "kind", "old", "new", "to")} for c in self.changes]
        plain["result"] = self.result.to_dict() if self.event in RESULTS else None
        return plain

    def __repr__(self) -> str:
        about = f" {self.native_tool}" if self.native_tool else ""
        return f"<Event {self.host} {self.event}{about}>"


# The fields of the unified answer, and two that the open stdin/stdout contract adds.
RESPONSE_FIELDS = ("decision", "reason", "user_message", "modified_input", "modified_output", "additional_context")
CONTRACT_FIELDS = ("message", "lint_command")
_ANSWER = (*RESPONSE_FIELDS, *CONTRACT_FIELDS, "native", "withheld")


class Response:
    """A handler's answer. Every field is optional; if none is set, the agent decides.

    `modified_output`, on PostToolUse and PostToolUseFailure: what the model gets instead of event.result.text; a string, or a function
    that is called with that text and returns a string.

    onehook sets the last three, not handlers. `native` contains, by agent, what a program of a manifest answered that the other fields
    cannot express. `withheld` contains decisions without effect: one record each, with who decided (`by`) and what ("decision",
    "reason", other fields of an answer, or "error"). `by` contains who answered, one record each (see Registration.said); it is not part
    of the answer, so it is ignored when answers are compared.
    """

    __slots__ = (*_ANSWER, "by", "halt")

    def __init__(
        self,
        decision: str | None = None,
        reason: str | None = None,
        user_message: str | None = None,
        modified_input: dict[str, Any] | None = None,
        additional_context: str | None = None,
        message: str | None = None,
        lint_command: str | None = None,
        native: dict[str, Any] | None = None,
        withheld: list[dict[str, Any]] | None = None,
        modified_output: str | Callable[[str], str] | None = None,
        by: list[dict[str, Any]] | None = None,
    ) -> None:
        self.decision = decision
        self.reason = reason
        self.user_message = user_message
        self.modified_input = modified_input
        self.additional_context = additional_context
        self.message = message
        self.lint_command = lint_command
        self.native = native
        self.withheld = withheld
        self.modified_output = modified_output
        self.by = by
        self.halt = False  # in a compiled answer: a denial that has to end the turn, since nothing less keeps a result from the model

    def given(self) -> list[str]:
        """The names of the fields that are set."""
        return [name for name in _ANSWER if getattr(self, name) is not None]

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.given()}

    def copy(self, **changed: Any) -> Response:
        return Response(**{**self.to_dict(), "by": self.by, **changed})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Response) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # mutable value

    def __repr__(self) -> str:
        return "Response(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in self.given()) + ")"


def allow(
    reason: str | None = None,
    *,
    user_message: str | None = None,
    modified_input: dict[str, Any] | None = None,
    additional_context: str | None = None,
) -> Response:
    """Allow it, and skip the permission prompt on agents that support that. Return nothing to leave the decision to the agent."""
    return Response("allow", reason, user_message, modified_input, additional_context)


def deny(reason: str = "denied by policy", *, user_message: str | None = None, additional_context: str | None = None) -> Response:
    """Block it, and tell the model the reason. On Stop, the agent keeps working, for this reason."""
    return Response("deny", reason, user_message, None, additional_context)


def ask(
    reason: str | None = None,
    *,
    user_message: str | None = None,
    modified_input: dict[str, Any] | None = None,
    additional_context: str | None = None,
) -> Response:
    """Let the user decide. On agents that cannot ask, it becomes `ask_fallback` (deny), with a warning."""
    return Response("ask", reason, user_message, modified_input, additional_context)


def as_response(value: object) -> Response | None:
    """What a handler returned, as a checked Response; None for no opinion."""
    if value is None:
        return None
    if isinstance(value, dict):
        known = RESPONSE_FIELDS + CONTRACT_FIELDS
        unknown = [str(key) for key in value if key not in known]
        if unknown:
            raise HandlerError(f"unknown key {unknown[0]!r} in the returned dict; the keys are {', '.join(RESPONSE_FIELDS)}")
        value = Response(**value)
    if not isinstance(value, Response):
        kind = type(value).__name__
        raise HandlerError(f"returned {kind}; return allow(), deny(reason), ask(reason), a Response, a dict with its keys, or nothing")
    if value.decision is not None and value.decision not in DECISIONS:
        raise HandlerError(f"unknown decision {value.decision!r}; a decision is one of {', '.join(DECISIONS)}")
    for name in value.given():
        field = getattr(value, name)
        wanted: type = {"modified_input": dict, "native": dict, "withheld": list}.get(name, str)
        if not isinstance(field, wanted) and not (name == "modified_output" and callable(field)):
            raise HandlerError(f"{name} must be a {wanted.__name__}, not {type(field).__name__}")
    return value


class Drop:
    """Something that a handler asked for and that does not take effect on this agent.

    kind: "dropped" (left out of the answer), "unheeded" (written, but the agent ignores it), "moved" (it takes effect as the field
    `becomes`), "superseded" (the field that it would have moved to has a value already), "downgraded" (an ask that turned into the
    decision `becomes`), "ended" (a stop that is no longer denied).
    """

    __slots__ = ("becomes", "event", "fields", "host", "kind", "warning", "why")

    def __init__(
        self, host: str, event: str, field: str | tuple[str, ...], why: str, kind: str = "dropped", becomes: str = "", warning: str = ""
    ) -> None:
        self.host = host
        self.event = event
        self.fields = (field,) if isinstance(field, str) else field
        self.why = why
        self.kind = kind
        self.becomes = becomes
        self.warning = warning  # a special wording, with {fallback} for what an ask becomes

    @property
    def field(self) -> str:
        return ", ".join(self.fields)

    @property
    def text(self) -> str:
        if self.warning:
            return self.warning.replace("{fallback}", self.becomes)
        where = f"{self.host} {self.event}:"
        if self.kind == "downgraded":
            return f"{where} {self.field!r} is not honoured ({self.why}); it becomes {self.becomes!r}."
        return f"{where} {self.field!r} dropped: {self.why}"

    def to_dict(self) -> dict[str, Any]:
        return {"fields": list(self.fields), "kind": self.kind, "why": self.why, "becomes": self.becomes, "text": self.text}

    def __str__(self) -> str:
        return f"[onehook] {self.text}"

    def __repr__(self) -> str:
        return f"Drop({self.host!r}, {self.event!r}, {self.field!r}, {self.why!r}, {self.kind!r})"


class Output:
    """What the host gets. `alone` means that stderr is the host's message channel: nothing else may be written there."""

    __slots__ = ("after", "alone", "answer", "approver", "by", "dropped", "error", "event", "exit_code", "stderr", "stdout")

    def __init__(self, stdout: str = "", exit_code: int = 0, stderr: str = "", alone: bool = False) -> None:
        self.stdout = stdout
        self.exit_code = exit_code
        self.stderr = stderr
        self.alone = alone
        self.dropped: list[Drop] = []
        self.answer: Response | None = None  # the parts of the policy's answer that take effect; None if there was an error instead
        self.error = ""  # what went wrong, if this is the answer to an error
        self.event: Event | None = None  # what it answers, if that is known
        self.by: list[dict[str, Any]] = []  # who answered (see Registration.said)
        self.approver: str | None = None  # the person who decided
        self.after: Callable[[], str] | None = None  # what is left to do once it is written; returns what to report on stderr

    def __repr__(self) -> str:
        return f"Output(stdout={self.stdout!r}, exit_code={self.exit_code}, stderr={self.stderr!r})"


_NUMBERS = ("timeout", "stop_limit", "log_keep", "log_size", "ask_wait", "host_timeout")
ASK_VIA = (
    "agent",
    "desk",
    "desk-always",
)  # who asks the person: the agent, the desk where the agent cannot, or the desk always
BY_HOST = "_ask_fallback"  # <host>_ask_fallback: what ask becomes on only that agent


class Options:
    """The settings of a policy. Those of the command line and of run() win over those of Hooks()."""

    __slots__ = (
        "ask_fallback", "ask_fallback_by_host", "ask_via", "ask_wait", "fail", "host_timeout", "isolation", "layer", "log", "log_content",
        "log_keep", "log_size", "mode", "on_unsupported", "pausable", "stop_limit", "telemetry", "timeout",
    )  # fmt: skip
    CHOICES = {  # noqa: RUF012  (a class constant; ClassVar would import typing)
        "mode": ("observe", "enforce"),
        "fail": ("open", "closed"),
        "ask_fallback": DECISIONS,
        "ask_via": ASK_VIA,
        "on_unsupported": ("warn", "deny"),
        "isolation": ("process", "thread"),
        "pausable": (False, True),
        "layer": ("managed", "project"),
        "log": ("on", "off", "required"),
        "log_content": (False, True),
    }
    STRICTEST_FIRST = {  # noqa: RUF012  (of the numbers, the smallest is)
        "fail": ("closed", "open"),
        "ask_fallback": ("deny", "ask", "allow"),
        "ask_via": ("desk-always", "desk", "agent"),
        "on_unsupported": ("deny", "warn"),
        "pausable": (False, True),
        "log": ("required", "on", "off"),
    }
    DEFAULTS = {  # noqa: RUF012
        "mode": "enforce",
        "fail": "open",
        "timeout": 20.0,
        "ask_fallback": "deny",
        "ask_via": "agent",
        "ask_wait": 3600,
        "host_timeout": 0,  # how long the agent waits for us, as install wrote it; on the command line only. 0: 10 s longer than `timeout`
        "on_unsupported": "warn",
        "stop_limit": 5,
        "isolation": "process",
        "pausable": True,
        "layer": "project",  # "managed": installed for the whole machine; on the command line only
        "log": "on",
        "log_keep": 90,
        "log_size": 1024,
        "log_content": False,
        "telemetry": "",  # where the log is sent: an OTLP endpoint
    }
    hosts: tuple[str, ...] = ()  # the known agents; filled in by the registry, which is always loaded before a policy runs

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        self.mode: str
        self.fail: str
        self.timeout: float
        self.ask_fallback: str
        self.ask_via: str
        self.ask_wait: float
        self.host_timeout: float
        self.on_unsupported: str
        self.stop_limit: int
        self.isolation: str
        self.pausable: bool
        self.layer: str
        self.log: str
        self.log_keep: float  # days
        self.log_size: float  # MB, all files together
        self.log_content: bool
        self.telemetry: str
        given = given or {}
        for name, default in Options.DEFAULTS.items():
            value = given.get(name)
            setattr(self, name, default if value is None else value)
        if self.layer == "managed" and given.get("pausable") is None:
            self.pausable = False
        self.ask_fallback_by_host: dict[str, str] = {
            name[: -len(BY_HOST)]: value for name, value in given.items() if name.endswith(BY_HOST) and value is not None
        }

    def ask_fallback_on(self, host: str) -> str:
        return self.ask_fallback_by_host.get(host, self.ask_fallback)

    @staticmethod
    def checked(given: Mapping[str, Any]) -> dict[str, Any]:
        """The options, with each agent's ask_fallback under a separate name; UsageError for an unknown option or a wrong value."""
        flat = dict(given)
        by_host = flat.get("ask_fallback")
        if isinstance(by_host, dict):
            del flat["ask_fallback"]
            flat.update({f"{host}{BY_HOST}": value for host, value in by_host.items()})
        log = flat.get("log")
        if isinstance(log, dict):  # [log] of a rules file; `write` is what log = "..." sets
            del flat["log"]
            flat.update({"log" if name == "write" else f"log_{name}": value for name, value in log.items()})
        telemetry = flat.get("telemetry")
        if isinstance(telemetry, dict):  # [telemetry]
            if unknown := [name for name in telemetry if name != "otlp"]:
                raise UsageError(f"telemetry: unknown key {unknown[0]!r}; the only one is otlp")
            flat["telemetry"] = telemetry.get("otlp")
        for name, value in flat.items():
            Options._check(name, value)
        return flat

    @staticmethod
    def _check(name: str, value: object) -> None:
        general = name
        if name.endswith(BY_HOST):
            general, host = BY_HOST[1:], name[: -len(BY_HOST)]
            if Options.hosts and host not in Options.hosts:
                raise UsageError(f"{name}: unknown agent {host!r}; the agents are {', '.join(Options.hosts)}")
        if general not in Options.DEFAULTS:
            raise UsageError(f"unknown option {name!r}; the options are {', '.join(sorted(Options.DEFAULTS))}")
        if value is None:
            return
        choices = Options.CHOICES.get(general)
        if choices and value not in choices:
            raise UsageError(f"{name}={value!r}: must be one of {', '.join(map(str, choices))}")
        if name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e6):
            raise UsageError(f"{name}={value!r}: must be a number above 0")
        if name == "telemetry" and value != "" and not str(value).startswith(("http://", "https://", "grpc://", "grpcs://")):
            raise UsageError(f'otlp = "{value}": must be an address such as http://localhost:4318 or grpc://localhost:4317')

    @staticmethod
    def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
        """The options of two policies that become one: for each option that either sets, the stricter value."""
        return {name: Options._stricter(name, first, second) for name in (*first, *(name for name in second if name not in first))}

    @staticmethod
    def _stricter(name: str, *several: Mapping[str, Any]) -> Any:
        general = BY_HOST[1:] if name.endswith(BY_HOST) else name
        values = [given.get(general) if given.get(name) is None else given[name] for given in several]
        known = [value for value in values if value is not None]
        order = Options.STRICTEST_FIRST.get(general)
        return min(known, key=order.index if order else None, default=None)

    @staticmethod
    def read(name: str, text: str) -> dict[str, Any]:
        """An option as written on the command line: --timeout 5, --ask-fallback deny, --ask-fallback ID=ask."""
        value: Any = text
        if name in _NUMBERS:
            try:
                value = float(text)
            except ValueError:
                pass  # the check names what is needed
        elif name == "ask_fallback" and "=" in text:
            host, _, decision = text.partition("=")
            value = {host: decision}
        return Options.checked({name: value})

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Options.DEFAULTS}


def covers_rule(pattern: str, rule: str) -> bool:
    """Whether a name in [levels], an exception or a pause means a rule: the rule itself, its pack, a folder of packs, or a wildcard."""
    return pattern == rule or rule.startswith(pattern + ".") or wildcard(pattern, rule)


class Pause:
    """What a person has paused: these rules, packs or handlers; () for everything. `managed`: it applies to a policy of the whole
    machine."""

    __slots__ = ("managed", "reason", "rules", "until")

    def __init__(self, until: float, rules: tuple[str, ...] = (), reason: str = "", managed: bool = False) -> None:
        self.until = until
        self.rules = rules
        self.reason = reason
        self.managed = managed

    def holds(self, name: str) -> bool:
        """Whether what a rule or handler of this name decides has no effect.

        What prevents the agent from disabling its policy is paused only by its name: otherwise a pause could be extended during the pause.
        """
        if not self.rules:
            return name not in ("policies.self_protect", "self_protected", "config_unchanged")
        return any(covers_rule(rule, name) for rule in self.rules)


class PinError(UsageError):
    """The policy, or a file that it loads, has changed since a person pinned it."""


class Registration:
    """One handler and what it wants to see. With `observed`, its answers are recorded and have no effect."""

    __slots__ = ("event", "handler", "hosts", "observed", "tools")

    def __init__(self, event: str, handler: Handler, tools: tuple[str, ...], hosts: tuple[str, ...], observed: bool = False) -> None:
        self.event = event
        self.handler = handler
        self.tools = tools
        self.hosts = hosts
        self.observed = observed

    @property
    def name(self) -> str:
        return getattr(self.handler, "__name__", None) or type(self.handler).__name__

    def said(self, what: Response | str) -> list[dict[str, Any]]:
        """Who answered, and what, for the log. `what` is the answer, or an error message.

        kind: "handler", "rule", "permission", "policy" or "program"; `said`: a decision, or what else was answered.
        """
        return [{"kind": "handler", "name": self.name, **_place_of(self.handler), **_summary(what)}]

    def as_observed(self) -> Registration:
        return type(self)(self.event, self.handler, self.tools, self.hosts, observed=True)

    def wants(self, event: Event) -> bool:
        if self.event != event.event or (self.hosts and event.host not in self.hosts):
            return False
        return not self.tools or any(tool_matches(pattern, event) for pattern in self.tools)


def _place_of(handler: Any) -> dict[str, Any]:
    """The file and the line of a function; of the innermost one if it is wrapped."""
    while hasattr(handler, "__wrapped__"):
        handler = handler.__wrapped__
    code = getattr(handler, "__code__", None) or getattr(vars(type(handler)).get("__call__"), "__code__", None)
    return {"file": code.co_filename, "line": code.co_firstlineno} if code else {}


_OTHER_ACTS = {"modified_input": "rewrite", "modified_output": "mask", "additional_context": "context", "lint_command": "lint"}


def _summary(what: Response | str) -> dict[str, Any]:
    if isinstance(what, str):
        return {"said": "error", "reason": what}
    acts = [act for field, act in _OTHER_ACTS.items() if getattr(what, field) is not None]
    said = {"said": what.decision or (acts or ["message"])[0]}
    return {**said, "reason": what.reason} if what.reason else said


def tool_matches(pattern: str, event: Event) -> bool:
    """Whether a handler's tool pattern covers the tool of this event."""
    if pattern == "*" or pattern in event._names:
        return True
    if event.mcp is None or not pattern.startswith("mcp__"):
        return False
    if event.mcp.joint:
        return wildcard(pattern[len("mcp__") :].replace("__", event.mcp.joint, 1), event.native_tool)
    if event.mcp.server:
        return wildcard(pattern, event.mcp.name)
    # The host does not report the server. Skipping the handler would silently enforce nothing, so the tool's name decides.
    _, _, tool = pattern[len("mcp__") :].partition("__")
    return wildcard(tool or "*", event.mcp.tool)


def wildcard(pattern: str, text: str) -> bool:
    """Match with * and ? only. (fnmatch would import re: 6 ms on every event.)"""
    if "?" not in pattern:  # nearly all patterns; the code below takes ten times as long
        return _in_order(pattern.split("*"), text) if "*" in pattern else pattern == text
    p = t = 0
    last, mark = -1, 0
    while t < len(text):
        if p < len(pattern) and pattern[p] == "*":
            last, mark = p, t
            p += 1
        elif p < len(pattern) and pattern[p] in ("?", text[t]):
            p += 1
            t += 1
        elif last >= 0:
            mark += 1
            p, t = last + 1, mark
        else:
            return False
    return all(rest == "*" for rest in pattern[p:])


def _in_order(parts: list[str], text: str) -> bool:
    """Whether the string begins with the first part, ends with the last, and has the others between them, in this order."""
    first, last = parts[0], parts[-1]
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts[1:-1]:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    parts = given.split("|") if isinstance(given, str) else list(given)
    if not parts or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError(f"{given!r}: give a name, names joined by '|', or a list of names")
    return tuple(part.strip() for part in parts)


class Hooks:
    """A policy: handlers for events, and how it behaves when something goes wrong.

    mode            "enforce" (default) or "observe": nothing takes effect, and what would have is written to stderr as "would deny"
    fail            "open" (default) or "closed": whether an error, a timeout or an unreadable payload blocks an event that can be stopped
    timeout         seconds for the whole event, loading the policy included (20)
    ask_fallback    what ask becomes on agents that cannot ask: "deny" (default), "allow", or "ask" to pass it on regardless; a dict sets
                    it per agent: {"ID": "ask"}, which can also be written ID_ask_fallback="ask"
    ask_via         "agent" (default); "desk": if the agent cannot ask, the call is held until a person answers with `onehook approve`;
                    or "desk-always": every ask is held, even if the agent could ask (docs/approvals.md)
    ask_wait        the longest time to wait for a person, in seconds (3600); never longer than the agent waits
    on_unsupported  "warn" (default) or "deny": what to do if the agent does not support a field of the answer
    stop_limit      how many times in a row a Stop handler may send the agent back to work (5)
    pausable        whether `onehook pause` affects it (True; False for one that is installed for the whole machine)
    log             "on" (default), "off", or "required": a failure to log is an error; a dict sets more options (docs/log.md)
    telemetry       {"otlp": "http://..."}: send the log to an OpenTelemetry collector (docs/log.md)
    """

    __slots__ = ("joins", "options", "registrations")
    grows = True  # handlers may be added later, so it is installed for the core events as well
    made: list[Hooks] = []  # noqa: RUF012  (every policy made in this process; the launcher looks here when an import fails half-way)

    def __init__(
        self,
        *,
        mode: str | None = None,
        fail: str | None = None,
        timeout: float | None = None,
        ask_fallback: str | dict[str, str] | None = None,
        ask_via: str | None = None,
        ask_wait: float | None = None,
        on_unsupported: str | None = None,
        stop_limit: int | None = None,
        pausable: bool | None = None,
        log: str | dict[str, Any] | None = None,
        telemetry: dict[str, str] | None = None,
        **by_host: str | None,
    ) -> None:
        unknown = [name for name in by_host if not name.endswith(BY_HOST)]
        if unknown:
            known = "mode, fail, timeout, ask_fallback, ask_via, ask_wait, on_unsupported, stop_limit, pausable, log, telemetry"
            raise UsageError(f"unknown option {unknown[0]!r}; the options are {known}")
        self.options = Options.checked(
            {
                "mode": mode,
                "fail": fail,
                "timeout": timeout,
                "ask_fallback": ask_fallback,
                "ask_via": ask_via,
                "ask_wait": ask_wait,
                "on_unsupported": on_unsupported,
                "stop_limit": stop_limit,
                "pausable": pausable,
                "log": log,
                "telemetry": telemetry,
                **by_host,
            }
        )
        self.registrations: list[Registration] = []
        self.joins: list[tuple[dict[str, Any], dict[str, Any]]] = []  # the options before each `use`, and those of the other; for lint
        Hooks.made.append(self)

    def on(self, event: str, *, tool: str | Iterable[str] | None = None, host: str | Iterable[str] | None = None) -> Callable[[F], F]:
        """Register the decorated function, plain or async, for an event; tool and host limit it: a name, "A|B", or a list."""
        tools, hosts = _names(tool), _names(host)
        if event not in EVENTS and event not in EXTENDED_EVENTS:
            raise ValueError(f"unknown event {event!r}{_suggestion(event)}; the events are {', '.join(EVENTS)}")

        def register(handler: F) -> F:
            if not callable(handler):
                raise TypeError(f"the handler for {event} is not callable: {handler!r}")
            self.registrations.append(Registration(event, handler, tools, hosts))
            return handler

        return register

    def use(self, other: Hooks) -> Hooks:
        """Add the handlers of another policy after this one's. If the two set an option differently, the stricter value counts.

        The mode is not merged: a policy in observe mode keeps only observing, and the rest has the mode of this policy.
        """
        self.joins.append((self.options, other.options))
        self.options = {**Options.joined(self.options, other.options), "mode": self.options.get("mode")}
        observed = other.options.get("mode") == "observe"
        self.registrations.extend(one.as_observed() if observed else one for one in other.registrations)
        return self

    def wanting(self, event: Event) -> Iterator[Registration]:
        return (registration for registration in self.registrations if not event.echo and registration.wants(event))

    def paused(self, registration: Registration, pause: Pause) -> bool:
        pausable = self.options.get("pausable")
        return (not pause.managed if pausable is None else bool(pausable)) and pause.holds(registration.name)

    def dispatch(self, event: Event) -> Response:
        """Run the handlers that want this event, in order, and merge their answers.

        The first deny wins, otherwise ask wins over allow. Contexts are joined by a blank line. Later handlers see an earlier rewrite.
        After a deny no other handler runs, except after a tool: one of them may have to mask its result.
        """
        merged = Response()
        for registration in self.wanting(event):
            without_effect = registration.observed or (event._pause is not None and self.paused(registration, event._pause))
            answer = observed(registration, event) if without_effect else call(registration, event)
            if answer is None:
                continue
            if not without_effect:
                answer.by = registration.said(answer)
            merged = merge(merged, answer)
            if merged.decision == "deny" and event.event not in RESULTS:
                break
            event = event.after(answer)
        return merged


def _suggestion(event: str) -> str:
    import difflib

    close = difflib.get_close_matches(event, EVENTS + EXTENDED_EVENTS, 1)
    return f", did you mean {close[0]!r}?" if close else ""


def call(registration: Registration, event: Event) -> Response | None:
    """One handler's answer, checked; raises HandlerError for whatever it does instead."""
    try:
        result = registration.handler(event)
        if hasattr(result, "__await__"):
            result = _finished(result)
        answer = as_response(result)
        mask = None if answer is None else answer.modified_output
        return _masked(answer, mask, event) if answer is not None and callable(mask) else answer
    except HandlerError as error:
        text = f"handler {registration.name!r}: {error}"
        raise HandlerError(text, registration.name, by=registration.said(text)) from None
    except BaseException as error:  # SystemExit, MemoryError and RecursionError too: none of them may decide
        text = f"handler {registration.name!r} raised {_describe(error)}"
        raise HandlerError(text, registration.name, error, registration.said(text)) from error


def _masked(answer: Response, mask: Callable[[str], Any], event: Event) -> Response | None:
    """An answer whose modified_output is a function, with the text that it returns; None if the answer then changes nothing."""
    text = event.result.text
    masked = mask(text)
    if not isinstance(masked, str):
        raise HandlerError(f"the function in modified_output returned {type(masked).__name__}; it has to return a string")
    answer = answer.copy(modified_output=None if masked == text else masked)
    return answer if answer.given() else None


def observed(registration: Registration, event: Event) -> Response | None:
    """What a handler would have answered, or its error, as a record."""
    try:
        answer = call(registration, event)
    except HandlerError as error:
        return Response(withheld=[{"by": registration.name, "error": str(error)}], by=_unheeded(error.by))
    if answer is None:
        return None
    answer.by = registration.said(answer)
    return withheld(answer, registration.name)


def withheld(answer: Response, by: str = "") -> Response:
    """An answer without effect: its content is in its records."""
    said = {name: value for name, value in answer.to_dict().items() if name != "withheld"}
    records = [*(answer.withheld or []), *([{"by": by, **said}] if said else [])]
    return Response(withheld=records or None, by=_unheeded(answer.by))


def _unheeded(by: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    return by and [{**one, "observed": True} for one in by]


def _finished(result: Any) -> object:
    """What an async handler returns. Uses a separate thread if a loop is already running, as in a program that embeds onehook."""
    import asyncio

    async def awaited() -> object:
        return await result

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(awaited())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, awaited()).result()


def _describe(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def merge(first: Response, second: Response) -> Response:
    """The answer of two handlers that ran one after the other."""
    rank = {None: 0, "allow": 1, "ask": 2, "deny": 3}
    stronger = rank[second.decision] > rank[first.decision]
    leading, trailing = (second, first) if stronger else (first, second)
    denied = leading.decision == "deny"
    return Response(
        decision=leading.decision,
        reason=leading.reason if leading.reason is not None or leading.decision is not None else trailing.reason,
        user_message=_joined(first.user_message, second.user_message),
        modified_input=None if denied else _overlaid(first.modified_input, second.modified_input),
        modified_output=first.modified_output if second.modified_output is None else second.modified_output,
        additional_context=_joined(first.additional_context, second.additional_context),
        message=_joined(first.message, second.message),
        lint_command=first.lint_command if second.lint_command is None else second.lint_command,
        native=overlaid(first.native, second.native),
        withheld=[*(first.withheld or []), *(second.withheld or [])] or None,
        by=[*(first.by or []), *(second.by or [])] or None,
    )


def _joined(first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return second if first is None else first
    return f"{first}\n\n{second}"


def _overlaid(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any] | None:
    if first is None or second is None:
        return second if first is None else first
    return {**first, **second}


def overlaid(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any] | None:
    """Two JSON objects merged into one, including nested objects."""
    if first is None or second is None:
        return second if first is None else first
    both = {key for key in first if isinstance(first[key], dict) and isinstance(second.get(key), dict)}
    return {**first, **second, **{key: overlaid(first[key], second[key]) for key in both}}


def define_hook(handlers: Mapping[str, Handler], **options: Any) -> Hooks:
    """A policy from a mapping: define_hook({"PreToolUse": guard, "Stop": finish}, fail="closed")."""
    hooks = Hooks(**options)
    for event, handler in handlers.items():
        hooks.on(event)(handler)
    return hooks
