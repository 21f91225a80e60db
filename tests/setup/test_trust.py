"""`install --trust` writes what the agent's own prompt would, keeps it in sync with the entries, and removes exactly that."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import Diagnosis
from onehook.hostkit.trust import repository
from onehook.hosts import having, load
from onehook.setup.entries import ours_in
from onehook.setup.installed import config_files
from onehook.setup.plan import Plan, config_of, place_of
from onehook.setup.preview import unified_diff
from onehook.setup.trust import untrusted
from onehook.textedit.document import Document
from tests.host_folders import facts
from tests.setup.installing import IN_PROJECTS, Place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")
TRUSTING = [host for host in having("trust") if host in IN_PROJECTS]
# What a person's file may look like; DIR is another folder that they trust.
FILES = {host: list(facts(host).TRUST_FILES) for host in TRUSTING}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def asking(place: Place, host: str) -> Place:
    if facts(host).ASKS_FOR_TRUST:
        name, text = facts(host).ASKS_FOR_TRUST
        put(place.home / name, text)
    return place


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def store_of(place: Place, host: str) -> Path:
    return load(host, "trust").store(place.machine).path  # type: ignore[call-overload]


def trust(place: Place, hosts: list[str], scope: str = "project", **options: Any) -> Plan:
    return place.install(hosts, scope, trust=True, **options)


def skipped(place: Place, host: str, scope: str = "project") -> list[Diagnosis]:
    """What doctor says about the trust of the installed entries."""
    config, file = config_of(host), place_of(host, scope, place.machine)
    assert file is not None
    return list(untrusted(host, place.machine, file, ours_in(config, Document(file.path, file.format).data()), "onehook install p.py"))


CASES = [(host, text) for host in TRUSTING for text in [None, *FILES[host]]]


@pytest.mark.parametrize(("host", "text"), CASES, ids=[f"{host}-{index}" for index, (host, _) in enumerate(CASES)])
def test_trust_is_written_once_and_taken_back_to_the_byte(place: Place, host: str, text: str | None) -> None:
    asking(place, host)
    if text is not None:
        put(store_of(place, host), text.replace("DIR", str(place.root / "other")))
    before = place.snapshot()
    place.install([host])
    (finding,) = skipped(place, host)
    assert finding.level == load(host, "trust").LEVEL  # type: ignore[call-overload]
    assert "onehook install p.py --trust" in finding.fix
    assert [edit.kind for edit in trust(place, [host]).edits] == ["trust"]
    assert skipped(place, host) == []
    written = place.snapshot()
    assert trust(place, [host]).edits == []
    place.install([host])
    assert place.snapshot() == written
    if text and str(place.root / "other") in store_of(place, host).read_text():
        assert store_of(place, host).read_text().count(str(place.root / "other")) == text.count("DIR")
    place.uninstall([host])
    assert place.snapshot() == before


@pytest.mark.parametrize("host", TRUSTING)
def test_without_trust_nothing_is_written_to_the_store(place: Place, host: str) -> None:
    asking(place, host)
    place.install([host])
    place.install([host], timeout=7.0)
    assert not store_of(place, host).exists()


@pytest.mark.parametrize("host", TRUSTING)
def test_what_the_user_trusted_before_stays_after_uninstall(place: Place, host: str) -> None:
    asking(place, host)
    trust(place, [host])
    text = store_of(place, host).read_text()
    place.uninstall([host])
    put(store_of(place, host), text)
    assert [edit.kind for edit in trust(place, [host]).edits] == ["config"]
    place.uninstall([host])
    assert store_of(place, host).read_text() == text


@pytest.mark.parametrize("host", TRUSTING)
def test_a_file_that_changed_since_loses_only_what_was_written(place: Place, host: str) -> None:
    asking(place, host)
    first = FILES[host][0].replace("DIR", str(place.root / "other"))
    store = put(store_of(place, host), first)
    trust(place, [host])
    changed = store.read_text().replace(str(place.root / "other"), str(place.root / "changed"))
    assert changed != store.read_text()
    store.write_text(changed)
    place.uninstall([host])
    assert store.read_text() == first.replace(str(place.root / "other"), str(place.root / "changed"))


@pytest.mark.parametrize("host", TRUSTING)
def test_projects_that_share_a_store_do_not_touch_each_other(tmp_path: Path, host: str) -> None:
    one, two = asking(Place(tmp_path, "one"), host), Place(tmp_path, "two")
    before = one.snapshot()
    trust(one, [host])
    alone = one.snapshot()
    trust(two, [host])
    assert skipped(one, host) == skipped(two, host) == []
    two.uninstall([host])
    assert skipped(one, host) == [] and one.snapshot() == alone
    trust(two, [host])
    one.uninstall([host])
    assert skipped(two, host) == []
    two.uninstall([host])
    assert one.snapshot() == before


@pytest.mark.parametrize("host", TRUSTING)
def test_a_new_trust_file_is_private(place: Place, host: str) -> None:
    asking(place, host)
    trust(place, [host])
    assert store_of(place, host).stat().st_mode & 0o777 == 0o600


def test_a_preview_of_a_trust_file_shows_nothing_but_the_change(place: Place) -> None:
    put(place.home / ".claude.json", '{\n  "token": "secret",\n  "projects": {},\n  "key": "secret"\n}\n')
    shown = unified_diff(trust(place, ["claude"]).edits, colour=False)
    assert "hasTrustDialogAccepted" in shown and "secret" not in shown
    put(place.home / ".claude.json", json.dumps({"token": "secret" * 300}))
    shown = unified_diff(trust(place, ["claude"]).edits, colour=False)
    assert "secret" not in shown and "characters)" in shown


def test_agents_without_a_trust_file_are_named_once(place: Place) -> None:
    notes = [note for note in trust(place, list(config for config in having("config"))).notes if "--trust" in note]
    (note,) = notes
    absent = [config_of(host).TITLE for host in having("config") if host not in having("trust")]
    assert absent and all(title in note for title in absent)
    assert [note for note in trust(place, ["codex"]).notes if "--trust" in note] == []


# ---- Codex: a hash for each entry


def codex(place: Place) -> dict[str, Any]:
    return Document(store_of(place, "codex"), "toml").data()  # type: ignore[no-any-return]


def state(place: Place) -> dict[str, str]:
    """Position of a hook in its file -> its hash."""
    found = codex(place).get("hooks", {}).get("state", {})
    return {key.removeprefix(f"{place.project}/.codex/hooks.json:"): value["trusted_hash"] for key, value in found.items()}


def test_the_hash_is_the_one_of_codex() -> None:
    """From hooks/list of `codex app-server` 0.166.0 and 0.147.0."""
    from onehook.hostkit.config import Found
    from onehook.hosts.codex.trust import hash_of

    def found(event: str, matcher: str, **handler: Any) -> Found:
        return Found(event, ("hooks", event, 0, "hooks", 0), handler["command"], handler, matcher)

    cases = [
        (found("PreToolUse", "Bash", command="exit 2", timeout=7), "36889d19faf955d59488f242964b815cf5ca4bac958e9a1427b160c2e54cc878"),
        (found("PreToolUse", "", command='echo "a b" é'), "ba5f1ebdeea982d476106c6c07fee21361c6ffd45c365774de34a98e3af5af0a"),
        (found("UserPromptSubmit", "*", command="true", timeout=0), "f0c0f35809caa52f391471e7316ed0b29ebcffa41b11dd2f54012873d4a70d0e"),
        (found("Stop", "", command="true", statusMessage="x"), "dad74b0ffed2b622525942942d9e8d33e1745c42f9eae445053ec2697bf785db"),
    ]
    assert [hash_of(entry, False) for entry, _ in cases] == [f"sha256:{digest}" for _, digest in cases]


def test_installing_again_with_other_options_renews_the_hashes_and_leaves_no_stale_one(place: Place) -> None:
    trust(place, ["codex"])
    first = state(place)
    plan = place.install(["codex"], timeout=7.0, matchers={"": "Bash"})
    assert {edit.kind for edit in plan.edits} == {"config", "trust"}
    renewed = state(place)
    assert renewed.keys() == first.keys() and not set(renewed.values()) & set(first.values())
    assert skipped(place, "codex") == []
    place.install(["codex"], events=("PreToolUse", "Stop"))
    assert state(place).keys() == {"pre_tool_use:0:0", "stop:0:0"}
    assert skipped(place, "codex") == []


def test_an_entry_that_somebody_changed_is_not_trusted(place: Place) -> None:
    trust(place, ["codex"])
    file = place.project / ".codex" / "hooks.json"
    file.write_text(file.read_text().replace('"timeout": 30', '"timeout": 31', 1))
    (finding,) = skipped(place, "codex")
    assert finding.what.count(" hook") == 1 + finding.what.count("the hooks")


def test_only_the_policy_that_a_person_trusted_is_trusted(place: Place) -> None:
    trust(place, ["codex"], events=("PreToolUse",))
    other = put(place.project / "other.py", place.policy.read_text())
    place.install(["codex"], policy=other, events=("PreToolUse",))
    assert state(place).keys() == {"pre_tool_use:0:0"}
    place.install(["codex"], policy=other, events=("PreToolUse",), timeout=9.0)
    assert state(place).keys() == {"pre_tool_use:0:0"}
    assert len(skipped(place, "codex")) == 1


def test_trust_moves_with_an_entry_that_moves(place: Place) -> None:
    before = place.snapshot()
    other = put(place.project / "other.py", place.policy.read_text())
    place.install(["codex"], events=("PreToolUse",))
    trust(place, ["codex"], policy=other, events=("PreToolUse",))
    assert state(place).keys() == {"pre_tool_use:1:0"}
    place.uninstall(["codex"], place.policy)
    assert state(place).keys() == {"pre_tool_use:0:0"}
    assert skipped(place, "codex") == []
    place.uninstall(["codex"])
    other.unlink()
    assert place.snapshot() == before


def test_a_refusal_of_the_user_is_put_back(place: Place) -> None:
    text = f'[projects."{place.project}"]\ntrust_level = "untrusted" # not yet\n'
    store = put(store_of(place, "codex"), text)
    trust(place, ["codex"])
    assert codex(place)["projects"][str(place.project)] == {"trust_level": "trusted"}
    store.write_text(store.read_text() + "\n[tui]\nx = 1\n")
    place.uninstall(["codex"])
    assert store.read_text() == text + "\n[tui]\nx = 1\n"


@pytest.mark.parametrize("again", ["install", "uninstall"])
def test_trust_that_the_user_withdrew_is_not_written_again(place: Place, again: str) -> None:
    trust(place, ["codex"])
    store = store_of(place, "codex")
    store.write_text(store.read_text().replace('trust_level = "trusted"', 'trust_level = "untrusted"'))
    getattr(place, again)(["codex"])
    assert codex(place) == {"projects": {str(place.project): {"trust_level": "untrusted"}}}


@pytest.mark.parametrize("text", ["model = 1\n", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'true'\n"])
def test_the_users_hooks_and_the_trust_may_be_in_one_file(tmp_path: Path, text: str) -> None:
    one, two = Place(tmp_path, "one"), Place(tmp_path, "two")
    store = put(store_of(one, "codex"), text)
    before = one.snapshot()
    for first, second in ((one, two), (two, one)):
        trust(first, ["codex"], "user", events=("PreToolUse",))
        trust(second, ["codex"], events=("PreToolUse",))
        assert skipped(first, "codex", "user") == skipped(second, "codex") == []
        first.uninstall(["codex"], scopes=("user",))
        assert skipped(second, "codex") == []
        trust(first, ["codex"], "user", events=("PreToolUse",))
        second.uninstall(["codex"], scopes=("project",))
        assert skipped(first, "codex", "user") == []
        store.write_text(store.read_text() + "# changed\n")
        first.uninstall(["codex"], scopes=("user",))
        assert store.read_text() == text + "# changed\n"
        store.write_text(text)
    assert one.snapshot() == before


def test_a_store_that_cannot_be_edited_is_an_error_and_nothing_is_changed(place: Place) -> None:
    from onehook.textedit.document import ConfigError

    put(store_of(place, "codex"), "projects = {}\n")
    before = place.snapshot()
    with pytest.raises(ConfigError, match="projects is an inline value"):
        trust(place, ["codex"])
    assert place.snapshot() == before


def test_the_scopes_of_one_agent_share_its_trust(place: Place) -> None:
    before = place.snapshot()
    trust(place, ["claude"])
    assert trust(place, ["claude"], "local").edits[0].kind == "config"
    place.uninstall(["claude"], scopes=("project",))
    assert skipped(place, "claude", "local") == []
    place.uninstall(["claude"], scopes=("local",))
    assert {*place.snapshot()} - {*before} <= {"project/.claude"}


def test_a_folder_below_the_root_of_its_repository(place: Place) -> None:
    (place.root / ".git").mkdir()
    trust(place, ["claude", "codex", "droid"])
    assert list(codex(place)["projects"]) == [str(place.root)]
    assert skipped(place, "claude") == skipped(place, "codex") == skipped(place, "droid") == []


def test_a_linked_worktree_is_trusted_by_its_main_checkout_and_a_submodule_by_itself(place: Place) -> None:
    main = place.root / "main"
    (main / ".git").mkdir(parents=True)
    for link, root in (
        (main / ".git/worktrees/w", main),
        (Path("../main/.git/worktrees/w"), main),
        (main / ".git/modules/m", place.project),
    ):
        put(place.project / ".git", f"gitdir: {link}\n")
        assert repository(place.project / "sub") == root


def test_codex_runs_no_hooks_of_a_linked_worktree(place: Place) -> None:
    place.install(["codex"])
    (file,) = [file for file in config_files(place.machine, ["codex"]) if file.ours]
    assert file.config.diagnose(place.machine, file.place, file.data, file.ours) == []
    put(place.project / ".git", f"gitdir: {place.root}/main/.git/worktrees/w\n")
    (finding,) = file.config.diagnose(place.machine, file.place, file.data, file.ours)
    assert finding.level == "fail" and f"--project {place.root}/main" in finding.fix
    assert [edit.kind for edit in trust(place, ["codex"]).edits] == []
