"""What lint reports of a rules file: exceptions that have ended, examples that do not hold, and rules without any."""

from __future__ import annotations

from collections.abc import Iterator

from onehook.lint.model import Finding
from onehook.rules.compile import Stack
from onehook.rules.explain import expired_exceptions, try_samples
from onehook.rules.load import layers_beside


def findings(path: str) -> Iterator[Finding]:
    for exception in expired_exceptions([("project", path)]):
        text = f"the exception to {exception['rule']} ended on {exception['until']}: {exception['reason']}"
        yield Finding("OH501", exception["line"], text, file=exception["file"])
    lines = {}
    for file in Stack("project", path).files:
        for number, rule in file.tables("rule"):
            lines[rule["id"]] = (file.path, file.line("rule", number))
            if not rule.get("matches"):
                yield Finding("OH503", file.line("rule", number), f"the rule {rule['id']} has no `matches`", file=file.path)
    for sample in try_samples(path, layers_beside(path)):
        if not sample.holds and sample.rule in lines:
            where, line = lines[sample.rule]
            yield Finding("OH502", line, str(sample), file=where)
