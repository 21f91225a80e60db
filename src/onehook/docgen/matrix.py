"""The capability matrix as documentation, generated from the committed results of a run and from the hosts' tables.

python -m onehook.docgen.matrix   rewrite matrix.md, reference.md, hosts/*.md and the pictures in docs/, and tables in handwritten pages
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from onehook.core import EVENTS, EXTENDED_EVENTS, Event
from onehook.docgen import host_pages, reference
from onehook.docgen.picture import bars, curves, picture
from onehook.hostkit.effects import Caps
from onehook.hosts import GUESTS, HOSTS, guest, having, load, optional, wire_of
from onehook.lint.codes import CODES
from onehook.lint.reach import listed
from onehook.prove.report import columns, summary
from onehook.prove.results import cells, read
from onehook.prove.scenarios import SCENARIOS
from onehook.prove.verdicts import ABSENT, CLAIMED, DECLARED, MISS, PROVEN

MARKS = {PROVEN: "proven", DECLARED: "not honoured", CLAIMED: "claimed", ABSENT: "-", MISS: "**MISS**"}
EFFECTS = ("allow", "deny", "ask", "reason", "user_message", "modified_input", "modified_output", "additional_context")
SHORT = (
    "deny",
    "ask",
    "rewrite",
    "context-prompt",
    "context-after",
    "mask",
    "prompt-blocked",
    "stop-continued",
    "stop-guard",
    "crash-closed",
    "timeout-closed",
    "imported",
)


def name_of(host: str, mode: str = "") -> str:
    return f"{host_pages.title(host)} ({mode})" if mode else host_pages.title(host)


def proofs(document: dict[str, Any], wanted: tuple[str, ...] = ()) -> str:
    """One row per scenario, one column per agent."""
    results = document["results"]
    agents, by_cell = columns(results), cells(results)
    heads = [f"{name_of(host, mode)} {version}" for host, mode, version in agents]
    lines = [f"| effect | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for scenario in SCENARIOS:
        if wanted and scenario.id not in wanted:
            continue
        row = [by_cell.get((*agent, scenario.id), {}).get("verdict", "") for agent in agents]
        lines.append(f"| {scenario.title} | {' | '.join(MARKS.get(verdict, '') for verdict in row)} |")
    return "\n".join(lines)


def not_honoured(document: dict[str, Any]) -> str:
    """The reason for each cell that is not honoured."""
    rows = [row for row in document["results"] if row["verdict"] == DECLARED]
    titles = {scenario.id: scenario.title for scenario in SCENARIOS}
    return "\n".join(f"- {name_of(row['host'], row.get('mode', ''))}, {titles[row['scenario']]}: {row.get('detail', '')}." for row in rows)


def releases() -> str:
    """The releases that the tables of each agent are proven on."""
    lines = ["| agent | package | oldest | newest | known about some releases |", "|---|---|---|---|---|"]
    for host in having("live"):
        traits = load(host, "live").TRAITS
        if traits.package:
            known = "; ".join(f"{fact.releases}: {fact.what}" for fact in traits.facts)
            package = traits.package.title.removeprefix("the ")
            lines.append(f"| {name_of(host)} | {package} | {traits.package.oldest} | {traits.package.version} | {known} |")
    return "\n".join(lines)


def capabilities(host: str, document: dict[str, Any]) -> str:
    """What an agent's table declares for each of its events: proven, claimed, or not honoured."""
    wire = wire_of(host)
    proven = {(row["event"], row.get("effect")) for row in document["results"] if row["host"] == host and row["verdict"] == PROVEN}
    lines = [f"| event | unified | {' | '.join(EFFECTS)} |", "|---" * (len(EFFECTS) + 2) + "|"]
    for native, row in wire.EVENTS.items():
        event = Event(row.event, host)
        event.native_event = native
        live = optional(host, "live")
        event.host_version = live.TRAITS.reported_version if live else ""
        caps = wire.caps(event)
        marks = [_mark(caps, effect, (row.event, effect) in proven) for effect in EFFECTS]
        lines.append(f"| {native} | {row.event} | {' | '.join(marks)} |")
    return "\n".join(lines)


def _mark(caps: Caps, effect: str, proven: bool) -> str:
    cap = caps[effect]
    if cap.kind in ("dropped", "unheeded"):
        return "becomes deny" if effect == "ask" and caps["deny"].kind == "honoured" else "-"
    if proven:
        return "proven"
    return f"as {cap.becomes}" if cap.kind == "moved" else "claimed"


def page(document: dict[str, Any]) -> str:
    agents = ", ".join(f"{name_of(host)} {version}" for host, version in document["agents"].items())
    parts = [
        "# What takes effect on which agent",
        "",
        f"Measured on {document['date']} with onehook {document['onehook']} on the real agents: {agents}.",
        "Each cell is one run of the real agent against a scripted model, with the policy installed by `onehook install`, and a",
        "control run without the policy that had to show the opposite (for the fail-open rows, with the same policy installed to fail",
        "closed; for the row about disabled hooks, with hooks enabled). `onehook prove` repeats it on your machine; see",
        "[proof.md](proof.md).",
        "",
        f"{summary(document['results'])}.",
        "",
        "- **proven**: took effect in the run. **not honoured**: the agent does not support it; onehook warns about it, as the run shows.",
        "- **claimed**: the table says that it works, but a headless run cannot show it. **-**: the agent has no such event or tool.",
        "",
        proofs(document),
        "",
        "## Reasons",
        "",
        not_honoured(document),
        "",
        "## Releases",
        "",
        "Every scenario is proven on the newest of these releases, and the core scenarios also on the oldest. `onehook doctor` warns",
        "about an agent that is older or newer.",
        "",
        releases(),
        "",
        "## Every event of every agent",
        "",
        "From the tables in the code; *proven* if a run above showed that effect on that kind of event.",
    ]
    for host in HOSTS:
        parts += ["", f"### {name_of(host)}", "", capabilities(host, document)]
    return "\n".join(parts) + "\n"


def codes() -> str:
    """Everything that lint can report."""
    rows = [(code, row.level, row.meaning, row.fix.replace("|", "\\|")) for code, row in CODES.items()]
    return reference.table(("code", "level", "finding", "fix"), rows)


def transcripts(document: dict[str, Any]) -> str:
    """Where each agent keeps the transcripts that replay reads, and the release that wrote those in the tests."""
    rows = []
    for host in having("transcripts"):
        part = load(host, "transcripts")
        files = ", ".join(f"`~/{part.FOLDER}/{pattern}`" for pattern in part.FILES)
        rows.append((name_of(host), files.replace("[0-9a-f]" * 32, "*"), document["agents"].get(host, "")))
    return reference.table(("agent", "location", "tested with"), rows)


def agents() -> str:
    """The agents that a policy can be installed on."""
    return listed([name_of(host) for host in having("config")])


def importable() -> str:
    """The agents whose hooks can be imported."""
    return listed([*map(name_of, having("imports")), *(guest(name).TITLE for name in GUESTS)])


def tables(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Tables and lists in handwritten pages: the page, the name of the table, the table."""
    return [
        ("README.md", "agents", agents()),
        ("README.md", "matrix", proofs(document, SHORT)),
        ("docs/bring-your-own.md", "importable", importable()),
        ("docs/testing.md", "codes", codes()),
        ("docs/replay.md", "transcripts", transcripts(document)),
    ]


def with_table(page: str, name: str, table: str) -> str:
    """A page with this table between the marks of this name; a list, which is one line, is part of a sentence."""
    begin, end = f"<!-- {name}: begin (generated by python -m onehook.docgen.matrix) -->", f"<!-- {name}: end -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no markers for the table {name}")
    gap = "\n" if "\n" in table else ""
    return f"{before}{begin}{gap}{table}{gap}{end}{after}"


def main(root: Path) -> int:
    document = read()
    unknown = [event for event in {row["event"] for row in document["results"]} if event not in EVENTS + EXTENDED_EVENTS]
    if unknown:
        raise ValueError(f"the results name events that do not exist: {unknown}")
    (root / "docs" / "matrix.md").write_text(page(document), encoding="utf-8")
    (root / "docs" / "reference.md").write_text(reference.page(root), encoding="utf-8")
    (root / "docs" / "proof.svg").write_text(picture(document), encoding="utf-8")
    figures = (root / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (root / "docs" / "resident.svg").write_text(bars(figures), encoding="utf-8")
    (root / "docs" / "growth.svg").write_text(curves(figures), encoding="utf-8")
    (root / "docs" / "hosts").mkdir(exist_ok=True)
    for host in HOSTS:
        (root / "docs" / "hosts" / f"{host}.md").write_text(host_pages.page(host), encoding="utf-8")
    for path, name, table in tables(document):
        (root / path).write_text(with_table((root / path).read_text(encoding="utf-8"), name, table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
