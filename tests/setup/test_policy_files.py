"""The files that a policy is made of."""

from __future__ import annotations

from onehook.setup.policy_files import files_of


def put(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py").replace("_toml", ".toml").replace("_sh", ".sh")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def names(folder, policy):
    return sorted(path[len(str(folder)) + 1 :] for path in files_of(str(folder / policy)))


def test_a_policy_is_made_of_the_modules_beside_it_that_it_imports(tmp_path):
    put(
        tmp_path,
        policy_py="import os, helper\nfrom parts import (\n    one,\n)\nfrom parts.two import x; import last as l\n",
        helper_py="from further import y\n", further_py="def f():\n    import policy\n", last_py="", unrelated_py="",
        parts____init___py="", parts__two_py="from . import three\n", parts__three_py="", json_py="",
    )  # fmt: skip
    (tmp_path / "parts" / "__init__.py").write_text("", encoding="utf-8")
    assert names(tmp_path, "policy.py") == [
        "further.py", "helper.py", "last.py", "parts/__init__.py", "parts/three.py", "parts/two.py", "policy.py",
    ]  # fmt: skip


def test_a_rules_file_is_made_of_what_it_extends_and_of_its_programs(tmp_path):
    hook = '[[hook]]\nevent = "PreToolUse"\nrun = ["./check.sh", "--strict"]\n'
    put(
        tmp_path,
        onehook_toml=f'extends = "base.toml"\n{hook}',
        base_toml='extends = ["onehook.toml", "gone.toml"]\n',
        check_sh="",
        other_sh="",
    )
    assert names(tmp_path, "onehook.toml") == ["base.toml", "check.sh", "gone.toml", "onehook.toml"]
