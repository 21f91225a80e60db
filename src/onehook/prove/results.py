"""The results of a run as data: write, read, compare, and lay out as a table."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import time
import tokenize
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onehook import hosts
from onehook.hosts import HOSTS, load, wire_of
from onehook.prove.verdicts import Verdict
from onehook.version import VERSION

COMMITTED = Path(__file__).with_name("results.json")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def document(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "onehook": VERSION,
        "date": time.strftime("%Y-%m-%d"),
        "agents": {verdict.host: verdict.version for verdict in verdicts},
        "adapters": {verdict.host: adapter_hash(verdict.host) for verdict in verdicts},
        "results": [_stable(verdict) for verdict in verdicts],
    }


def _stable(verdict: Verdict) -> dict[str, Any]:
    """The results without what varies between runs, so that a committed file changes only when a result does."""
    return {name: value for name, value in verdict.to_dict().items() if name not in ("seconds", "kept")}


def adapter_hash(host: str) -> str:
    """The hash of an agent's adapter: its folder, and that of the agent that it is built on. A changed comment needs no new proof."""
    digest = hashlib.sha256()
    for name in filter(None, (host, wire_of(host).TRAITS.built_on)):
        folder = Path(hosts.__file__).parent / name
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                data = path.read_bytes()
                content = code_of(data.decode("utf-8")).encode() if path.suffix == ".py" else data
                digest.update(f"{path.relative_to(folder)} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def code_of(source: str) -> str:
    """A module without its comments, docstrings and empty lines: the same text for every version of Python, unlike a dump of its tree."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            for row in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1):
                lines[row - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def unchanged(hosts: Iterable[str]) -> list[str]:
    """The agents whose adapters have not changed since the committed results were made."""
    before = read()["adapters"]
    return [host for host in hosts if before.get(host) == adapter_hash(host)]


def merged(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Results with the cells of a later run. An adapter's current state counts as proven only if all its cells are from that run."""
    old = {(host, mode, scenario): row for (host, mode, _, scenario), row in cells(before["results"]).items()}
    new = {(host, mode, scenario): row for (host, mode, _, scenario), row in cells(after["results"]).items()}
    whole = {host for host in after["agents"] if {key for key in old if key[0] == host} <= set(new)}
    adapters = {**before["adapters"], **{host: after["adapters"][host] for host in whole}}
    order = {name: place for place, name in enumerate(HOSTS)}
    rows = sorted({**old, **new}.items(), key=lambda item: order[item[0][0]])
    return {**after, "agents": {**before["agents"], **after["agents"]}, "adapters": adapters, "results": [row for _, row in rows]}


def read(path: Path = COMMITTED) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return given


Cell = tuple[str, str, str, str]  # host, mode, version, scenario


def cells(results: Iterable[dict[str, Any]]) -> dict[Cell, dict[str, Any]]:
    return {(row["host"], row.get("mode", ""), row["version"], row["scenario"]): row for row in results}


def _by_agent(results: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, dict[str, Any]]]:
    """(host, mode, scenario) -> version -> its row."""
    found: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in results:
        found.setdefault((row["host"], row.get("mode", ""), row["scenario"]), {})[row["version"]] = row
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What changed, cell by cell; only agents in both runs are compared."""
    old, new = _by_agent(before["results"]), _by_agent(after["results"])
    versions = {host: (before["agents"][host], version) for host, version in after["agents"].items() if host in before["agents"]}
    lines = [f"{host}: {was} -> {now}" for host, (was, now) in sorted(versions.items()) if was != now]
    for cell in sorted(set(old) & set(new)):
        (was,), (now,) = old[cell].values(), new[cell].values()
        if was["verdict"] != now["verdict"]:
            host, mode, scenario = cell
            lines.append(f"{f'{host} {mode}'.strip()} {scenario}: {was['verdict']} -> {now['verdict']}. {now.get('detail', '')}".rstrip())
    return lines


def between_releases(results: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The scenarios whose verdicts differ between the releases of an agent."""
    found: list[dict[str, Any]] = []
    for (host, mode, scenario), by_version in _by_agent(results).items():
        verdicts = {version: row["verdict"] for version, row in by_version.items()}
        if len(set(verdicts.values())) > 1:
            details = {version: row["detail"] for version, row in by_version.items() if row.get("detail")}
            found.append({"host": host, "mode": mode, "scenario": scenario, "verdicts": verdicts, "details": details})
    return found


def known_facts(results: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    """What the hosts declare about the releases of a run."""
    releases = dict.fromkeys((row["host"], row["version"]) for row in results)
    facts = ((host, version, fact) for host, version in releases for fact in load(host, "live").TRAITS.facts if fact.holds(version))
    return [{"host": host, "version": version, "what": fact.what} for host, version, fact in facts]


def compared(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a run of several releases: what differs between them, and what is known about them."""
    versions: dict[str, dict[str, None]] = {}
    for row in document["results"]:
        versions.setdefault(row["host"], {})[row["version"]] = None
    releases = {host: list(found) for host, found in versions.items()}
    rest = {name: value for name, value in document.items() if name not in ("agents", "results")}
    results = document["results"]
    return {**rest, "releases": releases, "differs": between_releases(results), "known": known_facts(results), "results": results}
