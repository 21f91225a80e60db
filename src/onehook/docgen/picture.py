"""docs/proof.svg and docs/resident.svg: results and figures as pictures. Written by `python -m onehook.docgen.matrix`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

from onehook.prove.report import SHORT, columns, summary
from onehook.prove.results import cells
from onehook.prove.scenarios import SCENARIOS
from onehook.prove.verdicts import ABSENT, CLAIMED, DECLARED, MISS, PROVEN

# verdict -> background and text colour of its cells, with enough contrast; the cell also names it
COLOURS = {
    PROVEN: ("#d7f2dd", "#11602b"), DECLARED: ("#fdeec2", "#7a5200"), CLAIMED: ("#dbe9fb", "#174a8c"),
    ABSENT: ("#f3f4f6", "#6b7280"), MISS: ("#b91c1c", "#ffffff"),
}  # fmt: skip
ROW, HEAD, CELL, LABEL, MARGIN = 22, 70, 92, 390, 14
FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif'"


def picture(document: dict[str, Any]) -> str:
    agents = columns(document["results"])
    rows = [scenario for scenario in SCENARIOS if any(row["scenario"] == scenario.id for row in document["results"])]
    width, height = 2 * MARGIN + LABEL + CELL * len(agents), 2 * MARGIN + HEAD + ROW * len(rows)
    told = f"onehook {document['onehook']}, {document['date']}: {summary(document['results'])}"
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img' {FONT}>",
        f"<title>{escape(told)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='#ffffff' stroke='#d1d5db'/>",
        _text(MARGIN, MARGIN + 16, told, "font-size='14' font-weight='600' fill='#111827'"),
        *_heads(agents),
        *(line for index, scenario in enumerate(rows) for line in _row(index, scenario, agents, cells(document["results"]))),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(x: float, y: float, text: str, style: str) -> str:
    return f"<text x='{x:g}' y='{y:g}' {style}>{escape(text)}</text>"


def _heads(agents: list[tuple[str, str, str]]) -> Iterator[str]:
    for index, (host, mode, version) in enumerate(agents):
        middle = MARGIN + LABEL + CELL * (index + 0.5)
        yield _text(middle, MARGIN + 44, f"{host} {mode}".strip(), "font-size='12' font-weight='600' text-anchor='middle' fill='#111827'")
        yield _text(middle, MARGIN + 60, version, "font-size='11' text-anchor='middle' fill='#6b7280'")


def _row(index: int, scenario: Any, agents: list[tuple[str, str, str]], by_cell: dict[Any, dict[str, Any]]) -> Iterator[str]:
    top = MARGIN + HEAD + ROW * index
    yield _text(MARGIN, top + 15, scenario.title, "font-size='12' fill='#111827'")
    for column, agent in enumerate(agents):
        cell = by_cell.get((*agent, scenario.id))
        if cell is None:
            continue
        left, (back, ink) = MARGIN + LABEL + CELL * column, COLOURS[cell["verdict"]]
        yield f"<rect x='{left + 1}' y='{top + 1}' width='{CELL - 2}' height='{ROW - 2}' rx='3' fill='{back}'/>"
        yield _text(left + CELL / 2, top + 15, SHORT[cell["verdict"]], f"font-size='11' text-anchor='middle' fill='{ink}'")


def _framed(width: float, height: float, title: str) -> list[str]:
    """The beginning of a picture with a title."""
    return [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img' {FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='#ffffff' stroke='#d1d5db'/>",
        _text(MARGIN, MARGIN + 14, title, "font-size='14' font-weight='600' fill='#111827'"),
    ]


def _cells(page: str, heading: str) -> list[list[str]]:
    """The tables below a heading of a page, without their first line."""
    lines = page.partition(heading)[2].partition("\n##")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]


BAR, WIDEST = 26, 420


def bars(page: str) -> str:
    """The first table of "Resident mode" in docs/benchmarks.md as bars: how many starts of a bare interpreter an event takes."""
    cells = _cells(page, "## Resident mode")
    figures = [(row[0], float(row[1])) for row in cells if len(row) == 4]
    most = max(figure for _, figure in figures)
    width, height = 2 * MARGIN + LABEL + WIDEST + 50, 2 * MARGIN + 30 + BAR * len(figures)
    title = "One event, in starts of a bare interpreter (python -I -c pass); less is better"
    drawn = _framed(width, height, title)
    for index, (name, figure) in enumerate(figures):
        top, length = MARGIN + 30 + BAR * index, WIDEST * figure / most
        colour = "#11602b" if name.startswith("resident, native") else "#174a8c" if name.startswith("resident") else "#9ca3af"
        drawn.append(_text(MARGIN, top + 16, name, "font-size='12' fill='#111827'"))
        drawn.append(f"<rect x='{MARGIN + LABEL}' y='{top + 4}' width='{length:.1f}' height='{BAR - 8}' rx='3' fill='{colour}'/>")
        drawn.append(_text(MARGIN + LABEL + length + 6, top + 16, f"{figure:.2f}", "font-size='11' fill='#111827'"))
    return "\n".join([*drawn, "</svg>"]) + "\n"


PANEL, HIGH, GAP = 250, 150, 34
LINES = (("not resident", "#6b7280"), ("resident, native client", "#11602b"))


def curves(page: str) -> str:
    """The table of "As things grow" in docs/benchmarks.md: a panel for each thing that grows, a line for each way."""
    cells = _cells(page, "### As things grow")
    panels: dict[str, list[tuple[str, list[float]]]] = {}
    for what, size, *figures in cells:
        panels.setdefault(what, []).append((size, [float(figure) for figure in figures]))
    width, height = 2 * MARGIN + len(panels) * (PANEL + GAP) - GAP, 2 * MARGIN + HIGH + 116
    title = "One event as things grow, in starts of a bare interpreter (python -I -c pass); less is better"
    drawn = _framed(width, height, title)
    for index, (name, colour) in enumerate(LINES):
        drawn.append(_text(MARGIN + 180 * index, MARGIN + 36, name, f"font-size='12' fill='{colour}'"))
    for index, (what, points) in enumerate(panels.items()):
        drawn += _panel(MARGIN + index * (PANEL + GAP), MARGIN + 86, what, points)
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _panel(left: float, top: float, what: str, points: list[tuple[str, list[float]]]) -> Iterator[str]:
    most = max(max(figures) for _, figures in points) * 1.15
    step = PANEL / len(points)
    yield f"<line x1='{left}' y1='{top + HIGH}' x2='{left + PANEL}' y2='{top + HIGH}' stroke='#d1d5db'/>"
    yield _text(left, top - 18, what, "font-size='12' font-weight='600' fill='#111827'")
    for number, (size, _) in enumerate(points):
        yield _text(left + step * (number + 0.5), top + HIGH + 16, size, "font-size='10' text-anchor='middle' fill='#4b5563'")
    for column, (_, colour) in enumerate(LINES):
        heights = [figures[column] for _, figures in points]
        places = [(left + step * (number + 0.5), top + HIGH - HIGH * height / most) for number, height in enumerate(heights)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2'/>"
        for (x, y), height in zip(places, heights):
            yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>"
            yield _text(x, y - 7, f"{height:.2f}", f"font-size='10' text-anchor='middle' fill='{colour}'")
