"""One event, from stdin to stdout: arguments and stdin, payload to event, policy to message, message to the host's words, write.

Rules of this file and of isolate.py, the only two that touch stdio on the way to a decision:
- stdout gets only the host's JSON; what a handler prints goes to stderr.
- stdin is read to its end, always, and never trusted.
- Whatever goes wrong is answered in the host's words (words.py).
"""

from __future__ import annotations

import sys
import time

from onehook.cache import JUDGE, SERVE
from onehook.codec import loads, text_of
from onehook.core import STOPS, Hooks, NotSupported, Options, Output, PayloadError, Response, UsageError
from onehook.hostkit.effects import gates
from onehook.hosts import HOSTS, happens, optional, resolve, wire_of
from onehook.isolate import Question, alarm, forked, here, hold_standard_descriptors, write
from onehook.logger import SAFE, entry_of, kept, made_ready, rehearsed, stamp
from onehook.policy import is_manifest, load_policy, message_of, settled, source_says_closed, told
from onehook.system import NOWHERE, PAUSE_FILE, log_folder, os, project_of, quiet_file, state_folder, variable
from onehook.words import concluded, failed, failed_blindly, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn

    from onehook.core import Event, Pause
    from onehook.hosts import Wire
    from onehook.isolate import Finish, Surrounding
    from onehook.policy import Message

    Words = tuple[list[str], dict[str, list[str]], dict[str, Any], list[str]]

MAX_PAYLOAD = 64 * 1024 * 1024
USAGE = (
    "onehook run POLICY [--host ID] [--event NAME] [--mode observe|enforce] [--fail open|closed] [--timeout S] [--ask-fallback [ID=]D]"
    " [--on-unsupported warn|deny]"
)


# --- arguments and stdin ---------------------------------------------------------------------------------------------------------


class Request:
    """What the command line, or the caller of run(), requests.

    `problem` is what is wrong with it; the rest is then what could be parsed.
    """

    __slots__ = (
        "arguments", "begun", "event_name", "given", "hosts", "known", "live", "load", "pause", "pin", "policy", "probe", "problem",
    )  # fmt: skip

    def __init__(
        self,
        load: Callable[[], Hooks],
        *,
        policy: str = "",
        hosts: Sequence[str] = (),
        event_name: str = "",
        probe: str = "",
        given: dict[str, Any] | None = None,
        known: dict[str, Any] | None = None,
        arguments: Sequence[str] = (),
        problem: str = "",
        pause: Pause | None = None,
        pin: str = "",
    ) -> None:
        self.begun = time.monotonic()
        self.load = load
        self.policy = policy  # its path
        self.hosts = hosts  # who may have sent it; more than one where hosts share an entry
        self.event_name = event_name
        self.live = False  # whether an agent waits for the answer, so that it belongs in the decision log
        self.probe = probe  # doctor's probe: load the policy, then answer this, whatever the policy decides
        self.given = given or {}  # options of the command line and of run(), which win over the policy's
        self.known = known or {}  # the policy's own options, as far as they are known before it is loaded
        self.arguments = arguments
        self.problem = problem
        self.pause = pause  # what a person has paused
        self.pin = pin  # what the policy must be: see pins.py

    def options(self) -> Options:
        """The options before the policy has answered."""
        return settled({"options": self.known}, self.given)

    def options_after(self, message: Message) -> Options:
        options = settled(message, self.given, [self.policy] if self.policy else ())
        return options if "response" in message else self._paused(options)  # what is paused was already removed from an answer

    def options_without_policy(self) -> Options:
        """The options if the policy cannot be loaded. Any argument may be its path, since the arguments may be what is wrong."""
        return self._paused(settled({"made": self.known}, self.given, [*self.arguments, self.policy]))

    def _paused(self, options: Options) -> Options:
        """While everything is paused, an error blocks nothing either."""
        if self.pause is not None and not self.pause.rules and options.pausable:
            options.mode = "observe"
        return options


def requested(arguments: Sequence[str], hooks: Hooks | None = None, overrides: dict[str, Any] | None = None, host: str = "") -> Request:
    """Read the command line. Good options are used even if others are bad, so that --fail closed applies when the bad ones are reported."""
    given: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in (overrides or {}).items():
        try:
            given.update(Options.checked({name: value}))
        except UsageError as error:
            problems.append(str(error))
    policies, named, options, wrong = read_words(arguments)
    given.update(options)
    problems += wrong
    if hooks is None and not policies:
        problems.append(f"no policy given\nusage: {USAGE}")
    policy = policies[0] if policies else ""
    pin = "".join(named["pin"][-1:])
    request = Request(
        (lambda: load_policy(policy, given, pin)) if hooks is None else lambda: hooks,
        policy=policy if hooks is None else "",
        hosts=[host] if host else named["host"],
        event_name="".join(named["event"][-1:]),
        probe="".join(named["probe"][-1:]),
        given=given,
        known={} if hooks is None else hooks.options,
        arguments=arguments,
        problem=problems[0] if problems else "",
        pause=pause_of(given),
        pin=pin,
    )
    request.live = not request.probe
    return request


_words: dict[tuple[str, ...], Words] = {}  # command lines that were read: in resident mode, the next event has the same one


def read_words(arguments: Sequence[str]) -> Words:
    """The policies of a command line, the options that name something, those of the policy, and what is wrong."""
    known = _words.get(tuple(arguments))
    if known is not None:
        return known
    policies: list[str] = []
    named: dict[str, list[str]] = {"host": [], "event": [], "probe": [], "pin": []}
    given: dict[str, Any] = {}
    problems: list[str] = []
    for name, word in _tokens(arguments):
        problem = ""
        if not name:
            problem = f"unexpected argument {word!r}" if policies else ""
            policies.append(word)
        elif not word:
            problem = f"--{name} needs a value"
        elif name in named and (name != "probe" or word in ("allow", "deny")):
            named[name].append(word)
        else:
            problem = _take_option(given, name, word)
        if problem:
            problems.append(f"{problem}\nusage: {USAGE}")
            if name == "fail":  # nobody writes --fail to get the default
                given["fail"] = "closed"
    _words[tuple(arguments)] = policies, named, given, problems
    return policies, named, given, problems


def pause_of(given: dict[str, Any]) -> Pause | None:
    """What a person has paused. Without a pause, this costs an event one failed stat."""
    path = f"{state_folder()}/{PAUSE_FILE}"
    try:
        os.stat(path)
    except (OSError, ValueError):
        return None
    from onehook.pause import in_force

    return in_force(path, given.get("layer") == "managed")


def _tokens(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value, and every other argument under no name. Without argparse, which costs 8 ms on every event."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            yield "", word
            continue
        name, equals, value = word[2:].partition("=")
        # An option is never the value of another: `--event --fail closed` is an error that fails closed.
        if not equals and rest and not rest[0].startswith("--"):
            value = rest.pop(0)
        yield name, value


def _take_option(given: dict[str, Any], name: str, value: str) -> str:
    """Take one option; returns what is wrong with it."""
    try:
        given.update(Options.read(name.replace("-", "_"), value))
    except UsageError as error:
        return f"--{name}: {error}"
    return ""


def read_stdin(seconds: float = 0) -> bytes:
    """Everything on stdin, within this time (0: no limit).

    A hook that exits before its host has written everything is reported as failed, so excess input is read and discarded.
    """
    disarm = alarm(seconds) if seconds else None
    chunks: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = os.read(0, 1 << 16)
        except BlockingIOError:  # some hosts hand their own non-blocking pipe down
            os.set_blocking(0, True)
            continue
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise PayloadError(f"stdin was not closed within {seconds:g} s") from None
            break
        if not chunk:
            break
        size += len(chunk)
        if size <= MAX_PAYLOAD:
            chunks.append(chunk)
        else:
            chunks.clear()
    if disarm is not None:
        disarm()
    if size > MAX_PAYLOAD:
        raise PayloadError(f"the payload is larger than {MAX_PAYLOAD >> 20} MB")
    return b"".join(chunks)


# --- payload to event ------------------------------------------------------------------------------------------------------------


def event_of(request: Request, data: bytes) -> tuple[Wire, Event]:
    """Who sent a payload, and what it is about."""
    payload = loads(text_of(data))
    if not isinstance(payload, dict):
        raise PayloadError("the payload is not a JSON object")
    wire = resolve(request.hosts, payload)
    event = wire.parse(payload, request.event_name)
    if event.stop_chain:
        from onehook.stopguard import recalled

        recalled(event)
    event._raw = data
    event._pause, event._begun, event._given = request.pause, request.begun, request.given
    event.echo = event.echo or _answered_elsewhere(request, wire, event) or not happens(wire, event)
    return wire, event


def _answered_elsewhere(request: Request, wire: Wire, event: Event) -> bool:
    """Whether the host that runs this entry of another host has its own entry for the same event and policy."""
    if not request.hosts or wire.ID in request.hosts:
        return False
    own = optional(wire.ID, "own_entries")
    return own is not None and own.answers(event.event, request.policy, request.given.get("fail") == "closed")


def not_understood(request: Request, data: bytes, problem: str, unreadable: bool) -> Output:
    """The answer if no event can be read from the payload. The host, or the name of the event, may still be known."""
    named = [host for host in request.hosts if host in HOSTS]
    wire = wire_of(named[0]) if named else None
    names = [request.event_name]
    try:
        payload = loads(text_of(data))
        names += [value for value in payload.values() if isinstance(value, str)]
        wire = resolve(request.hosts, payload)
    except Exception:  # that it cannot be understood is why we are here
        pass
    return failed_blindly(wire, names, request.problem or problem, request.options_without_policy(), unreadable and not request.problem)


# --- all steps together ----------------------------------------------------------------------------------------------------------


def answered(request: Request, data: bytes, surrounding: Surrounding) -> Output:
    """The answer to a payload."""
    try:
        wire, event = event_of(request, data)
    except Exception as error:  # not only OnehookError: a bug in onehook must not become an allow either
        output = not_understood(request, data, told(error), isinstance(error, PayloadError))
        if isinstance(error, NotSupported) and output.exit_code != 2:
            output = Output("", 0, f"[onehook] {error}")
        return logged(request, output)
    if request.problem:
        return logged(request, failed(wire, event, request.problem, request.options_without_policy()))
    if event.echo:
        return words_of(wire, event, Response(), request.options())  # without loading the policy

    opening: dict[str, Any] = {}

    def meanwhile() -> None:
        if request.live and request.given.get("log") != "off":
            try:
                opening.update(made_ready(request, event))
            except Exception:  # the same error comes when the line is written, and is reported there
                return

    def finish(message: Message, noise: str) -> Output:
        options = request.options_after(message)
        if request.live and (message.get("response") or {}).get("decision") == "ask":
            message = held(request, wire, event, message, options)
        output = concluded(wire, event, message, options, noise, request.probe)
        output.approver = message.get("approver")
        return logged(request, output, options, message.get("sources", ""), opening)

    try:
        return surrounding(Question(request.load, event, request.given, request.known, request.begun, meanwhile), finish)
    except Exception as error:
        return logged(request, failed(wire, event, told(error), request.options_without_policy()))


def held(request: Request, wire: Wire, event: Event, message: Message, options: Options) -> Message:
    """The message of a policy that asks, with a person's answer in it, if the call is to be held until there is one."""
    via = {options.ask_via, *(one.get("ask_via") for one in message.get("by") or ())}
    always = "desk-always" in via
    if not (always or "desk" in via) or options.mode == "observe" or not gates(wire, event):
        return message
    if not always and wire.caps(event)["ask"].kind == "honoured":
        return message
    try:
        from onehook.desk.hold import held as answered_by_a_person

        message = answered_by_a_person(wire, event, message, options, request.begun, request.policy)
    except Exception as error:  # a full disk, or a bug in onehook: however the policy fails, nobody has approved it
        reason = f"this needs a person's approval, and no person could be asked ({told(error)})"
        return {**message, "response": {"decision": "deny", "reason": reason}}
    for refusal in message["refused"]:
        from onehook.log.notes import note

        note("Refused", "answer a request", refusal, by_person=False)
    return message


def logged(
    request: Request, output: Output, options: Options | None = None, sources: str = "", opening: dict[str, Any] | None = None
) -> Output:
    """The answer, with its line in the decision log to be written once the agent has it; with log="required", written now."""
    settled_options = options or request.options_without_policy()
    if not request.live or settled_options.log == "off":
        return output

    def keep() -> str:
        if not (output.by or output.error or output.dropped):
            return counted(request, output.event)
        return kept(request, output, settled_options, sources, opening)

    if settled_options.log != "required":
        output.after = keep
        return output
    problem = keep()
    event, decision = output.event, output.answer and output.answer.decision
    if problem and event is not None and settled_options.fail == "closed" and decision != "deny":
        return failed(wire_of(event.host), event, problem, settled_options)
    output.after = lambda: problem
    return output


def counted(request: Request, event: Event | None) -> str:
    """Nothing answered the event: write a short line to a separate file. Returns what went wrong, or ""."""
    if event is None:
        return ""
    now = time.time()
    name = quiet_file(stamp(now)[:10])
    took = (time.monotonic() - request.begun) * 1000
    line = f"{now:.3f} {event.host} {event.event} {event.tool or '-'} {took:.2f} {project_of(event.cwd)}".replace("\n", " ")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFE
    try:
        folder = log_folder()
        try:
            descriptor = os.open(f"{folder}/{name}", flags, 0o600)
        except FileNotFoundError:
            from os import makedirs

            makedirs(folder, mode=0o700, exist_ok=True)
            descriptor = os.open(f"{folder}/{name}", flags, 0o600)
        os.write(descriptor, f"{line}\n".encode("utf-8", "backslashreplace"))
        os.close(descriptor)
    except (OSError, ValueError) as error:
        return f"this event was not counted: {error}"
    return ""


def isolated(question: Question, finish: Finish) -> Output:
    """Run the policy in a separate process, or in a thread if there is no fork."""
    hold_standard_descriptors()
    if hasattr(os, "fork") and question.given.get("isolation", "process") == "process":
        return forked(question, finish)
    from onehook.threads import threaded

    return threaded(question, finish)


def answer(data: bytes, load: Callable[[], Hooks], **asked: Any) -> Output:
    """All steps in this process, without a deadline: for tests and for `onehook fire`. `asked`: as for Request."""
    return answered(Request(load, **asked), data, lambda question, finish: finish(message_of(question.load, question.event), ""))


def respond(request: Request, heard: Callable[[bytes, float], None] | None = None) -> Output:
    """Answer the event on stdin. Whatever goes wrong, stdin is read and an answer given. `heard`: also called with what was read."""
    try:
        data = read_stdin(request.options().timeout)
        if heard is not None:
            heard(data, request.begun)
    except Exception as error:
        output = logged(request, not_understood(request, b"", told(error), isinstance(error, PayloadError)))
    else:
        output = answered(request, data, here if is_manifest(request.policy) else isolated)
    if variable("ONEHOOK_RECORD"):
        from onehook.recorder import keep

        keep(request, output)
    return output


def run(hooks: Hooks, host: str | None = None, **options: Any) -> NoReturn:
    """Answer the event on stdin with this policy and exit. Options given here win over those of the Hooks object."""
    output = respond(requested(sys.argv[1:], hooks, options, host or ""))
    exit_code = write(output)
    # What the policy printed before run() was called is still in the buffer of sys.stdout, and was already shown on stderr.
    os.dup2(os.open(NOWHERE, os.O_WRONLY), 1)
    sys.exit(exit_code)


def main(argv: list[str]) -> NoReturn:
    """The launcher's entry point: no interpreter shutdown, since nothing is left to clean up."""
    if argv == [JUDGE]:
        from onehook.manifest.judge import main as judge

        judge()
    if argv[:1] == [SERVE]:
        if sys.platform == "win32":
            from onehook.resident.windows import serve
        else:
            from onehook.resident.zygote import serve

        serve(argv[1:], output_of, requested, question_of, rehearse)
    os._exit(write(output_of(argv)))


def output_of(argv: list[str], waited: float = 0, heard: Callable[[bytes, float], None] | None = None) -> Output:
    """Answer the event on stdin, which has already taken these seconds."""
    try:
        request = requested(argv)
        request.begun -= waited
        return respond(request, heard)
    except BaseException as error:  # the last line of defence, and KeyboardInterrupt
        closed = any("closed" in word or source_says_closed(word) for word in argv)
        return Output("", 2 if closed else 1, f"[onehook] internal error: {type(error).__name__}: {error}", alone=True)


def question_of(request: Request, data: bytes, begun: float) -> Question:
    """What a process that was forked in advance asks the policy: the same as the process that read the event."""
    request.begun = begun
    return Question(request.load, event_of(request, data)[1], request.given, request.known, begun)


def rehearse(argv: list[str], data: bytes | None = None) -> None:
    """Do for an event what can be done before there is one: answer one like it (on stdin, if it is not given) with an empty policy, and
    write nothing.

    Rules are evaluated too: their answer depends only on the event, and has no other effect.
    """
    request = requested(argv)
    rules = _rules_made_ready(request)
    request.load = Hooks
    request.given = {**request.given, "log": "on"}  # "required" would be written at once

    def surrounding(question: Question, finish: Finish) -> Output:
        if question.meanwhile is not None:
            question.meanwhile()
        for ready in rules:
            ready.rehearse(question.event)
        return finish(message_of(question.load, question.event), "")

    data = read_stdin(request.options().timeout) if data is None else data
    if event_of(request, data)[1].event in STOPS:  # letting one pass would end a count: see stopguard.py
        return
    output = answered(request, data, surrounding)
    if output.event is not None:
        rehearsed(entry_of(request, output, request.options(), ""))


def _rules_made_ready(request: Request) -> Sequence[Any]:
    """The rules of a rules file, loaded for the next event; () if the policy is something else, whose code may not run yet."""
    if not is_manifest(request.policy):
        return ()
    load: Any = sys.modules.get("onehook.rules.load")
    if load is None or not load.Ready.fit(request.policy, request.given):
        if not hasattr(request.load(), "judged"):
            return ()
        from onehook.rules import load

        load.Ready(request.policy, request.given)
    return load.Ready.kept  # type: ignore[no-any-return]
