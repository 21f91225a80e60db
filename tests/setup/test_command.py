"""Commands for every shell, written and read back."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.hostkit.config import GUARD, GUARD_IN_ANY_SHELL
from onehook.setup.command import Program, commands, is_ours, names_policy, quote_cmd, quote_powershell, read

PROJECT = Path("/home/dev/my project")
CHARACTERS = st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",))
NAMES = st.text(CHARACTERS, min_size=1).filter(lambda name: name not in (".", ".."))
ARGUMENTS = ["--host", "claude", "--host", "cursor", "--event", "PreToolUse", "--fail", "closed"]


@given(
    NAMES,
    st.booleans(),
    st.booleans(),
    st.sampled_from(['"$CLAUDE_PROJECT_DIR"', "", "."]),
    st.sampled_from(["", GUARD, GUARD_IN_ANY_SHELL]),
)
def test_what_is_written_is_read_back(name: str, inside: bool, portable: bool, project_folder: str, guard: str) -> None:
    policy = PROJECT / "hooks" / name
    line = commands(policy, PROJECT, ARGUMENTS, project_folder=project_folder, inside_project=inside, portable=portable, guard=guard)
    written = read(line.posix)
    assert line.posix.endswith(guard)
    assert written is not None and is_ours(line.posix)
    assert written.policy_path(PROJECT) == policy
    assert written.arguments == tuple(ARGUMENTS)
    assert written.option("fail") == "closed" and written.option("timeout") == ""
    assert written.portable is portable
    assert names_policy(line.posix, policy, PROJECT)
    assert not names_policy(line.posix, PROJECT / "hooks" / f"x{name}", PROJECT)


@given(NAMES.filter(lambda name: not set(name) & set('\r\n"\\')), st.booleans(), st.sampled_from(['"$CLAUDE_PROJECT_DIR"', ""]))
def test_so_is_the_form_for_powershell(name: str, portable: bool, project_folder: str) -> None:
    policy = PROJECT / name
    line = commands(policy, PROJECT, ARGUMENTS, project_folder=project_folder, inside_project=True, portable=portable, windows=True)
    written = read(line.powershell)
    assert written is not None
    assert (written.policy_path(PROJECT), written.arguments, written.portable) == (policy, tuple(ARGUMENTS), portable)


def test_the_client_of_resident_mode_on_windows_is_read_back_from_every_shell() -> None:
    folder = "C:\\Users\\J D\\Lib\\site-packages\\onehook"
    program, client = Program("C:\\Python 3\\python.exe", f"{folder}\\launch.py"), f"{folder}\\resident\\onehook-client.exe"
    line = commands(
        Path("C:\\p\\a policy.py"), PROJECT, ARGUMENTS, project_folder="", inside_project=False, portable=False, windows=True,
        program=program, client=(client,),
    )  # fmt: skip
    for command in (line.posix, line.powershell, line.cmd):
        written = read(command)
        assert written is not None and written.client == (client,) and written.program == program and written.arguments == tuple(ARGUMENTS)
        other = read(command.replace("resident", "elsewhere"))
        assert other is None


@pytest.mark.parametrize(
    ("word", "powershell", "cmd"),
    [
        ("--host", "--host", "--host"),
        ("C:\\Program Files\\x", "'C:\\Program Files\\x'", '"C:\\Program Files\\x"'),
        ("it's", "'it''s'", '"it\'s"'),
        ("it\u2019s", "'it\u2019\u2019s'", '"it\u2019s"'),
        ("$HOME `x`", "'$HOME `x`'", '"$HOME `x`"'),
        ("100%x%", "'100%x%'", '"100%x%"'),
        ("", "''", '""'),
    ],
)
def test_words_are_quoted_for_windows(word: str, powershell: str, cmd: str) -> None:
    assert quote_powershell(word) == powershell
    assert quote_cmd(word) == cmd


def test_a_command_for_cmd_is_only_made_where_it_could_work() -> None:
    made = {
        (portable, windows): commands(
            PROJECT / "p.py", PROJECT, [], project_folder="", inside_project=True, portable=portable, windows=windows
        ).cmd
        for portable in (False, True)
        for windows in (False, True)
    }
    assert made[False, False] == "" and made[False, True].endswith('launch.py" "/home/dev/my project/p.py"')
    assert made[True, False] == made[True, True] == 'python -I -S ".onehook/launch" p.py'


@pytest.mark.parametrize("command", ["", "npx lint", "python3 -m onehook", "onehook/launch.py", "'", "& '", "a b c onehook/launch.py"])
def test_a_foreign_command_is_not_read(command: str) -> None:
    assert read(command) is None


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("shell", ["posix", "powershell", "cmd"])
@pytest.mark.parametrize("project_folder", ['"$CLAUDE_PROJECT_DIR"', '"${CLAUDE_PROJECT_DIR:-.}"', "", "."])
def test_every_form_is_ours_and_nothing_that_only_resembles_it(shell: str, portable: bool, project_folder: str) -> None:
    made = commands(
        PROJECT / "p.py", PROJECT, ARGUMENTS, project_folder=project_folder, inside_project=True, portable=portable, windows=True
    )
    line = getattr(made, shell)
    assert is_ours(line)
    name = "onehook/launch" if portable else "onehook/launch.py"
    launcher = line.split(name)[0] + name
    around = ("touch x; {}", "touch x && {}", "X=1 {}", "{}; touch x", "{} | tee x", "{} > x", "{} # x", "{}\ntouch x", " {}", "{} ")
    options = ("{} --probe allow", "{} --fail", "{} $(touch x)", "{} `touch x`")
    inside = (
        (" -I", "  -I"), (" -I -S", " -I"), ("-I -S", "-I -c"), ("closed", "$(touch x)"), ("closed", "%X%"),
        (name, f"{name}.sh"), (name, f"s{name}"),
    )  # fmt: skip
    others = [text.format(line) for text in (*around, *options)] + [line.replace(*change) for change in inside]
    for other in [*others, launcher]:
        assert not is_ours(other), other


def test_a_command_of_another_installation_is_ours_too() -> None:
    assert is_ours("/opt/venv/bin/python -I -S /opt/venv/lib/onehook/launch.py /p.py --host claude --event Stop")
    assert is_ours("& 'C:\\x y\\python.exe' -I -S 'C:\\x y\\onehook\\launch.py' 'C:\\p.py' --host claude --event Stop")
    assert not is_ours('"$X"/python -I -S /opt/onehook/launch.py /p.py') and not is_ours("./python -I -S ./onehook/launch.py /p.py")


def test_a_policy_outside_of_the_project_is_named_absolutely() -> None:
    line = commands(Path("/etc/p.py"), PROJECT, [], project_folder='"$X"', inside_project=True, portable=False)
    assert shlex.split(line.posix)[4] == "/etc/p.py"
