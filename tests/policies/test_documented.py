"""docs/policies.md names every rule, and its first example works."""

from __future__ import annotations

from pathlib import Path

from onehook.core import Hooks
from onehook.hostkit.reverse import sample
from onehook.policies.rule_names import RULES
from onehook.policies.secret_formats import FORMATS
from onehook.policy import hooks_in

TEXT = (Path(__file__).parent.parent.parent / "docs" / "policies.md").read_text(encoding="utf-8")


def examples():
    return [block.removeprefix("python\n") for block in TEXT.split("```")[1::2] if block.startswith("python")]


def test_every_rule_is_in_the_table_in_the_words_of_the_code():
    for name, what in RULES.items():
        assert f"| `{name}` | {what} |" in TEXT
    for name in FORMATS:
        assert f"`{name}`" in TEXT


def test_the_examples_run(capsys):
    first, third, second = examples()
    namespace: dict = {}
    exec(first, namespace)
    hooks = hooks_in(namespace, "example")
    assert hooks.dispatch(sample("PreToolUse", "Bash", command="cat .env")).decision == "deny"
    assert hooks.dispatch(sample("PreToolUse", "Bash", command="git reset --hard")).decision is None
    exec("from onehook import deny\nhooks = Hooks()\n" + second, namespace)
    answers = [namespace["hooks"].dispatch(sample("PreToolUse", "Bash", command="curl x", session_id="s")).decision for _ in range(4)]
    assert answers == [None, None, None, "deny"]
    exec(third, namespace)
    assert capsys.readouterr().out == "aws-access-key AKIA" + "Q7RZK3WVT5YHB2NJ\nAWS_ACCESS_KEY_ID=[redacted: aws-access-key]\n"
    assert isinstance(hooks, Hooks)
