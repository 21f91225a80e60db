"""The packs against commands: their own examples, ordinary ones that `recommended` must let pass, and dangerous ones of every kind."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from onehook.packs import PACKS, pack_path, read_toml
from onehook.policies import self_commands
from onehook.policies.own_paths import Guarded
from onehook.policies.self_protection import Own
from onehook.rules.compile import compile_layers, read_pack
from onehook.rules.explain import explained, sample_event, samples_of
from onehook.rules.keys import RULE, problem_with
from onehook.rules.levels import LEVELS
from onehook.rules.load import Table

DATA = Path(__file__).parent.parent / "data"
DANGEROUS = read_toml("dangerous", (DATA / "dangerous_commands.toml").read_bytes())
PROJECT = "/home/dev/project"


@pytest.fixture(autouse=True)
def _home(monkeypatch):
    """Paths below ~ are judged by where it is: a home in a temporary folder, as in some containers, counts as a temporary folder."""
    monkeypatch.setenv("HOME", "/home/dev")


@pytest.fixture(autouse=True)
def _own_paths_are_found_once(monkeypatch):
    """No command in a test changes the files that self_protect guards, and finding them takes as long as judging a command."""
    known: dict[object, Guarded] = {}

    def guarded(own: Own, cwd: str) -> Guarded:
        key = (*own.policy, "", *own.allow, "", cwd)
        if key not in known:
            known[key] = Guarded(own, cwd)
        return known[key]

    monkeypatch.setattr(self_commands, "Guarded", guarded)


@pytest.fixture(scope="module")
def table_with(tmp_path_factory):
    @functools.cache
    def made(*packs: str) -> Table:
        path = tmp_path_factory.mktemp("rules") / "onehook.toml"
        path.write_text(f"packs = [{', '.join(repr(pack) for pack in packs)}]\n")
        return Table(*compile_layers([("project", str(path))]))

    return made


def stopped_of(commands: list[str], table: Table) -> list[tuple[str, object]]:
    return [(line, found.deciding) for line in commands if (found := explained(table, sample_event(line, PROJECT))).decision]


def ordinary() -> list[str]:
    lines = (DATA / "ordinary_commands.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def of_packages() -> list[tuple[str, str]]:
    """The commands in files of public packages, each with its package."""
    lines = (DATA / "public_commands.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(package, command) for package, _, command in rows]


# The keys of a pack, and those that only rules in packs have.
PACK_RULE = {
    "recommended": (LEVELS, "its level in the pack `recommended`; absent: not in it"),
    "check": ("string", "a check of policies/danger.py, instead of a pattern"),
    "programs": ("strings", "the programs that a check is asked about"),
}
PACK = {
    "about": ("string", "what the pack is for"),
    "vocabulary": ("table", "how programs' options are read"),
    "lists": ("table", "names for <near:LIST>"),
    "domains": ("list", "domains that the network pack lets pass"),
    "rule": ("tables", "its rules"),
}


@pytest.mark.parametrize("pack", PACKS)
def test_every_sample_of_a_pack_holds(pack, table_with):
    rules = [(f"{pack}.{rule['id']}", rule) for rule in read_pack(pack)["rule"]]
    assert [str(sample) for sample in samples_of(table_with(pack), rules, PROJECT) if not sample.holds] == []


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_is_complete(pack):
    data = read_toml(pack_path(pack), Path(pack_path(pack)).read_bytes())
    assert problem_with(data, PACK, ("about", "rule")) is None
    names = [rule["id"] for rule in data["rule"]]
    assert len(names) == len(set(names))
    for rule in data["rule"]:
        assert problem_with(rule, {**RULE, **PACK_RULE}, ("id", "reason", "severity")) is None
        # too-complex needs a megabyte, files.large half of one: they have separate tests.
        assert rule["id"] in ("too-complex", "large") or (rule["matches"] and rule["passes"])


def test_recommended_stops_no_ordinary_command(table_with):
    assert len(ordinary()) >= 1500
    assert stopped_of(ordinary(), table_with("recommended")) == []


def test_recommended_stops_no_command_of_public_packages(table_with):
    rows = of_packages()
    assert len(rows) >= 3000 and len({package for package, _ in rows}) >= 200
    assert stopped_of([command for _, command in rows], table_with("recommended")) == []


@pytest.mark.parametrize("path", sorted((DATA / "blind").iterdir()), ids=lambda path: path.stem)
def test_all_packs_stop_what_was_written_without_a_look_at_them(path, table_with):
    commands = [line.replace("⏎", "\n") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    assert len(commands) >= 150
    missed = [line for line in commands if explained(table_with("all"), sample_event(line, PROJECT)).decision not in ("ask", "deny")]
    assert len(missed) <= 0.03 * len(commands), missed


def peer_commands(path: Path) -> dict[str, list[str]]:
    """The commands from another guard's tests: those that must be stopped, those that are missed, and those that are not counted."""
    groups: dict[str, list[str]] = {"stopped": [], "missed": [], "not counted": []}
    kind = "stopped"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and line[2:].partition(":")[0] in groups:
            kind = line[2:].partition(":")[0]
        elif line and line[0] != "#":
            groups[kind].append(line.replace("⏎", "\n"))
    return groups


@pytest.mark.parametrize("path", sorted((DATA / "peers").iterdir()), ids=lambda path: path.stem)
def test_all_packs_stop_what_the_tests_of_other_guards_expect_to_be_stopped(path, table_with):
    groups = peer_commands(path)
    counted = [*groups["stopped"], *groups["missed"]]
    passed = [c for c in counted if explained(table_with("all"), sample_event(c, PROJECT)).decision not in ("ask", "deny")]
    assert passed == groups["missed"]
    assert len(groups["stopped"]) >= 0.95 * (len(groups["stopped"]) + len(groups["missed"]))


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_stops_what_it_is_there_to_stop(pack, table_with):
    commands = DANGEROUS[pack]
    missed = [line for line in commands if explained(table_with(pack), sample_event(line, PROJECT)).decision not in ("ask", "deny")]
    assert len(missed) <= 0.05 * len(commands), missed


def test_the_packs_alone_let_most_ordinary_commands_pass(table_with):
    """What is stopped is what the packs are about: servers, sudo, system-wide installs, remote machines; with `strict` any delete."""
    commands = [*ordinary(), *(command for _, command in of_packages())]
    found = [explained(table_with("all"), sample_event(command, PROJECT)).findings for command in commands]
    stopped = [{finding.rule.rpartition(".")[0] for finding in each if finding.level in ("ask", "deny")} for each in found]
    assert sum(bool(packs) for packs in stopped) < 0.18 * len(commands)
    assert sum(bool(packs - {"strict"}) for packs in stopped) < 0.13 * len(commands)


@pytest.mark.parametrize(
    "command",
    [
        "terraform apply -auto-approve",
        "aws s3 rb --force s3://bucket",
        "gh repo delete owner/name",
        "redis-cli flushall",
        "git checkout .",
        "npx rimraf ~",
    ],
)
def test_what_passed_before_there_were_packs(command, table_with):
    assert explained(table_with("all"), sample_event(command, PROJECT)).decision in ("ask", "deny")


@pytest.mark.parametrize(
    "wrapped", ["sudo {}", "env X=1 {}", "bash -c '{}'", "true && {}", "if true; then {}; fi", "echo $({})", "timeout 5 {}",
     "docker exec -u 0 web {}", "docker compose exec -T web {}", "docker compose run --rm web {}", "kubectl exec web -- {}", 
     "alias x='{}'", "cmd /c {}", "fd . -x {}",
     "/usr/bin/{}", "$(which aws) s3 rb --force s3://b"],
)  # fmt: skip
def test_a_wrapper_hides_nothing(wrapped, table_with):
    found = explained(table_with("cloud.aws"), sample_event(wrapped.format("aws s3 rb --force s3://b"), PROJECT))
    assert found.decision == "deny" and found.deciding.rule == "cloud.aws.s3-delete"


def test_a_text_too_long_to_read_is_stopped(table_with):
    found = explained(table_with("recommended"), sample_event("( " * 500 + "ls" + " )" * 500, PROJECT))
    assert found.deciding.rule == "core.too-complex"


def test_a_very_large_file_is_pointed_out(table_with):
    event = sample_event("Write(big.json)", PROJECT)
    event.changes[0].new = "x" * 600_000
    assert [finding.rule for finding in explained(table_with("files"), event).findings] == ["files.large"]
