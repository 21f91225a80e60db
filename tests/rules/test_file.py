"""The rules file: what it may contain, what it means, and which errors are reported."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from onehook.core import UsageError
from onehook.packs import PACKS
from onehook.policy import load_policy
from onehook.rules.explain import explain, rules_on, try_samples
from onehook.rules.keys import json_schema
from onehook.rules.levels import expired

SCHEMA = Path(__file__).parent.parent.parent / "docs" / "schema" / "onehook.json"

WHOLE = """\
#:schema https://example.com/onehook.json
mode = "enforce"
fail = "closed"
packs = ["recommended", "cloud.aws", "kubernetes"]

[permissions]
deny = ["Read(./.env*)", "Edit(/etc/**)", "Bash(npm publish:*)", "mcp__github__delete_*"]
ask = ["Bash(git push:*)", "WebFetch(domain:*.internal)"]
allow = ["Bash(npm test:*)"]

[levels]
"git" = "ask"
"git.reset-hard" = "log"

[policies.protected_paths]
patterns = ["*.env", "migrations/*"]

[[rule]]
id = "prod-database"
tools = ["Bash"]
command = "psql|mysql * --host prod*"
level = "deny"
severity = "critical"
reason = "production is changed through migrations"
matches = ["psql --host prod-1 -c 'select 1'", "sudo env X=1 psql --host=prod-1"]
passes = ["psql --host dev", "echo psql --host prod-1"]

[[exception]]
rule = "git.push-force"
command = "git push --force origin gh-pages"
until = 2999-12-31
reason = "the site is rebuilt from main"
"""


def test_the_whole_file(rules):
    tried = rules(WHOLE)
    expected = {
        "psql --host prod-1": "deny",
        "psql --host dev": None,
        "aws s3 rb --force s3://b": "deny",
        "kubectl delete ns x": "deny",
        "git push -f": "ask",
        "git reset --hard": None,
        "npm test": "allow",
        "npm publish": "deny",
        "git push": "ask",
        "rm -rf /": "deny",
        "ls": None,
        "Read(.env.local)": "deny",
        "Edit(src/a.py)": None,
        "mcp__github__delete_repo": "deny",
        "WebFetch(https://wiki.internal/)": "ask",
    }
    assert {sample: tried.decision(sample) for sample in expected} == expected
    assert all(sample.holds for sample in try_samples(str(tried.path)))
    assert tried.table.header["options"] == {"fail": "closed"}


def test_explain_names_the_rule_its_file_and_line_and_the_parts_that_were_read(rules, tmp_path):
    tried = rules(WHOLE)
    found = explain("sudo psql -q --host=prod-1", str(tried.path))
    assert (found.decision, found.reason) == ("deny", "production is changed through migrations (rule prod-database)")
    assert (found.deciding.file, found.deciding.line, found.deciding.severity) == (str(tried.path), 18, "critical")
    assert found.parts[1]["options"]["--host"] == ["prod-1"] and found.parts[1]["via"] == ["sudo"]
    assert json.dumps(found.to_dict())


def test_the_list_of_rules_says_what_each_layer_says(rules):
    listed = {rule["id"]: rule for rule in rules_on(str(rules(WHOLE).path))}
    assert listed["git.reset-hard"]["says"][0]["level"] == "log"
    assert listed["git.reset-hard"]["says"][0]["line"] == 13
    assert "docker.prune" in listed and listed["docker.prune"]["says"][0]["level"] == "warn"
    assert "docker.host-access" not in listed


def test_observe_records_what_would_have_happened_and_stops_nothing(rules):
    tried = rules('mode = "observe"\npacks = ["all"]\n[permissions]\ndeny = ["Bash(ls:*)"]\nallow = ["Bash(id)"]\n')
    found = tried.explain("ls; terraform destroy")
    assert found.decision is None and found.deciding is None
    assert {(f.rule, f.record) for f in found.findings} == {
        ("infrastructure.terraform-destroy", "would deny"),
        ("Bash(ls:*)", "would deny"),
    }
    assert tried.decision("id") is None


def test_one_rule_can_be_enforced_while_the_rest_is_observed(rules):
    text = 'mode = "observe"\npacks = ["git"]\n[[rule]]\nid = "x"\nreason = "r"\ncommand = "x"\nmode = "enforce"\n'
    tried = rules(text)
    assert (tried.decision("x"), tried.decision("git push -f")) == ("deny", None)


@pytest.mark.parametrize(
    ("level", "decision", "context"), [("off", None, 0), ("log", None, 0), ("warn", None, 1), ("ask", "ask", 0), ("deny", "deny", 0)]
)
def test_levels(level, decision, context, rules, tmp_path):
    from onehook.rules.explain import sample_event
    from onehook.rules.load import Rules

    tried = rules(f'packs = ["git"]\n[levels]\ngit = "{level}"\n')
    policy = Rules(tried.table)
    response = policy.dispatch(sample_event("git push -f"))
    assert response.decision == decision
    assert bool(response.additional_context) == bool(context)
    assert bool(policy.noted) == (level != "off")


def test_the_nearest_name_in_levels_wins(rules):
    tried = rules('packs = ["all"]\n[levels]\ncloud = "log"\n"cloud.aws" = "ask"\n"cloud.aws.s3-delete" = "deny"\n')
    samples = ("gcloud projects delete x", "aws iam delete-user --user-name x", "aws s3 rb s3://b")
    assert [tried.decision(sample) for sample in samples] == [None, "ask", "deny"]


def test_a_level_switches_on_a_rule_of_a_pack_that_is_off(rules):
    assert rules('[levels]\n"git.rebase" = "deny"\n').decision("git rebase main") == "deny"


def test_a_group_of_packs_is_chosen_by_its_name(rules):
    tried = rules('packs = ["cloud", "database"]\n')
    assert [tried.decision(s) for s in ("aws s3 rb s3://b", "redis-cli flushall", "git push -f")] == ["deny", "deny", None]


def test_policies_take_their_options_a_level_and_a_mode(rules):
    from onehook.rules.explain import sample_event
    from onehook.rules.load import Rules

    text = '[policies.protected_paths]\npatterns = ["*.env"]\nallow_read = true\n'
    event = sample_event("Write(a.env)")
    assert Rules(rules(text).table).dispatch(event).decision == "deny"
    assert Rules(rules(text).table).dispatch(sample_event("Read(a.env)")).decision is None
    assert Rules(rules(text + '[levels]\n"policies.protected_paths" = "ask"\n').table).dispatch(event).decision == "ask"
    watched = Rules(rules('mode = "observe"\n' + text).table)
    assert watched.dispatch(event).decision is None
    assert [finding.record for finding in watched.noted] == ["would deny"]


RULE = '[[rule]]\nid = "x"\nreason = "r"\n'


@pytest.mark.parametrize(
    ("criteria", "yes", "no"),
    [
        ('paths = ["migrations/**", "!migrations/README.md"]\naccess = "write"', "Edit(migrations/1.sql)", "Edit(migrations/README.md)"),
        ('paths = "migrations/**"\naccess = "write"', "echo x > migrations/1.sql", "cat migrations/1.sql"),
        ('urls = ["*.internal"]', "WebFetch(https://a.internal/x)", "WebFetch(https://internal.x/)"),
        ('urls = ["*.internal/admin*"]', "curl https://a.internal/admin/x", "curl https://a.internal/x"),
        ('mcp = "mcp__db__*"', "mcp__db__drop", "mcp__fs__read"),
        ('tools = ["WebSearch"]', "WebSearch(x)", "WebFetch(x)"),
        ('command = "psql"\ntext = "*secret*"', "psql -c 'select SECRET'", "psql -c 'select 1'"),
        ('command = "npm run dev"\nunless_via = ["timeout"]', "npm run dev", "timeout 5 npm run dev"),
        ('command = ["a b", "c d"]', "c d e", "c e"),
        ('tools = ["Write"]\npaths = "*.md"', "Write(a.md)", "Read(a.md)"),
    ],
)
def test_criteria(criteria, yes, no, rules):
    tried = rules(RULE + criteria + "\n")
    assert (tried.decision(yes), tried.decision(no)) == ("deny", None)


def test_content_and_size_of_changes(rules):
    from onehook.rules.explain import explained, sample_event

    event = sample_event("Write(a.py)")
    event.changes[0].new = "import pdb; pdb.set_trace()"
    assert explained(rules(RULE + 'content = "pdb.set_trace("\n').table, event).decision == "deny"
    assert explained(rules(RULE + "bytes = 10\n").table, event).decision == "deny"
    assert explained(rules(RULE + "bytes = 100\n").table, event).decision is None


# --- exceptions ------------------------------------------------------------------------------------------------------------------

EXCEPT = '[[exception]]\nrule = "git.reset-hard"\ncommand = "git reset --hard origin/main"\nreason = "r"\n'


def test_an_exception_lifts_its_rule_for_exactly_that_command(rules):
    tried = rules('packs = ["git"]\n' + EXCEPT)
    assert tried.decision("git reset --hard origin/main") is None
    assert tried.decision("git fetch && git reset --hard origin/main") is None
    assert tried.decision("git reset --hard origin/dev") == "deny"
    assert tried.decision("git reset --hard origin/main && git reset --hard HEAD~1") == "deny"


def test_an_expired_exception_lifts_nothing(rules):
    assert rules('packs = ["git"]\n' + EXCEPT + "until = 2020-01-01\n").decision("git reset --hard origin/main") == "deny"
    assert not expired({"until": "2026-12-31"}, today="2026-12-31")
    assert expired({"until": "2026-12-31"}, today="2027-01-01")


def test_an_exception_for_a_path(rules):
    text = RULE + 'paths = "*.lock"\n[[exception]]\nrule = "x"\npath = "./vendor/**"\nreason = "r"\n'
    tried = rules(text)
    assert (tried.decision("Edit(vendor/a.lock)"), tried.decision("Edit(a.lock)")) == (None, "deny")


# --- layers and extends ----------------------------------------------------------------------------------------------------------


def test_the_strictest_layer_wins(rules):
    tried = rules('packs = ["git"]\n[levels]\ngit = "log"\n', user='packs = ["git"]\n[levels]\ngit = "ask"\n')
    found = tried.explain("git push -f")
    assert (found.decision, found.deciding.layer) == ("ask", "user")
    assert rules('packs = ["git"]\n[levels]\ngit = "deny"\n', user='[levels]\ngit = "log"\n').decision("git push -f") == "deny"


def test_a_project_cannot_switch_off_observe_or_except_what_the_user_set(rules):
    user = 'packs = ["git"]\n'
    assert rules('[levels]\ngit = "off"\n', user=user).decision("git reset --hard") == "deny"
    assert rules('mode = "observe"\npacks = ["git"]\n', user=user).decision("git reset --hard") == "deny"
    assert rules('packs = ["git"]\n' + EXCEPT, user=user).decision("git reset --hard origin/main") == "deny"


def test_an_exception_of_a_layer_above_counts_below(rules):
    assert rules('packs = ["git"]\n', user=EXCEPT).decision("git reset --hard origin/main") is None
    assert rules('packs = ["git"]\n', managed=EXCEPT).decision("git reset --hard origin/main") is None


def test_a_project_cannot_allow_what_the_user_denies_or_open_what_fails_closed(rules):
    tried = rules('fail = "open"\n[permissions]\nallow = ["Bash(ls)"]\n', user='fail = "closed"\n[permissions]\nask = ["Bash(ls)"]\n')
    assert tried.decision("ls") == "ask"
    assert tried.table.header["options"]["fail"] == "closed"


def test_extends_takes_other_files_and_what_stands_here_wins(rules, tmp_path):
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "base.toml").write_text(
        'packs = ["git"]\n[levels]\ngit = "ask"\n[permissions]\ndeny = ["Bash(ls)"]\n' + RULE + 'command = "x"\n'
    )
    tried = rules('extends = "team/base.toml"\n[levels]\n"git" = "deny"\n')
    assert [tried.decision(line) for line in ("git push -f", "ls", "x")] == ["deny", "deny", "deny"]


def test_extends_in_a_circle_is_an_error(rules, tmp_path):
    (tmp_path / "a.toml").write_text('extends = "onehook.toml"\n')
    with pytest.raises(UsageError, match="which extends it"):
        rules('extends = "a.toml"\n')


# --- errors ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('# x\n\npakcs = ["git"]\n', 3, "unknown key 'pakcs'; did you mean 'packs'?"),
        ('mode = "enforced"\n', 1, "mode must be one of observe, enforce, not 'enforced'; did you mean 'enforce'?"),
        ('packs = ["recomended"]\n', 1, "unknown pack 'recomended'; did you mean 'recommended'?"),
        ('packs = [\n "gti",\n]\n', 1, "unknown pack 'gti'; did you mean 'git'?"),
        ('packs = "git"\n', 1, "packs must be a list of strings"),
        ('\n[permissions]\ndeny = []\nalow = ["Bash(ls)"]\n', 4, "[permissions]: unknown key 'alow'; did you mean 'allow'?"),
        ('[permissions]\ndeny = ["Bahs(ls)"]\n', 2, "unknown tool 'Bahs'; did you mean 'Bash'?"),
        ('[levels]\ngit = "ask"\n"git.reset-hrad" = "log"\n', 3, "no rule or pack 'git.reset-hrad'; did you mean 'git.reset-hard'?"),
        ('[levels]\ngit = "deni"\n', 2, "not 'deni'; did you mean 'deny'?"),
        ("[policies.protected_path]\n", 1, "unknown policy 'protected_path'; did you mean 'protected_paths'?"),
        ('[policies.git_guard]\nprotectd = ["main"]\n', 2, "unknown option 'protectd'; did you mean 'protected'?"),
        ("[policies.protected_paths]\npatterns = []\n", 1, "name at least one pattern"),
        (RULE + 'comand = "x"\n', 4, "[[rule]] 1: unknown key 'comand'; did you mean 'command'?"),
        (RULE + 'command = "x"\n' + RULE + 'command = "git push |x"\n', 8, "an alternative is empty\n    git push |x\n             ^"),
        (RULE, 1, "nothing to match"),
        ('[[rule]]\nid = "x"\ncommand = "x"\n', 1, "reason is missing"),
        (RULE + 'tools = ["Bsh"]\n', 4, "unknown tool 'Bsh'; did you mean 'Bash'?"),
        (RULE + 'command = "x"\nlevel = "block"\n', 5, "level must be one of off, log, warn, ask, deny"),
        ('[[exception]]\nrule = "git.rest"\ncommand = "x"\nreason = "r"\n', 2, "there is no rule 'git.rest'; did you mean 'git.restore'?"),
        ('[[exception]]\nrule = "git.rebase"\nreason = "r"\n', 1, "name the command or the path"),
        ('[[exception]]\nrule = "git.rebase"\ncommand = "x"\nreason = "r"\nuntil = "soon"\n', 5, "until must be a date such as 2026-12-31"),
        ('ask_fallback = {cursr = "ask"}\n', 1, "cursr"),
        ("timeout = 0\n", 1, "timeout must be a number above 0"),
        ('extends = "none.toml"\n', 1, "extends 'none.toml', which does not exist"),
    ],
)
def test_a_mistake_is_an_error_with_its_line_and_a_suggestion(text, line, words, rules, tmp_path):
    with pytest.raises(UsageError) as caught:
        rules(text)
    assert str(caught.value).startswith(f"{tmp_path / 'onehook.toml'}:{line}: ")
    assert words in str(caught.value)


def test_what_is_not_toml_says_where(rules):
    with pytest.raises(UsageError, match=r"is not TOML: .*line 2"):
        rules("a = 1\nb = = 2\n")


def test_the_published_schema_is_that_of_the_checks():
    published = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert published == json_schema()
    jsonschema.Draft202012Validator.check_schema(published)


def test_the_schema_takes_the_whole_file_and_refuses_a_misspelt_key():
    from onehook.packs import read_toml

    data = read_toml("x", WHOLE.encode())
    data["exception"][0]["until"] = str(data["exception"][0]["until"])
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(data)
    assert not validator.is_valid({**data, "pakcs": []})
    assert not validator.is_valid({**data, "rule": [{"id": "x"}]})


def test_recommended_and_all_are_not_names_of_packs():
    assert {"recommended", "all"}.isdisjoint(PACKS)


def test_a_policy_of_the_file_is_explained_too_and_leaves_no_trace(rules, tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    tried = rules('[policies.protected_paths]\npatterns = ["migrations/*"]\n[policies.budget]\ncalls = 1\n')
    assert [tried.explain("Edit(migrations/1.sql)").deciding.rule for _ in range(3)] == ["policies.protected_paths"] * 3
    assert tried.decision("ls") is None and not (tmp_path / "state").exists()


def test_an_exception_does_not_fail_the_samples_of_its_rule(rules):
    lifted = '[[exception]]\nrule = "git.reset-hard"\ncommand = "git reset --hard origin/main"\nreason = "release"\n'
    tried = rules(f'packs = ["git"]\n{lifted}')
    assert tried.decision("git reset --hard origin/main") is None
    assert [str(sample) for sample in try_samples(str(tried.path)) if not sample.holds] == []


def test_a_file_with_nothing_but_a_misspelt_key_is_told_so(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text('pack = ["git"]\n')
    with pytest.raises(UsageError, match="1: unknown key 'pack'; did you mean 'packs'"):
        load_policy(str(path))
