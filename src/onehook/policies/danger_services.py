"""Commands that stop machines or erase disks, services and databases."""

from __future__ import annotations

from onehook.policies.bash_expand import Word
from onehook.policies.danger_files import operands
from onehook.policies.danger_git import flags
from onehook.policies.shell import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.policies.danger_files import Found

FORMATTERS = ("mkfs", "wipefs", "shred", "mkswap", "blkdiscard", "sgdisk", "sfdisk", "cryptsetup-reencrypt")
SQL_CLIENTS = frozenset(["psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "cockroach", "duckdb", "mycli", "pgcli"])


def check_format(command: Command, strict: bool) -> Found | None:
    if command.name.split(".")[0] not in FORMATTERS or {"--help", "--version"} & set(command.argv):
        return None
    return "disk-format", f"{command.name} erases data for good"


def check_kill(command: Command, strict: bool) -> Found | None:
    everyone = "-1" in command.argv[2:]
    return ("kill-all", "it kills every process") if everyone and "-l" not in command.argv else None


def check_shutdown(command: Command, strict: bool) -> Found | None:
    verb = next(iter(operands(command)), "")
    level = command.name in ("init", "telinit") and verb in ("0", "6")
    unit = command.name == "systemctl" and verb in ("poweroff", "reboot", "halt", "kexec", "suspend", "hibernate")
    plain = command.name in ("shutdown", "reboot", "halt", "poweroff") and not {"-c", "--help"} & set(command.argv)
    return ("shutdown", "it stops or restarts the machine") if level or unit or plain else None


def check_firewall(command: Command, strict: bool) -> Found | None:
    words = list(command.argv[1:])
    flush = command.name in ("iptables", "ip6tables") and bool({"-F", "--flush", "-X"} & set(words))
    other = (command.name, *words[:2]) in (("nft", "flush", "ruleset"),) or (command.name == "ufw" and "disable" in words)
    return ("firewall", "it removes the firewall's rules") if flush or other else None


def check_crontab(command: Command, strict: bool) -> Found | None:
    return ("crontab", "it removes the crontab") if "-r" in flags(command.argv[1:], "u") else None


def check_docker(command: Command, strict: bool) -> Found | None:
    words, given = operands(command), flags(command.argv[1:])
    system = words[:2] == ["system", "prune"] and bool({"-a", "--all", "--volumes"} & given)
    volumes = words[:2] == ["volume", "prune"] and bool({"-f", "--force", "-a", "--all"} & given)
    return ("docker-prune", "it deletes all unused containers, images or volumes") if system or volumes else None


def check_kubectl(command: Command, strict: bool) -> Found | None:
    words = operands(command)
    if "delete" not in words[:3] or "--dry-run" in flags(command.argv[1:]):
        return None
    kinds = words[words.index(Word("delete")) + 1 :][:1]
    namespace = any(k.split("/")[0] in ("ns", "namespace", "namespaces") for k in kinds)
    everything = "--all" in command.argv or "--all-namespaces" in command.argv
    return ("kubectl-delete", "it deletes a whole namespace or all objects") if namespace or everything else None


def check_terraform(command: Command, strict: bool) -> Found | None:
    words = operands(command)
    destroys = "destroy" in words[:2] or ("apply" in words[:1] and {"-destroy", "--destroy"} & set(command.argv))
    return ("terraform-destroy", "it destroys infrastructure") if destroys else None


def check_sql(command: Command, strict: bool) -> Found | None:
    texts = [*command.argv[1:], *(r.target for r in command.redirects if r.op in ("<<", "<<<")), command.stdin or ""]
    for statement in ";".join(texts).split(";"):
        words = statement.upper().replace("=", " ", 1).split()
        for i, word in enumerate(words):
            after = words[i + 1 : i + 2]
            if (word in ("DROP", "TRUNCATE") and after in (["TABLE"], ["DATABASE"], ["SCHEMA"])) or (
                word == "DELETE" and after == ["FROM"] and "WHERE" not in words
            ):
                return "sql-drop", f"it runs {word} {after[0]} on a database"
    return None


def check_history(command: Command, strict: bool) -> Found | None:
    return ("history-clear", "it clears the shell history") if "-c" in flags(command.argv[1:]) else None
