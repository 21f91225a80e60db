"""Programs that read the transcript get one in the format of their own agent, whichever agent runs."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from onehook.hostkit.reverse import sample
from onehook.hostkit.transcripts import Counts, Entry, event_of, moments, name_of, size_of
from onehook.hosts import having, load, wire_of
from onehook.manifest import transcripts as made
from onehook.manifest.mentions import mentions
from onehook.policy import load_policy
from onehook.runner import answer
from onehook.sweep import sweep
from tests.host_folders import transcripts
from tests.manifest.kit import manifest_of, sh

WRITTEN = having("transcripts")
WITHOUT = "cursor"  # an agent whose transcripts cannot be read


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))


def recorded(host):
    """A session that the real agent left on disk."""
    module = load(host, "transcripts")
    found = [path for pattern in module.FILES for path in (transcripts(host) / module.FOLDER).glob(pattern)]
    return max(found, key=size_of)


def told(host, path):
    """What a reader of the host's transcripts finds in a file, in unified terms."""
    found = []
    for moment in moments(load(host, "transcripts").Transcript(Path(path)), Path(path), Counts()):
        event = event_of(moment, wire_of(host))
        if event.event == "UserPromptSubmit":
            found.append(event.prompt)
        elif event.event == "Stop":
            found.append(event.last_assistant_message)
        elif event.event in ("PreToolUse", "PostToolUse"):
            found.append((event.event, event.command or [os.path.basename(change.path) for change in event.changes] or event.tool))
    return [one for one in found if one]


def stop(host, path=""):
    event = sample("Stop", session_id="s-1", cwd="/home/dev/project", last_assistant_message="all done", transcript_path=str(path))
    return wire_of(host).parse(load(host, "reverse").payload(event), "Stop")


@pytest.mark.parametrize("dialect", WRITTEN)
@pytest.mark.parametrize("host", WRITTEN)
def test_a_session_of_any_agent_reads_the_same_in_the_form_of_any_other(host, dialect):
    path = recorded(host)
    event = stop(host, path)
    event.transcript_path = str(path)
    before, after = told(host, path), told(dialect, made.built(dialect, event))
    commands = [one for one in before if isinstance(one, tuple) and isinstance(one[1], str) and " " in one[1]]
    assert commands, "the recorded session runs a command"
    assert [one for one in after if one in commands] == commands
    prompts = [one for one in before if isinstance(one, str)]
    assert [one for one in after if one in prompts][:1] == prompts[:1]
    assert after[-1] == (event.last_assistant_message or before[-1])  # not every agent tells its hooks the last message


def test_where_the_agents_own_transcript_cannot_be_read_there_is_what_the_event_tells(tmp_path):
    event = sample("Stop", session_id="s-1", cwd="/p", last_assistant_message="I am done")
    event.host = WITHOUT
    path = made.built("claude", event)
    (line,) = Path(path).read_text().splitlines()
    assert '"role":"assistant"' in line and json.loads(line)["message"]["content"] == [{"type": "text", "text": "I am done"}]


def asked(path, payload, host):
    return answer(json.dumps(payload).encode(), lambda: load_policy(str(path)), hosts=[host], event_name="Stop")


def path_given(tmp_path, script, host="gemini", speaks="claude", more=""):
    (tmp_path / "hook.sh").write_text(script)
    path = manifest_of(tmp_path, f'events = ["Stop"]\nrun = ["sh", "./hook.sh"]\nspeaks = "{speaks}"\n{more}')
    payload = load(host, "reverse").payload(sample("Stop", session_id="s-1", cwd=str(tmp_path), last_assistant_message="so be it"))
    asked(path, payload, host)
    return json.loads((tmp_path / "stdin").read_text())["transcript_path"]


def test_a_program_that_mentions_a_transcript_gets_one_and_another_gets_none(tmp_path):
    reads = f"tee {tmp_path}/stdin | grep -q transcript_path"
    given = path_given(tmp_path, reads)
    assert "so be it" in Path(given).read_text()
    assert stat.S_IMODE(os.stat(given).st_mode) == 0o600 and stat.S_IMODE(os.stat(os.path.dirname(given)).st_mode) == 0o700
    assert path_given(tmp_path, f"cat > {tmp_path}/stdin") == ""
    assert path_given(tmp_path, f"cat > {tmp_path}/stdin", more="transcript = true") != ""
    assert path_given(tmp_path, reads, more="transcript = false") == ""


def test_a_script_beside_the_program_counts(tmp_path):
    (tmp_path / "helper.sh").write_text("read_transcript() { :; }")
    assert path_given(tmp_path, f". {tmp_path}/helper.sh; cat > {tmp_path}/stdin") != ""


def test_a_program_finds_its_script_behind_a_variable(tmp_path):
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "loop.sh").write_text(f"tee {tmp_path}/stdin | grep -q transcript_path")
    path = manifest_of(tmp_path, sh('"$CLAUDE_PROJECT_DIR"/h/loop.sh', "claude", '["Stop"]'))
    (tmp_path / "h" / "loop.sh").chmod(0o755)
    payload = load("gemini", "reverse").payload(sample("Stop", session_id="s-1", cwd=str(tmp_path)))
    asked(path, payload, "gemini")
    assert json.loads((tmp_path / "stdin").read_text())["transcript_path"]


def test_a_large_transcript_is_read_from_its_end(tmp_path, monkeypatch):
    path = recorded("claude")
    event = stop("claude", path)
    event.transcript_path = str(path)
    monkeypatch.setattr(made, "MAX_SOURCE", 200)
    assert told("gemini", made.built("gemini", event))[-1] == "all done"


def test_what_is_older_than_two_days_is_swept(tmp_path):
    event = stop("gemini")
    path = made.built("copilot", event)
    os.utime(path, (1, 1))
    sweep(str(tmp_path / "state" / "transcripts"), 1000)
    assert not os.path.exists(path)


def test_a_result_that_the_agent_has_already_written_down_is_told_once(tmp_path, monkeypatch):
    """Codex in code mode writes the result before it runs its hooks; the same command again is another call."""
    monkeypatch.setenv("HOME", str(tmp_path))
    module = load("gemini", "transcripts")
    path = tmp_path / module.FOLDER / name_of(module, "s-1")
    path.parent.mkdir(parents=True)
    call = {"tool": "run_shell_command", "input": {"command": "ls"}}
    steps = [Entry("prompt", "go"), Entry("call", **call, id="1"), Entry("result", "a.txt", **call, id="1", response="a.txt")]
    path.write_text("".join(json.dumps(line) + "\n" for line in module.lines("s-1", "/p", steps)))

    def calls(event):
        given = sample(
            event, "Bash", session_id="s-1", cwd="/p", command="ls", **({} if event == "PreToolUse" else {"tool_response": "a.txt"})
        )
        payload = {**load("gemini", "reverse").payload(given), "transcript_path": str(path)}
        return told("claude", made.built("claude", wire_of("gemini").parse(payload, "")))

    assert calls("PostToolUse") == ["go", ("PreToolUse", "ls"), ("PostToolUse", "ls")]
    assert calls("PreToolUse") == ["go", ("PreToolUse", "ls"), ("PostToolUse", "ls"), ("PreToolUse", "ls")]


@pytest.mark.parametrize("host", WRITTEN)
def test_an_agent_that_is_about_to_write_its_transcript_is_waited_for(host, tmp_path, monkeypatch):
    """What is late is the call itself if the agent records it before its hooks run, otherwise the result of the previous call."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(made, "_LAG", 60)
    module = load(host, "transcripts")
    path = tmp_path / module.FOLDER / name_of(module, "s-1")
    path.parent.mkdir(parents=True)
    payload = load(host, "reverse").payload(sample("PreToolUse", "Bash", session_id="s-1", cwd="/p", command="make"))
    event = wire_of(host).parse(payload, "PreToolUse")
    first, second = {"tool": event.native_tool, "input": {"command": "ls"}}, {"tool": event.native_tool, "input": event.tool_input}
    steps = [Entry("prompt", "go"), Entry("call", **first, id="1"), Entry("result", "a.txt", **first, id="1", response="a.txt")]
    parts = (steps[:1], [*steps, Entry("call", **second, id="2")]) if module.CALLS_FIRST else (steps[:2], steps)
    early, whole = ("".join(json.dumps(line) + "\n" for line in module.lines("s-1", "/p", part)) for part in parts)
    path.write_text(early)
    (new := tmp_path / "new").write_text(whole)
    writer = threading.Timer(0.2, new.replace, [path])  # the whole file at once, so that it is never missing
    writer.start()
    try:
        seen = told("claude", made.built("claude", event))
    finally:
        writer.join()
    assert seen == ["go", ("PreToolUse", "ls"), ("PostToolUse", "ls"), ("PreToolUse", "make")]


@pytest.mark.parametrize(
    "run", ["export ROOT={folder} X=1; sh $ROOT/a.sh", 'ROOT="$HERE" sh "${{ROOT}}/a.sh"', "env ROOT={folder} sh {folder}/a.sh"]
)
def test_a_script_below_a_folder_that_the_command_itself_names_is_looked_into(tmp_path, run):
    """The command of an imported plugin says where the plugin is."""
    (tmp_path / "a.sh").write_text("jq -r .transcript_path\n")
    assert mentions([run.format(folder=tmp_path)], "/", {"HERE": str(tmp_path)})
    (tmp_path / "a.sh").write_text("true\n")
    assert not mentions([run.format(folder=tmp_path)], "/", {"HERE": str(tmp_path)})


@pytest.mark.parametrize(
    ("helper", "found"),
    [("b.js", True), ("lib/b.js", True), ("lib/b.md", False), ("lib/more/b.js", False), ("node_modules/b.js", False)],
)
def test_a_script_next_to_the_one_that_is_started_is_looked_into(tmp_path, helper, found):
    (tmp_path / "a.sh").write_text('node "$(dirname "$0")"/lib/b.js\n')
    (tmp_path / helper).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / helper).write_text("// transcript_path\n")
    assert mentions(["sh a.sh"], str(tmp_path), {}) is found
