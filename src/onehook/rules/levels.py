"""What a match does: levels, modes, layers and exceptions, and how several matches become one answer.

    off   the rule is not checked           ask   a person decides
    log   it is recorded                    deny  it is stopped
    warn  the model is told

In mode "observe" no level does more than log; what it would have done is recorded.
"""

from __future__ import annotations

from onehook.core import Options, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from onehook.core import Event

LEVELS = ("off", "log", "warn", "ask", "deny")
MODES = Options.CHOICES["mode"]
SEVERITIES = ("low", "medium", "high", "critical")
LAYERS = ("managed", "user", "project", "untrusted")  # from the strongest down; untrusted: of a project that was not trusted


class Ruling:
    """A rule that matches an event. `level` is its level, `effect` the outcome, `exception` the exception that lifted it."""

    __slots__ = (
        "ask_via",
        "effect",
        "exception",
        "file",
        "layer",
        "level",
        "line",
        "mode",
        "pack",
        "part",
        "permission",
        "reason",
        "rule",
        "severity",
    )

    def __init__(self, rule: str, reason: str, severity: str, says: dict[str, Any], part: str, pack: str = "") -> None:
        self.rule, self.reason, self.severity, self.part, self.pack = rule, reason, severity, part, pack
        self.level: str = says["level"]
        self.mode: str = says["mode"]
        self.effect = self.level if self.mode == "enforce" or self.level == "allow" else "log"
        self.file: str = says["file"]
        self.line: int = says["line"]
        self.layer: str = says["layer"]
        self.ask_via: str = says.get("ask_via", "")
        self.permission = "permission" in says  # an entry of [permissions], named by its text
        self.exception: dict[str, Any] | None = None

    def lifted_by(self, exception: dict[str, Any]) -> Ruling:
        """This ruling, without effect."""
        self.effect = "off"
        self.exception = {name: exception[name] for name in ("reason", "until", "file", "line")}
        return self

    @property
    def told(self) -> str:
        return f"{self.reason} (rule {self.rule})"

    @property
    def record(self) -> str:
        """For a log: a deny in observe mode is recorded as "would deny"."""
        return self.level if self.effect == self.level or self.exception else f"would {self.level}"

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Ruling.__slots__} | {"record": self.record}

    def withheld(self) -> dict[str, Any]:
        """As a record of an answer without effect (see core.Response)."""
        return {"by": f"rule {self.rule}", "decision": self.level, "reason": self.reason, "severity": self.severity, "part": self.part}

    def said(self) -> dict[str, Any]:
        """As a record of who answered (see core.Registration.said)."""
        kind = "permission" if self.permission else "policy" if self.rule.startswith("policies.") else "rule"
        record = {"kind": kind, "name": self.rule, "file": self.file, "line": self.line, "said": self.level, "reason": self.reason}
        if kind == "rule":
            record.update(pack=self.pack, severity=self.severity)
        if self.ask_via:
            record["ask_via"] = self.ask_via
        if self.exception:
            return {**record, "exception": self.exception["reason"], "exception_at": f"{self.exception['file']}:{self.exception['line']}"}
        return record if self.effect == self.level else {**record, "observed": True}

    def __repr__(self) -> str:
        return f"<Ruling {self.rule} {self.record} {self.part!r}>"


def rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else -1


def decided(rule: dict[str, Any], part: str, exempt: Callable[[dict[str, Any]], bool]) -> Ruling | None:
    """The ruling of a rule that matches: each layer that has the rule sets its level, and the strictest that no exception lifts wins.

    An exception is listed with what it may lift: the levels of its own layer and of those below. If all are lifted, the ruling names it.
    """
    best: Ruling | None = None
    for says in rule["says"]:
        if says["level"] == "off":
            continue
        found = Ruling(rule["id"], says["reason"] or rule["reason"], rule["severity"], says, part, rule["pack"])
        for exception in says["exceptions"]:
            if not expired(exception) and exempt(exception):
                found.lifted_by(exception)
                break
        if best is None or (rank(found.effect), rank(found.level)) > (rank(best.effect), rank(best.level)):
            best = found
    return best


def expired(exception: dict[str, Any], today: str = "") -> bool:
    """Whether the end date of an exception has passed; it still applies on that day."""
    if not exception["until"]:
        return False
    if not today:
        import time

        today = time.strftime("%Y-%m-%d")
    return bool(exception["until"] < today)


def answered(rulings: Sequence[Ruling]) -> Response | None:
    """The answer that results from the rulings."""
    effective = [ruling for ruling in rulings if ruling.effect not in ("off", "log")]
    records = [ruling.withheld() for ruling in rulings if ruling.effect == "log"] or None
    by = [ruling.said() for ruling in rulings]
    if not effective:
        return Response(withheld=records, by=by) if rulings else None
    strongest = max(effective, key=lambda ruling: rank(ruling.effect))
    if strongest.effect == "allow":
        return Response("allow", strongest.reason, withheld=records, by=by)
    warnings = [f"onehook: {ruling.told}" for ruling in effective if ruling.effect == "warn"]
    context = "\n".join(dict.fromkeys(warnings)) or None
    if strongest.effect == "warn":
        return Response(additional_context=context, withheld=records, by=by)
    return Response(strongest.effect, strongest.told, additional_context=context, withheld=records, by=by)


def leveled(handler: Callable[[Event], Any], name: str, says: dict[str, Any], note: Callable[[Ruling], None]) -> Callable[[Event], Any]:
    """A Python policy's handler under a level and a mode: what it decides is capped, and what it would have done is noted."""

    def capped(event: Event) -> Any:
        from onehook.core import as_response

        response = as_response(handler(event))
        if response is None:
            return None
        detail = response.by[0] if response.by else {}  # what a policy adds to the record of its answer, such as a scan
        if response.decision not in ("deny", "ask"):
            place = {"kind": "policy", "name": name, "file": says["file"], "line": says["line"]}
            return response.copy(by=[{**place, **detail}]) if detail else response
        level = response.decision if rank(response.decision) <= rank(says["level"]) else says["level"]
        mode = "observe" if event._pause is not None and not says["fixed"] and event._pause.holds(name) else says["mode"]
        ruling = Ruling(name, response.reason or "", "high", {**says, "level": level, "mode": mode}, event.command or event.native_tool)
        note(ruling)
        if ruling.effect == response.decision:
            return response.copy(by=[{**detail, **ruling.said()}])
        capped_response = answered([ruling])
        if detail and capped_response is not None:
            capped_response.by = [{**detail, **ruling.said()}]
        return capped_response

    capped.__name__ = name
    capped.__wrapped__ = handler  # type: ignore[attr-defined]  # so that lint and the log find the policy's own code
    return capped
