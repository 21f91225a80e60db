"""Checks one policy: loads it, runs every check, and places the findings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onehook.core import BY_HOST, Options
from onehook.lint import answers, loading, reach, rules_file
from onehook.lint.codes import LEVELS
from onehook.lint.loading import DoesNotLoad, Probed
from onehook.lint.model import Finding, Handler, Policy, Shape
from onehook.lint.samples import texts_for, wanted
from onehook.lint.source import source_of
from onehook.policy import holds_rules, is_manifest
from onehook.testing.shots import chosen

# Errors that are mistakes in a handler, on whatever event; others may be meant, or due to the empty folder that lint runs handlers in.
_SLIPS = {"LookupError", "AttributeError", "TypeError", "NameError", "ValueError", "ImportError", "ArithmeticError"}
_SURROUNDINGS = {"OSError", "SubprocessError"}


@dataclass(frozen=True)
class Limits:
    import_ms: float = 20.0
    handler_ms: float = 100.0
    run_handlers: bool = True


@dataclass(frozen=True)
class Report:
    policy: str
    hosts: tuple[str, ...]
    findings: tuple[Finding, ...]
    handlers: int = 0
    imports_ms: float = 0.0
    loads: bool = True

    def worst(self, level: str) -> bool:
        """Whether there is a finding of this level or above."""
        return any(LEVELS.index(finding.level) >= LEVELS.index(level) for finding in self.findings)


def check(path: str, hosts: Sequence[str], limits: Limits = Limits()) -> Report:  # noqa: B008  (frozen)
    """Check a policy for these hosts."""
    names = tuple(chosen(hosts))
    source_of.cache_clear()
    try:
        described = loading.describe(path)
    except DoesNotLoad as error:
        fix = "fix what the message reports" if is_manifest(path) else ""
        finding = Finding("OH001", error.line, str(error), fix=fix).placed(path, error.line)
        return Report(path, names, (finding,), loads=False)
    policy = described.policy
    _read_sources(policy)
    probed = _probe(policy, names, limits) if limits.run_handlers else {}
    imports = loading.import_times(path, described)
    found = [
        *reach.findings(policy, names, described.same),
        *answers.findings(policy, names),
        *_whole(policy),
        *_join_findings(policy),
        *_run_findings(policy, probed, limits),
        *_import_findings(policy, imports, limits),
        *(rules_file.findings(path) if is_manifest(path) and holds_rules(Path(path).read_bytes()) else ()),
    ]
    shown = [complete for finding in found for complete in _placed(policy, path, finding)]
    shown.sort(key=lambda finding: (finding.file, finding.line, finding.code, finding.hosts))
    return Report(path, names, tuple(dict.fromkeys(shown)), len(policy.handlers), sum(imports.values()))


def _read_sources(policy: Policy) -> None:
    for handler in policy.handlers:
        source = source_of(handler.file)
        function = source.function_at(handler.line)
        if function is not None:
            handler.shapes |= source.shapes(function)
            handler.always_denies = source.always_denies(function)


def _probe(policy: Policy, hosts: Sequence[str], limits: Limits) -> dict[int, Probed]:
    """Run the handlers. Those that seem slow run once more, in case the machine was busy."""
    rounds = {
        handler.index: [
            (shot.host, shot.native_event, shot.payload) for shot in wanted(handler, reach.meant_hosts(handler, hosts), _texts(handler))
        ]
        for handler in policy.handlers
    }
    probed = loading.probe(policy.path, rounds)
    slow = [index for index, row in probed.items() if row.first_ms > limits.handler_ms]
    if slow:
        again = loading.probe(policy.path, {index: rounds[index][:1] for index in slow})
        for index in slow:
            probed[index].first_ms = min(probed[index].first_ms, again[index].first_ms if index in again else probed[index].first_ms)
    for index, row in probed.items():
        policy.handlers[index].shapes |= row.shapes
    return probed


def _texts(handler: Handler) -> list[str]:
    source = source_of(handler.file)
    function = source.function_at(handler.line)
    return texts_for(source.texts(function) if function is not None else [])


def _whole(policy: Policy) -> Iterator[Finding]:
    if not policy.handlers:
        yield Finding("OH002", 1, "the policy has no handlers, so it decides nothing")
    guards = [handler for handler in policy.handlers if _denies(handler.shapes)]
    others = [handler for handler in policy.handlers if handler.shapes and handler not in guards]
    if guards and not others and policy.options.get("fail") is None:
        line = source_of(policy.path).line_of_call("Hooks")
        text = 'this policy only denies, and with fail="open" an error or a timeout lets everything through'
        yield Finding("OH401", line, text, fix='set fail = "closed"' if is_manifest(policy.path) else "")


def _join_findings(policy: Policy) -> Iterator[Finding]:
    source = source_of(policy.path)
    lines = source.lines_of_call("use")
    for number, (own, other) in enumerate(policy.joins):
        line = lines[number] if len(lines) == len(policy.joins) else source.line_of_call("use")
        for name, value in Options.joined(own, other).items():
            before, theirs = (_value_of(name, options) for options in (own, other))
            if value is not None and (value != before or (other.get(name) is not None and theirs != before)):
                yield Finding("OH404", line, f"{name} is {before!r} here and {theirs!r} in the policy that is used; {value!r} counts")


def _value_of(name: str, options: dict[str, Any]) -> Any:
    """The value of an option for a separate policy: as set, or the default."""
    settled = Options(options)
    return settled.ask_fallback_on(name[: -len(BY_HOST)]) if name.endswith(BY_HOST) else getattr(settled, name)


def _denies(shapes: set[Shape]) -> bool:
    return bool(shapes) and all(shape.decision == "deny" for shape in shapes)


def _run_findings(policy: Policy, probed: dict[int, Probed], limits: Limits) -> Iterator[Finding]:
    for index, row in probed.items():
        handler = policy.handlers[index]
        if row.hung:
            yield handler.finding("OH302", f"{handler} did not return within {loading.PATIENCE} s", level="error")
        elif row.first_ms > limits.handler_ms:
            yield handler.finding("OH302", f"{handler} took {row.first_ms:.0f} ms on {row.about}; every such event waits that long")
        by_text: dict[str, list[dict[str, Any]]] = {}
        for error in row.errors:
            by_text.setdefault(error["text"], []).append(error)
        for text, errors in by_text.items():
            yield from _error_finding(handler, text, errors, always=len(row.errors) == row.calls)


def _error_finding(handler: Handler, text: str, errors: list[dict[str, Any]], always: bool) -> Iterator[Finding]:
    hosts = tuple(dict.fromkeys(error["host"] for error in errors))
    raised, line = set(errors[0]["raised"]), errors[0]["line"] or handler.line
    if not raised:
        yield handler.finding("OH403", text, hosts)
    elif always and not raised & _SURROUNDINGS:
        fix = "fix the error: until then, every such event is decided by fail= alone"
        yield replace(handler.finding("OH402", f"{text}, on every event", hosts, level="error", fix=fix), line=line)
    elif raised & _SLIPS:
        yield replace(handler.finding("OH402", f"{text}, on a sample {errors[0]['about']}", hosts), line=line)


def _import_findings(policy: Policy, imports: dict[str, float], limits: Limits) -> Iterator[Finding]:
    source = source_of(policy.path)
    for module, milliseconds in imports.items():
        if milliseconds > limits.import_ms:
            text = f"import {module} takes {milliseconds:.0f} ms on every event"
            yield Finding("OH301", source.line_of_import(module) or 1, text)
    if policy.unshared:
        yield Finding("OH303", 1, f"loading the policy {policy.unshared}; if a package does this, resident mode cannot preload packages")


def _placed(policy: Policy, path: str, finding: Finding) -> Iterator[Finding]:
    """The finding at the line where it can be fixed, unless a comment there ignores it.

    A handler that comes from a library is reported at the policy's `use` of it.
    """
    file, line, shown = finding.file or policy.path, finding.line, path
    if file != policy.path:
        if os.path.dirname(file) == os.path.dirname(policy.path):
            shown = os.path.relpath(file)
        else:
            file, line = policy.path, source_of(policy.path).line_of_use(source_of(file))
    ignored = source_of(file).ignored(line)
    if ignored is not None and finding.code not in ignored:
        yield finding.placed(shown, line)
