"""Commands that run other commands: what they run, and how to find it in their arguments."""

from __future__ import annotations

from onehook.core import PowerShell
from onehook.policies.bash_expand import Word

SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash", "fish", "yash", "csh", "tcsh"])
INTERPRETERS = frozenset([
    "python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun", "osascript", "pwsh", "tclsh", "elixir", "rscript",
    "julia", "groovy",
])  # fmt: skip
STDIN_SHELLS = frozenset({"at", "batch"})


class Inner:
    """What a wrapper runs: words, or text for a shell (None: text that cannot be inspected)."""

    __slots__ = ("args", "argv", "label", "text")

    def __init__(self, label: str, argv: list[Word] | None = None, text: str | None = None, args: tuple[str, ...] | None = None) -> None:
        self.label, self.argv, self.text, self.args = label, argv, text, args


class Plain:
    """A wrapper of the form: name, options, `skip` operands, command.  `valued`: options with a value."""

    __slots__ = ("assigns", "skip", "valued")

    def __init__(self, valued: str = "", skip: int = 0, assigns: bool = False) -> None:
        self.valued, self.skip, self.assigns = valued, skip, assigns


PLAIN: dict[str, Plain] = {
    "sudo": Plain("-u -g -h -p -C -r -t -U -D -R -T --user --group --host --prompt --chdir --chroot", 0, True),
    "doas": Plain("-u -C", 0, True),
    "env": Plain("-u -C -P --unset --chdir", 0, True),
    "nohup": Plain(),
    "time": Plain("-f -o --format --output"),
    "nice": Plain("-n --adjustment"),
    "ionice": Plain("-c -n -p --class --classdata"),
    "timeout": Plain("-s -k --signal --kill-after", 1),
    "gtimeout": Plain("-s -k --signal --kill-after", 1),
    "stdbuf": Plain("-i -o -e --input --output --error"),
    "setsid": Plain(),
    "command": Plain(),
    "builtin": Plain(),
    "exec": Plain("-a"),
    "noglob": Plain(),
    "nocorrect": Plain(),
    "coproc": Plain(),
    "busybox": Plain(),
    "lvm": Plain(),
    "rtk": Plain(),
    "toybox": Plain(),
    "chroot": Plain("--userspec --groups", 1),
    "chrt": Plain("-T -P -D", 1),
    "taskset": Plain("", 1),
    "strace": Plain("-e -o -p -s -u -E -P -a"),
    "ltrace": Plain("-e -o -p -s -u"),
    "caffeinate": Plain("-t -w"),
    "unbuffer": Plain(),
    "fakeroot": Plain("-l -s -i -b"),
    "torsocks": Plain(),
    "proxychains": Plain("-f"),
    "rlwrap": Plain("-f -H -p -s -a"),
    "pkexec": Plain("--user"),
    "systemd-run": Plain("-p -u -M -E -t --property --unit --setenv --slice --uid --gid"),
    "unshare": Plain("-S -G -R -w"),
    "nsenter": Plain("-t -S -G"),
    "screen": Plain("-S -t -c -s -h -L"),
    "npx": Plain("-p --package"),
    "bunx": Plain(),
    "uvx": Plain("--from --with -p --python"),
}
AFTER_VERB: dict[str, frozenset[str]] = {
    "uv": frozenset({"run"}),
    "poetry": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "bundle": frozenset({"exec"}),
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx"}),
    "bun": frozenset({"x"}),
    "mise": frozenset({"exec", "x"}),
    "op": frozenset({"run"}),
    "doppler": frozenset({"run"}),
    "infisical": frozenset({"run"}),
    "dotenvx": frozenset({"run"}),
    "devbox": frozenset({"run"}),
    "pixi": frozenset({"run"}),
}
SSH_VALUED = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"
XARGS_VALUED = "-I -J -R -n -P -d -E -L -s -a --max-args --max-procs --delimiter --arg-file --max-lines"
PARALLEL_VALUED = "-j -N -n -I -S -a -P --jobs --joblog --colsep --delay --retries --timeout --results --tmpdir"
CONTAINERS = ("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "k", "lxc", "incus")
CONTAINER_VALUED = "-e -u -w --env --env-file --user --workdir --detach-keys --index"
WATCH_VALUED = "-n --interval"
TAR_RUNS = (
    "-I", "-F", "--use-compress-program", "--to-command", "--info-script", "--new-volume-script", "--checkpoint-action", "--rsh-command",
)  # fmt: skip
TMUX_RUNS = ("new-session", "new", "new-window", "neww", "split-window", "splitw", "send-keys", "send", "run-shell", "run", "respawn-pane")
TMUX_VALUED = "-s -n -t -c -e -x -y -F -l -p"


def operands(argv: list[Word], valued: str, start: int = 1) -> int:
    """The index of the first word that is neither an option nor an option's value."""
    takes = frozenset(valued.split())
    i = start
    while i < len(argv):
        word = argv[i]
        if word == "--":
            return min(i + 1, len(argv))
        if not word.startswith("-") or word == "-":
            return i
        clustered = not word.startswith("--") and len(word) > 2 and word[:2] not in takes and "-" + word[-1] in takes
        i += 2 if word in takes or clustered else 1
    return min(i, len(argv))


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum() and not name[:1].isdigit()


def inner_commands(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """Everything that this command runs, as far as its arguments show."""
    if name in PLAIN:
        return plain(name, argv)
    if name in AFTER_VERB and len(argv) > 1 and argv[1] in AFTER_VERB[name]:
        at = operands(argv, "--with --python --project --extra --group -p", 2)
        return [Inner(f"{name} {argv[1]}", argv[at:])] if at < len(argv) else []
    special = SPECIAL_WRAPPERS.get("shell" if name in SHELLS else name)
    return special(name, argv, stdin) if special else []


def plain(name: str, argv: list[Word]) -> list[Inner]:
    shape = PLAIN[name]
    if name == "command" and any(w in ("-v", "-V") for w in argv[1:2]):
        return []
    if name == "env" and (split := env_split(argv)):
        return split
    at = operands(argv, shape.valued)
    at += sum(1 for w in argv[at : at + 1] if w == "-") if name == "env" else 0
    while shape.assigns and at < len(argv) and is_assignment(argv[at]):
        at += 1
    at += shape.skip
    if at < len(argv):
        return [Inner(name, argv[at:])]
    shell = name in ("sudo", "doas") and any(w in ("-s", "-i", "--shell", "--login") for w in argv[1:])
    return [Inner(name, [Word("sh")])] if shell else []


def env_split(argv: list[Word]) -> list[Inner]:
    for i, word in enumerate(argv[1:], 1):
        if word in ("-S", "--split-string") and i + 1 < len(argv):
            return [Inner("env -S", None, " ".join(w.script for w in argv[i + 1 :]))]
        if word.startswith(("-S", "--split-string=")):
            first = Word(word.split("=", 1)[1] if word.startswith("--") else word[2:])
            return [Inner("env -S", None, " ".join(w.script for w in [first, *argv[i + 1 :]]))]
        if not word.startswith("-"):
            return []
    return []


def shell(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    i, with_text = 1, False
    while i < len(argv) and argv[i][:1] in ("-", "+") and argv[i] not in ("-", "--"):
        word = argv[i]
        short = not word.startswith("--")
        with_text = with_text or (short and word[0] == "-" and "c" in word[1:])
        takes = word in ("--rcfile", "--init-file") or (short and word[-1] in "oO" and len(word) > 1)
        i += 2 if takes else 1
    i += 1 if i < len(argv) and argv[i] in ("-", "--") else 0
    if not with_text:
        return []
    if i >= len(argv):
        return []
    return [Inner(f"{name} -c", None, argv[i].script, tuple(argv[i + 2 :]))]


def joined(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    at = 2 if name == "eval" and argv[1:2] == ["--"] else 1
    text = " ".join(w.script for w in argv[at:])
    return [Inner(name, None, text)] if len(argv) > at else []


def trap(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    at = operands(argv, "")
    return [Inner(name, None, argv[at].script)] if len(argv) > at + 1 and argv[at] != "-" else []


def ssh(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    out = [
        Inner("ssh ProxyCommand", None, w.script.split("=", 1)[1])
        for w in argv
        if w.lower().startswith(("proxycommand=", "-oproxycommand=", "localcommand="))
    ]
    at = operands(argv, SSH_VALUED) + 1
    at = operands(argv, SSH_VALUED, at)
    if at < len(argv):
        out.append(Inner(name, None, " ".join(w.script for w in argv[at:])))
    elif stdin is not None:
        out.append(Inner(f"{name} stdin", None, stdin))
    return out


def dash_c(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """su, runuser, script, flock: text after -c; runuser and flock also take plain words."""
    for i, word in enumerate(argv[1:], 1):
        if word.startswith(("--command=", "--session-command=")):
            return [Inner(f"{name} -c", None, word.script.split("=", 1)[1])]
        short = word.startswith("-") and not word.startswith("--") and word.endswith("c")
        if (short or word in ("--command", "--session-command", "--run")) and i + 1 < len(argv):
            return [Inner(f"{name} -c", None, argv[i + 1].script)]
    at = operands(argv, "-u -g -G -w -E -s") + (1 if name == "flock" else 0)
    if name == "flock" or (name == "runuser" and "-u" in argv):
        return [Inner(name, argv[at:])] if at < len(argv) else []
    return [Inner(f"{name} stdin", None, stdin)] if stdin is not None and name in ("su", "runuser") else []


def xargs(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    at = operands(argv, XARGS_VALUED)
    command = argv[at:] or [Word("echo")]
    slot = next((str(argv[i + 1]) for i, w in enumerate(argv[: at - 1]) if w in ("-I", "-J")), "")
    slot = slot or next((_slot(w) for w in argv[1:at] if w.startswith(("-I", "-i", "--replace"))), "")
    words = (stdin.splitlines()[:64] if slot else stdin.split()[:512]) if stdin is not None else ["\0\0"]
    given = [Word(w, "*" in w, w[:1] == "~") for w in words]
    if not any(slot in w for w in command if slot):
        return [Inner(name, command + given)]
    return [Inner(name, [Word(w.replace(slot, value)) for w in command]) for value in given]


def _slot(option: str) -> str:
    """The placeholder that -I%, -i or --replace=% replaces with the input."""
    return (option.partition("=")[2] if option.startswith("--") else option[2:]) or "{}"


def parallel(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    at = operands(argv, PARALLEL_VALUED)
    words = argv[at:]
    split = next((i for i, w in enumerate(words) if w.startswith(":::")), len(words))
    given = [w.script for w in words[split + 1 :] if not w.startswith(":::")]
    given = given or (stdin.split("\n") if stdin else [])
    command = " ".join(w.script for w in words[:split])
    if not command:
        return [Inner(name, None, "\n".join(given))] if given else []
    # Arguments are quoted; the words of the command are not, and may still be one string for a shell (-q, and versions before 2010).
    quoted = ["'" + g.replace("'", "'\\''") + "'" if set(g) & set(" ;|&$`") else g for g in given[:64]]
    lines = [command.replace("{}", g) if "{}" in command else f"{command} {g}" for g in quoted]
    whole = [Inner(name, [Word(w.replace("{}", g)) for w in words[:split]]) for g in given[:64]]
    return [Inner(name, None, "\n".join(lines or [command])), *whole]


def watch(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    at = operands(argv, WATCH_VALUED)
    return [Inner(name, None, " ".join(w.script for w in argv[at:]))] if at < len(argv) else []


def find(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    out: list[Inner] = []
    i = 1
    while i < len(argv):
        if argv[i] not in ("-exec", "-execdir", "-ok", "-okdir"):
            i += 1
            continue
        end = next((j for j in range(i + 1, len(argv)) if argv[j] == ";" or (argv[j] == "+" and argv[j - 1] == "{}")), len(argv))
        words = [Word(w.replace("{}", "\0\0")) for w in argv[i + 1 : end]]
        if words:
            out.append(Inner(f"find {argv[i]}", words))
        i = end + 1
    return out


def git(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    out: list[Inner] = []
    for i, word in enumerate(argv):
        if word.startswith("alias.") and "=" in word:
            value = word.script.partition("=")[2]
            out.append(Inner("git alias", None, value[1:] if value[:1] == "!" else f"git {value}"))
        elif word == "foreach" and "submodule" in argv:
            out.append(Inner("git submodule foreach", None, " ".join(w.script for w in argv[i + 1 :] if w[:2] != "--")))
        elif word == "run" and argv[i - 1] == "bisect":
            out.append(Inner("git bisect run", argv[i + 1 :]))
        elif word in ("-x", "--exec") and "rebase" in argv and i + 1 < len(argv):
            out.append(Inner("git rebase --exec", None, argv[i + 1].script))
        elif word.startswith("--exec=") and "rebase" in argv:
            out.append(Inner("git rebase --exec", None, word.script[7:]))
    return [inner for inner in out if inner.argv or inner.text]


def powershell(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    quoted = ["'" + w.replace("'", "''") + "'" if set(w) & set(" ;|&") and not w.startswith("-") else str(w) for w in argv[1:]]
    return [Inner(name, None, PowerShell(" ".join(["pwsh", *quoted])))] if len(argv) > 1 else []


def in_container(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """docker exec, docker compose exec and run: a container and what runs in it; kubectl exec and run: what follows `--`.

    What `docker run` starts sees only the container's own files, and is not checked."""
    at = next((i for i, word in enumerate(argv) if word in ("exec", "run", "build", "create")), 0)
    fresh = name in ("docker", "podman", "nerdctl") and "compose" not in argv[1:at]
    if not at or argv[at] in ("build", "create") or (argv[at] == "run" and fresh):
        return []
    if name in ("kubectl", "oc", "k") and "--" not in argv[at:]:
        return []
    if "--" in argv[at:]:
        begin = argv.index(Word("--"), at) + 1
    else:
        begin = operands(argv, CONTAINER_VALUED, operands(argv, CONTAINER_VALUED, at + 1) + 1)
    return [Inner(f"{name} {argv[at]}", argv[begin:])] if begin < len(argv) else []


def fd(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """fd pattern -x command"""
    at = next((i for i, word in enumerate(argv) if word in ("-x", "-X", "--exec", "--exec-batch")), len(argv))
    words = [Word("\0\0" if word in ("{}", "{/}", "{.}", "{//}", "{/.}") else word) for word in argv[at + 1 :]]
    return [Inner(f"{name} {argv[at]}", words if "\0\0" in words else [*words, Word("\0\0")])] if words else []


def under_name(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """k3s kubectl get pods"""
    return [Inner(name, argv[1:])] if argv[1:2] == ["kubectl"] else []


def tar(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """tar -I 'zstd -9', --to-command, --checkpoint-action=exec=..."""
    takes = [word in TAR_RUNS or (word[:1] == "-" and word[-1:] == "I") for word in argv]
    pairs = [(word, following.script) for word, following, taking in zip(argv, argv[1:], takes) if taking]
    pairs += [(word, word.script.partition("=")[2].removeprefix("exec=")) for word in argv[1:] if word.startswith(TAR_RUNS) and "=" in word]
    return [Inner(f"{name} {option.partition('=')[0]}", None, text) for option, text in pairs]


def tmux(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """tmux new-session -d 'make test'; tmux send-keys 'make test' Enter"""
    verbs = [i for i, word in enumerate(argv) if word in TMUX_RUNS]
    words = argv[operands(argv, TMUX_VALUED, verbs[0] + 1) :] if verbs else []
    return [Inner(f"{name} {argv[verbs[0]]}", None, " ".join(w.script for w in words if w not in ("Enter", "C-m")))] if words else []


def command_prompt(name: str, argv: list[Word], stdin: str | None) -> list[Inner]:
    """cmd /c del x"""
    at = next((i for i, word in enumerate(argv) if word.lower() in ("/c", "/k")), len(argv))
    return [Inner(f"{name} /c", None, " ".join(w.script for w in argv[at + 1 :]))] if at + 1 < len(argv) else []


SPECIAL_WRAPPERS = {
    **dict.fromkeys(CONTAINERS, in_container),
    **dict.fromkeys(("k3s", "microk8s", "minikube"), under_name),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), tar),
    "cmd": command_prompt,
    "tmux": tmux,
    **dict.fromkeys(("fd", "fdfind"), fd),
    "pwsh": powershell,
    "powershell": powershell,
    "shell": shell,
    "eval": joined,
    "trap": trap,
    "ssh": ssh,
    "su": dash_c,
    "runuser": dash_c,
    "script": dash_c,
    "nix-shell": dash_c,
    "flock": dash_c,
    "xargs": xargs,
    "gxargs": xargs,
    "parallel": parallel,
    "watch": watch,
    "find": find,
    "gfind": find,
    "git": git,
}
