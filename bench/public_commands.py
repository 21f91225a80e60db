"""What `packs = ["recommended"]` stops of the commands in public repositories: python bench/public_commands.py REPOSITORY ...

A repository is a git directory, with or without a work tree. Commands are taken from the recipes of Makefiles, the `run` steps of GitHub
workflows, and the console blocks of Markdown files. Prints the number of distinct commands in each, and what is stopped, with the rule.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from onehook.rules.compile import compile_layers
from onehook.rules.explain import explained, sample_event
from onehook.rules.load import Table

MAX_FILE = 300_000
_BLOCK = re.compile(r"^( *)```+ *(console|bash|sh|shell|shell-session|zsh|terminal)\b[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w |.-]*>")
_RUN = re.compile(r"^( *)(?:- )?run: *(.*)$")


def files_of(repository: str) -> Iterator[tuple[str, str]]:
    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True).stdout

    for line in git("ls-tree", "-r", "-l", "HEAD").decode("utf-8", "replace").splitlines():
        about, _, path = line.partition("\t")
        kind, size = about.split()[1], about.split()[3]
        if kind == "blob" and size.isdigit() and int(size) < MAX_FILE and reader_of(path):
            yield path, git("cat-file", "blob", about.split()[2]).decode("utf-8", "replace")


def reader_of(path: str):  # type: ignore[no-untyped-def]
    name = path.rpartition("/")[2]
    if name in ("Makefile", "makefile", "GNUmakefile") or name.endswith(".mk"):
        return of_makefile
    if "/workflows/" in f"/{path}" and name.endswith((".yml", ".yaml")):
        return of_workflow
    return of_markdown if name.endswith(".md") else None


def of_makefile(text: str) -> Iterator[str]:
    joined = text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("\t") and line.strip() and "$(shell" not in line:
            recipe = line.strip().lstrip("@-+")
            yield re.sub(r"\$\(([\w.-]+)\)", r"${\1}", recipe).replace("$$", "$")


def of_workflow(text: str) -> Iterator[str]:
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = _RUN.match(line)
        if not found:
            continue
        if found[2].strip()[:1] not in ("|", ">", ""):
            yield found[2].strip().strip("\"'")
            continue
        block: list[str] = []
        for below in lines[at + 1 :]:
            if below.strip() and len(below) - len(below.lstrip()) <= len(found[1]) + (2 if line.lstrip().startswith("- ") else 0):
                break
            block.append(below.strip())
        yield from "\n".join(block).replace("\\\n", " ").splitlines()


def of_markdown(text: str) -> Iterator[str]:
    for _, kind, body in _BLOCK.findall(text):
        prompted = "$ " in body
        for line in body.replace("\\\n", " ").splitlines():
            command = line.strip()
            if command.startswith("$ "):
                yield command[2:]
            elif not prompted and kind not in ("console", "shell-session", "terminal"):
                yield command


def commands_of(repository: str) -> set[str]:
    found: set[str] = set()
    for path, text in files_of(repository):
        for command in reader_of(path)(text):
            plain = re.sub(r"\$\{\{.*?\}\}", "value", command).strip()  # what a workflow fills in
            if _PLACEHOLDER.search(plain):  # a synopsis, not a command
                continue
            if len(plain) > 1 and plain[0].isascii() and plain[0] not in "#<>|{}[]()*" and not plain.endswith(("{", "(")):
                found.add(plain)
    return found


def main(repositories: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "onehook.toml")
        rules.write_text('packs = ["recommended"]\n')
        table = Table(*compile_layers([("project", str(rules))]))
    seen: set[str] = set()
    stopped = 0
    for repository in repositories:
        commands = commands_of(repository) - seen
        seen |= commands
        print(f"{repository}: {len(commands)} commands")
        for command in sorted(commands):
            found = explained(table, sample_event(command, "/home/dev/project"))
            if found.decision and found.deciding is not None:
                stopped += 1
                print(f"  {found.decision} by {found.deciding.rule}: {command[:200]}")
    print(f"{len(seen)} commands, {stopped} stopped")
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
