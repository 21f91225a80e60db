"""Which commands in public material the packs stop: python bench/public_commands.py [--packs P] [--table FILE] SOURCE ...

A source is a git directory, or the unpacked source package of a program. Commands are taken from the recipes of Makefiles, the steps of
CI files, the RUN lines of Dockerfiles, the scripts of package.json, the aliases of shell start-up files, and the commands that
documentation shows. Prints what is stopped, with the rule, and the number of different commands.

With `--table` it writes the table of tests/packs/test_corpus.py: source, file and command, at most `PER_PROGRAM` for each program and
`PER_SOURCE` in total from each source. They are selected by the hash of the command, before anything is judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from onehook.policies.command_line import Command
from onehook.policies.shell import parse
from onehook.rules.compile import compile_layers
from onehook.rules.explain import explained, sample_event
from onehook.rules.load import Table

MAX_FILE = 300_000
MAX_COMMAND = 300
PER_PROGRAM, PER_SOURCE = 4, 24
_SHELL = "console|bash|sh|shell|shell-session|zsh|terminal|text"
_BLOCK = re.compile(rf"^( *)```+ *({_SHELL})\b[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
_RUN = re.compile(r"^( *)(?:- )?run: *(.*)$")
_STEP = re.compile(r"^ +- +(?!name:|uses:|run:|key:|id:|env:|if:|image:)(.*)$")
_ALIAS = re.compile(r"""^\s*alias (?:-\w+ )*[\w.-]+[= ](['"])(.+)\1\s*$""")
# Placeholders that a reader fills in, and what another program expands before a shell sees the line: neither is a command yet.
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w |./-]*>|\.\.\.|…|\[[A-Za-z-]+\]|\$\{\{|\{\{|@[A-Z_]+@|%\{|\bFOO\b")
_PROGRAM = re.compile(r"(\./|[\w.-]+/)*[a-z][\w.+-]*$")
# What root does to system folders in an image, on a CI machine, with sudo or where nobody else can, is setting up a machine, not working
# on a project.
_SYSTEM = re.compile(r"(?:^|[\s=:\"'])/(?:bin|boot|etc|lib\w*|root|sbin|usr|Library|System)\b")
_ONLY_ROOT = re.compile(r"(?:>|of=)\s*/(?:etc/|dev/(?!null|std|tty|fd|full|shm))")
_PROSE = {"the", "a", "this", "you", "to", "if", "and", "note", "it", "in", "for", "as", "is"}

Reader = Callable[[str], Iterator[str]]


def of_makefile(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        recipe = line.strip().lstrip("@-+").strip()
        # make expands $(X), ${X} and $@; only $$ reaches the shell, as $.
        if line.startswith("\t") and recipe and "$" not in recipe.replace("$$", ""):
            yield recipe.replace("$$", "$")


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


def of_other_ci(text: str) -> Iterator[str]:
    for found in map(_STEP.match, text.splitlines()):
        if found and " " in found[1] and ": " not in found[1]:
            yield found[1].strip().strip("\"'")


def of_markdown(text: str) -> Iterator[str]:
    for _, kind, body in _BLOCK.findall(text):
        if kind in ("bash", "sh", "shell", "zsh") and "$ " not in body:
            yield from (line.strip() for line in body.replace("\\\n", " ").splitlines())
    yield from of_prompts(text)


def of_prompts(text: str) -> Iterator[str]:
    """Commands that documentation shows after a user's prompt; those after root's prompt (#) are for whole machines."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip().startswith("$ "):
            yield line.strip()[2:].strip()


def of_dockerfile(text: str) -> Iterator[str]:
    for line in re.sub(r"\\\n(?: *#.*\n)*", " ", text).splitlines():
        if line.startswith("RUN ") and not line[4:].lstrip().startswith(("[", "--", "<")):
            yield re.sub(r"\s+", " ", line[4:]).strip()


def of_package(text: str) -> Iterator[str]:
    try:
        scripts = json.loads(text).get("scripts") or {}
    except (ValueError, AttributeError):
        return
    yield from (script for script in scripts.values() if isinstance(script, str))


def of_dotfile(text: str) -> Iterator[str]:
    yield from (found[2] for found in map(_ALIAS.match, text.splitlines()) if found)


def reader_of(path: str) -> Reader | None:
    name = path.rpartition("/")[2]
    if name in ("Makefile", "makefile", "GNUmakefile") or name.endswith(".mk"):
        return of_makefile
    if "/workflows/" in f"/{path}" and name.endswith((".yml", ".yaml")):
        return of_workflow
    if name in (".travis.yml", ".gitlab-ci.yml", ".cirrus.yml", "appveyor.yml"):
        return of_other_ci
    if name.startswith("Dockerfile"):
        return of_dockerfile
    if name == "package.json":
        return of_package
    if name.lstrip(".") in ("zshrc", "bashrc", "aliases", "bash_aliases", "profile"):
        return of_dotfile
    if name.endswith((".md", ".markdown")):
        return of_markdown
    return of_prompts if name.endswith((".rst", ".adoc", ".asciidoc", ".txt")) or name in ("README", "INSTALL", "HACKING") else None


def files_of(source: str) -> Iterator[tuple[str, str]]:
    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", source, *words], capture_output=True, check=True).stdout

    if (Path(source) / "HEAD").exists() or (Path(source) / ".git").exists():
        for line in git("ls-tree", "-r", "-l", "HEAD").decode("utf-8", "replace").splitlines():
            about, _, path = line.partition("\t")
            kind, size = about.split()[1], about.split()[3]
            if kind == "blob" and size.isdigit() and int(size) < MAX_FILE and reader_of(path):
                yield path, git("cat-file", "blob", about.split()[2]).decode("utf-8", "replace")
        return
    for found in sorted(Path(source).rglob("*")):
        path = str(found.relative_to(source))
        if reader_of(path) and found.is_file() and not found.is_symlink() and found.stat().st_size < MAX_FILE:
            yield path, found.read_text("utf-8", "replace")


def commands_of(source: str) -> dict[str, str]:
    """Each command that a shell would be given unchanged, and the file where it was first seen."""
    found: dict[str, str] = {}
    for path, text in files_of(source):
        reader = reader_of(path)
        assert reader
        for line in reader(text):
            command = line.strip()
            root = reader in (of_dockerfile, of_workflow, of_other_ci) or "sudo " in command
            if (root and _SYSTEM.search(command)) or _ONLY_ROOT.search(command):
                continue
            if "\t" not in command and command.isascii() and program_of(command):
                found.setdefault(command, path)
    return found


def program_of(command: str) -> str:
    """The first program that a line starts, or "" if the line is prose, a placeholder or a part of something longer."""
    if not 2 < len(command) <= MAX_COMMAND or _PLACEHOLDER.search(command) or command.endswith(("{", "(", "\\", ";;", "then", "do")):
        return ""
    read = parse(command)
    if read.broken or not read.commands or command.split()[0] in ("else", "elif", "fi", "done", "esac", "}"):
        return ""
    if " = " in command[:40] or "+=" in command or any(_defines_names(part) for part in read.commands[:-1]):
        return ""
    program = read.commands[0].name
    return program if _PROGRAM.match(program) and program not in _PROSE else ""


def _defines_names(command: Command) -> bool:
    """Whether it reads a file whose functions the rest of the line may call. The activate script of an environment has none that matter."""
    return command.name in (".", "source") and not any(word.endswith("activate") for word in command.argv)


def sampled(commands: dict[str, str]) -> list[str]:
    programs: Counter[str] = Counter()
    kept: list[str] = []
    for command in sorted(commands, key=lambda text: hashlib.sha256(text.encode()).digest()):
        programs[program_of(command)] += 1
        if programs[program_of(command)] <= PER_PROGRAM and len(kept) < PER_SOURCE:
            kept.append(command)
    return sorted(kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--packs", default="recommended")
    parser.add_argument("--table", help="write the sample to this file")
    parser.add_argument("sources", nargs="+")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "onehook.toml")
        rules.write_text(f'packs = ["{asked.packs}"]\n')
        table = Table(*compile_layers([("project", str(rules))]))
    seen: set[str] = set()
    rows: list[str] = []
    stopped = 0
    for source in asked.sources:
        commands = {command: path for command, path in commands_of(source).items() if command not in seen}
        seen |= set(commands)
        name = Path(source.removesuffix("/")).name
        rows += [f"{name}\t{commands[command].partition('/')[2] or commands[command]}\t{command}\n" for command in sampled(commands)]
        print(f"{name}: {len(commands)} commands")
        for command in sorted(commands):
            found = explained(table, sample_event(command, "/home/dev/project"))
            if found.decision and found.deciding is not None:
                stopped += 1
                print(f"  {found.decision} by {found.deciding.rule}: {command[:200]}")
    if asked.table:
        Path(asked.table).write_text("".join(rows))
    print(f"{len(seen)} commands, {stopped} stopped, {len(rows)} in the sample")
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
