"""What the hosts' `imports` modules share: hooks that a person has configured for one agent, as hooks of a manifest.

Nothing is carried over by guessing: what a manifest cannot express is named in `refused` (the hook stays where it is) or in `losses` (the
hook is carried over, that part of it is not). Not on the hot path.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.core import TOOLS, wildcard
from onehook.hostkit.tools import Tool
from onehook.jsonc import read_jsonc

if TYPE_CHECKING:
    from onehook.hostkit.config import Machine, Place
    from onehook.textedit.front_matter import Page

NO_LIMIT = 100  # for an agent that never ends a loop of refused stops: more than any loop that ends by itself needs
_ANY = (None, "", "*", ".*")
_ELSEWHERE = (*TOOLS, "MultiEdit", "NotebookEdit")
_GROUP = re.compile(r"([^()|]*)\((?:\?:)?([^()]*)\)(?![*+?{])([^()|]*)")  # a regular expression's only group, not repeated
_NAME = re.compile(r"[A-Za-z0-9_:*-]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_RELATIVE = re.compile(r"""(?:^|[\s;&|(=<>'"])(?:\.{1,2}/|(?:[\w.-]+/)+[\w.-])""")
_COMMAND = re.compile(r"[A-Za-z0-9_:*/=@,\" -]+")


@dataclass(frozen=True)
class Pages:
    """Markdown files with hooks in their front matter, which run only while what the file describes is active."""

    files: str  # a pattern, in the agent's folder or a plugin's
    key: str  # the manifest's key for it: agent_types or skills
    hooks: Callable[[Page, Place], Iterator[Borrowed]]
    rooted: bool = False  # the variables for a plugin's folder name the folder of the file


@dataclass(frozen=True)
class Plugins:
    """How an agent's plugins contain hooks."""

    marks: tuple[str, ...]  # the file that makes a folder a plugin; its "hooks" may name other files, or hold the hooks
    roots: tuple[str, ...]  # variables that name the plugin's folder
    files: tuple[str, ...] = ("hooks/hooks.json",)
    data: tuple[str, ...] = ()  # variables that name a folder for its data
    replaced: tuple[str, ...] = ()  # what the agent replaces with the plugin's folder in a command
    installed: Callable[[Machine, str], list[Path]] = lambda machine, scope: []  # the plugins that are on in a scope
    pages: tuple[Pages, ...] = ()
    pages_below: Callable[[Machine, str], Path | None] = lambda machine, scope: None  # the folder of a scope that they are in


@dataclass
class Borrowed:
    """One configured hook."""

    event: str  # the native event
    path: tuple[str | int, ...]  # where in the config
    shown: str  # the command, or what there is instead of one
    run: str | list[str] = ""  # a string is for the shell
    prompt: str = ""  # what a model is asked, instead of a command
    agent: bool = False  # whether that model may read files
    continue_on_block: bool = False  # whether the turn continues if the model says no
    name: str = ""  # what the person called it
    timeout: float = 60
    closed: bool = False
    tools: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    agent_types: list[str] = field(default_factory=list)
    skills: list[str] = field(default_factory=list)
    once: bool = False  # whether it no longer runs in a session once it has succeeded
    hosts: list[str] = field(default_factory=list)  # the only hosts that it runs on; empty for all
    background: bool = False  # whether it runs without being waited for
    wake: bool = False  # the same, and its answer wakes the agent
    stop_limit: int = 0  # how often in a row its own agent lets it refuse a stop; 0 for the agent's general limit
    losses: list[str] = field(default_factory=list)
    refused: str = ""


def switched_on(settings: Mapping[str, Any]) -> list[str]:
    """The plugins (name@marketplace) that a settings file switches on, in the form that several agents share."""
    enabled = settings.get("enabledPlugins")
    return [name for name, on in enabled.items() if on is True] if isinstance(enabled, dict) else []


def extensions(folder: Path, mark: str, installed: str, project: Path) -> list[Path]:
    """The extensions in a folder that are on in this project. `installed`: the file that records where an extension comes from.

    Each has a list of paths for which it is on or (with !) off; one that ends with * includes the paths below it. The last match decides.
    """
    rules = read_jsonc(folder / "extension-enablement.json")
    found: list[Path] = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        origin = read_jsonc(place / installed)
        linked = origin.get("type") == "link" and isinstance(origin.get("source"), str)
        root = Path(origin["source"]) if linked else place
        own = rules.get(place.name)
        overrides = own.get("overrides") if isinstance(own, dict) else None
        fits = [rule for rule in overrides if isinstance(rule, str) and _covers(rule, project)] if isinstance(overrides, list) else []
        if (root / mark).is_file() and not (fits and fits[-1].startswith("!")):
            found.append(root)
    return found


def _covers(rule: str, project: Path) -> bool:
    base, path = rule.lstrip("!"), f"{project.as_posix().rstrip('/')}/"
    return path.startswith(base[:-1]) if base.endswith("*") else path == f"{base.rstrip('/')}/"


def listed_handlers(data: Any) -> Iterator[tuple[str, dict[str, Any], tuple[str | int, ...]]]:
    """(event, entry, path) of hooks.<Event>[entry]."""
    hooks = data.get("hooks") if isinstance(data, dict) else None
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                yield event, entry, ("hooks", event, at)


def grouped_handlers(data: Any) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], tuple[str | int, ...]]]:
    """(event, group, handler, path) of hooks.<Event>[group].hooks[handler], whatever type the handler is."""
    for event, group, path in listed_handlers(data):
        handlers = group.get("hooks")
        for at, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            if isinstance(handler, dict):
                yield event, group, handler, (*path, "hooks", at)


def shown_of(handler: Mapping[str, Any]) -> str:
    for key in ("command", "bash", "exec", "powershell", "url", "tool", "prompt"):
        if isinstance(handler.get(key), str):
            words = [handler[key], *(word for word in handler.get("args", []) if isinstance(word, str))]
            return " ".join(words)
    return str(dict(handler))


def shortened(text: str, width: int = 100) -> str:
    """The beginning of a command or a prompt, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def misplaced(data: Any, title: str) -> Iterator[Borrowed]:
    """Hooks that are directly below their event, without a group: an agent with grouped hooks does not run them."""
    for event, entry, path in listed_handlers(data):
        if "hooks" not in entry and isinstance(entry.get("command"), str):
            why = f'{title} does not run it: it must be in a group, {{"hooks": [...]}}'
            yield Borrowed(event, path, shown_of(entry), refused=why)


def name_of(handler: Mapping[str, Any]) -> str:
    name = handler.get("name")
    return name if isinstance(name, str) else ""


def lost(handler: Mapping[str, Any], carried: tuple[str, ...]) -> list[str]:
    return [f"{key!r} is not carried over" for key in handler if key not in carried]


def lost_of_group(group: Mapping[str, Any], known: tuple[str, ...] = ("matcher", "hooks", "sequential")) -> list[str]:
    """What a group sets for its hooks but a manifest cannot express."""
    found = [f"{key!r} of its group is not carried over" for key in group if key not in known]
    if "sequential" in known and group.get("sequential") is True:
        return ["'sequential' is not carried over: the hooks of a manifest run at the same time", *found]
    return found


def no_command(title: str, event: str, events: Container[str], handler: Mapping[str, Any]) -> str:
    """Why a handler is not a command for an event that the host has, or ""."""
    if event not in events:
        return f"{title} has no event {event!r}"
    if handler.get("type") != "command" or not isinstance(handler.get("command"), str):
        return f"it is of type {handler.get('type')!r}, not a command"
    return ""


def is_judged(handler: Mapping[str, Any]) -> bool:
    return handler.get("type") in ("prompt", "agent")


def take_prompt(hook: Borrowed, handler: Mapping[str, Any], judged: Container[str], events: Container[str], title: str) -> str:
    """Take over a hook that a model decides. Returns why that is not possible, or ""."""
    prompt, kind = handler.get("prompt"), handler["type"]
    if hook.event not in events:
        return f"{title} has no event {hook.event!r}"
    if not isinstance(prompt, str) or not prompt.strip():
        return f"it is of type {kind!r} and has no prompt"
    if hook.event not in judged:
        return f"a hook of type {kind!r} has no effect on {hook.event}"
    hook.prompt, hook.agent = prompt, kind == "agent"
    hook.continue_on_block = handler.get("continueOnBlock") is True
    if hook.agent:
        hook.losses.append("its model can read, search and list the files of the project, but cannot use other tools")
    if "$ARGUMENTS[" in prompt:
        hook.losses.append("$ARGUMENTS[...] in its prompt is replaced by the whole payload, not by one word of it")
    if "model" in handler:
        hook.losses.append(f"its model {handler['model']!r} is not carried over: [model] names the one that judges")
    return ""


def no_list(matcher: object) -> str:
    return f"its matcher {matcher!r} cannot be written as a list of tools"


def no_equivalent(hook: Borrowed, matcher: object) -> str:
    return f"its matcher {matcher!r} on {hook.event} has no equivalent in a manifest"


def seconds(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else default


def too_short(timeout: float, title: str) -> list[str]:
    """For an agent that counts milliseconds: a timeout that was probably meant in seconds."""
    return [f"its timeout is {timeout * 1000:g} ms, not s: {title} ends it before most programs can answer"] if timeout < 1 else []


# ---- commands ----


def in_powershell(text: str) -> list[str]:
    return ["pwsh", "-NoProfile", "-NonInteractive", "-Command", text]


def no_powershell() -> str:
    """Why a command for PowerShell cannot be carried over, or ""."""
    return "" if shutil.which("pwsh") else "it is written for PowerShell, and there is no pwsh here"


def in_project(text: str, variable: str) -> str:
    """A command of an agent that starts hooks in the project's folder. Others may start them below it, where relative paths are wrong."""
    return in_folder(text, f'"${variable}"')


def in_folder(text: str, folder: str) -> str:
    return f"cd {folder} || exit 1; {text}" if _RELATIVE.search(text) else text


def with_variables(run: str | list[str], variables: Mapping[str, str]) -> str | list[str]:
    """The command with the variables of its `env` set; the values are taken literally."""
    if not variables:
        return run
    pairs = [f"{name}={value}" for name, value in variables.items()]
    if isinstance(run, list):
        return ["env", *pairs, *run]
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}; {run}"


def env_problem(env: object) -> str:
    """Why an `env` has no equivalent in a manifest, or ""."""
    if env is None:
        return ""
    plain = isinstance(env, dict) and all(_VARIABLE.fullmatch(name) and isinstance(value, str) for name, value in env.items())
    return "" if plain else f"its env {env!r} is not a table of strings"


# ---- matchers ----


def unified_tools(names: list[str], tools: Mapping[str, Tool]) -> list[str]:
    """Native tool names as unified ones; a tool that means more here than its unified name keeps its own."""
    found: list[str] = []
    for name in names:
        found += _unified(name, tools)
    return list(dict.fromkeys(found))


def _unified(name: str, tools: Mapping[str, Tool]) -> list[str]:
    tool = tools.get(name)
    if tool is None:
        return [name]
    first = next(other for other in tools if tools[other].names[0] == tool.names[0])
    if name in tools[first].names and name not in TOOLS:
        return [tool.names[0]]  # an older word for the same tool
    if name != first and name not in TOOLS:
        return [name]
    names = [unified for unified in tool.names if unified in TOOLS]
    return [*names, "Delete"] if tool.patch else names  # a patch can delete, too


def own_tools(names: list[str], known: Container[str], title: str) -> list[str]:
    """What is lost of a matcher that names tools no other agent has, or unknown tools. `known`: all tools of the agent."""
    said: list[str] = []
    for name in (name for name in names if name not in TOOLS and not name.startswith("mcp__")):
        if name in known:
            said.append(f"the tool {name} exists only in {title}, so the hook does not fire elsewhere")
        else:
            said.append(f"{title} has no tool {name!r} that onehook knows; the hook fires for it if the agent has a tool of this name")
    return said


def dead_words(patterns: Iterable[str], known: Iterable[str]) -> list[str]:
    """The words of a matcher that are only tools of other agents. They match nothing on their own agent, so they must not elsewhere."""
    words = (pattern for pattern in patterns if pattern.strip("*") in _ELSEWHERE)
    return [word for word in words if not any(wildcard(word, name) for name in known)]


def lost_words(dead: Iterable[str], title: str) -> list[str]:
    return [f"{word.strip('*')!r} in its matcher is not a tool of {title}" for word in dead]


def no_such_tool(matcher: object, title: str) -> str:
    return f"its matcher {matcher!r} never matches: {title} has no such tool"


def patterns_of(regex: str, allowed: re.Pattern[str] = _NAME, whole: bool = False) -> list[str] | None:
    """A regular expression as patterns with *, or None if those cannot express it. `whole`: it must match the whole string anyway."""
    grouped = _GROUP.fullmatch(regex)
    texts = [f"{grouped[1]}{part}{grouped[3]}" for part in grouped[2].split("|")] if grouped else regex.split("|")
    patterns: list[str] = []
    for text in texts:
        begins, ends = whole or text.startswith("^"), whole or text.endswith("$")
        body = text.removeprefix("^").removesuffix("$").replace(".*", "*").replace(".+", "*")
        if not allowed.fullmatch(body):
            return None
        pattern = ("" if begins else "*") + body + ("" if ends else "*")
        while "**" in pattern:
            pattern = pattern.replace("**", "*")
        patterns.append(pattern)
    return patterns


def command_patterns(regex: str) -> list[str] | None:
    return patterns_of(regex, _COMMAND)


def tools_of_regex(regex: str, tools: Mapping[str, Tool], mcp_prefix: str) -> list[str] | None:
    """The unified tools that a regular expression on tool names covers; None if they cannot be listed."""
    patterns = patterns_of(regex)
    if patterns is None:
        return None
    found: list[str] = []
    for pattern in patterns:
        body = pattern.lstrip("*")
        if body.startswith(mcp_prefix):
            found.append(_mcp_pattern(body, mcp_prefix))
            continue
        natives = [name for name in tools if wildcard(pattern, name)]
        plain = pattern.strip("*")
        if not natives and (not plain or "*" in plain):
            return None
        found += unified_tools(natives or [plain], tools)
    return list(dict.fromkeys(found))


def joined_mcp(body: str, joint: str) -> list[str] | None:
    """server<joint>tool, perhaps with a * at the end, as patterns for the unified name: one for each way to split it."""
    literal = body.removesuffix("*")
    rest = body[len(literal) :]
    words = literal.split(joint)
    if "*" in literal:
        return None
    splits = ((joint.join(words[:at]), joint.join(words[at:]) + rest) for at in range(1, len(words)))
    found = [f"mcp__{server}__{tool}" for server, tool in splits if server and tool]
    return [*found, f"mcp__{literal}*"] if rest else found or None


def natives_of(patterns: list[str], known: Iterable[str], prefix: str, joint: str) -> tuple[list[str], list[str]] | None:
    """The native tools and the MCP patterns that patterns of native names stand for; None if they cannot be listed.

    MCP tools are called <prefix>server<joint>tool. An unknown name is a separate tool.
    """
    natives: list[str] = []
    servers: list[str] = []
    for pattern in patterns:
        body = pattern.lstrip("*")
        found = [name for name in known if wildcard(pattern, name)]
        if wildcard(pattern, f"{prefix}\0{joint}\0"):
            servers.append("MCP")
        elif not found and (body.startswith(prefix) if prefix else joint in body):
            said = joined_mcp(body.removeprefix(prefix), joint) if body == pattern or prefix else None
            if said is None:
                return None
            servers += said
        elif not found:
            plain = pattern.strip("*")
            if not plain or "*" in plain or pattern not in (plain, f"*{plain}*"):
                return None
            found = [plain]
        natives += found
    return natives, servers


def take_names_or_regex(
    hook: Borrowed,
    matcher: object,
    words: list[str] | None,
    on_tools: Container[str],
    tools: Mapping[str, Tool],
    others: tuple[str, ...],
    title: str,
) -> str:
    """A matcher as Claude Code has it: names (`words`), or a regular expression. Returns why it has no equivalent, or "".

    `others`: the tools that `tools` lacks, since they have no unified name.
    """
    if hook.event in on_tools:
        found = tools_of_regex(str(matcher), tools, "mcp__") if words is None else unified_tools(words, tools)
        if found is None:
            return no_list(matcher)
        hook.tools = found
        hook.losses += own_tools(found, (*tools, *others), title)
        return ""
    if hook.event == "SessionStart" and words:
        hook.sources = words
        return ""
    if hook.event in ("SubagentStart", "SubagentStop") and words:
        hook.agent_types = words
        return ""
    return no_equivalent(hook, matcher)


def take_sources(hook: Borrowed, matcher: str, starts: Sequence[str], fits: Callable[[str], object], names: Mapping[str, str]) -> str:
    """The reasons for a session's start that a matcher matches. `starts`: all of them; `names`: those that other agents call otherwise."""
    try:
        fitting = [start for start in starts if fits(start)]
    except re.error:
        return no_equivalent(hook, matcher)
    if not fitting:
        return f"its matcher {matcher!r} never matches: a session starts with one of {', '.join(starts)}"
    hook.sources = [] if len(fitting) == len(starts) else list(dict.fromkeys(names.get(start, start) for start in fitting))
    return ""


def take_tools(
    hook: Borrowed, natives: Iterable[str], servers: list[str], tools: Mapping[str, Tool], others: tuple[str, ...], title: str
) -> None:
    """The tools of a hook, in unified names; what it additionally runs for, or no longer runs for, is a loss.

    `tools` is the host's table without older names for a tool, `others` are those without a unified name.
    """
    matched = list(dict.fromkeys(natives))
    names = unified_tools(matched, tools)

    def meant(native: str) -> bool:
        return native in tools and any(name in names and name in TOOLS for name in tools[native].names)

    said = [name for name in names if name in TOOLS or not meant(name)]
    hook.tools = list(dict.fromkeys([*said, *servers]))
    hook.losses += own_tools(said, (*tools, *others), title)
    beside = [name for name in tools if name not in matched and meant(name)]
    if beside:
        hook.losses.append(f"it also fires for {title}'s {', '.join(beside)}: they are the same unified tool")


def forgotten_servers(patterns: list[str], natives: list[str], servers: list[str], prefix: str) -> list[str]:
    """The losses of patterns that may match anywhere in a name: MCP tools that they would also match no longer start the hook."""
    parts = [pattern.strip("*") for pattern in patterns if pattern.startswith("*") and "MCP" not in servers]
    return [
        f"MCP tools with {part!r} in their name no longer start it" for part in parts if part not in natives and not part.startswith(prefix)
    ]


def _mcp_pattern(body: str, prefix: str) -> str:
    if body in (prefix, f"{prefix}*"):
        return "MCP"
    return body if prefix == "mcp__" else f"mcp__*__{body.removeprefix(prefix)}"


def listed(matcher: object, plain: re.Pattern[str]) -> list[str] | None:
    """The words of a matcher that is a list of names; None if it is something else."""
    if not isinstance(matcher, str) or not plain.fullmatch(matcher):
        return None
    return [word.strip() for word in re.split(r"[|,]", matcher) if word.strip()]


def takes_all(matcher: object) -> bool:
    return matcher in _ANY
