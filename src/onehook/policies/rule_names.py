"""The rule names that the policies' options take. Separate, so that options are checked early without loading the rules themselves."""

from __future__ import annotations

RULES: dict[str, str] = {
    "rm-broad": "rm -r of the root, a home folder, the current folder or a parent of it",
    "rm-system": "rm of a system folder or file",
    "rm-no-preserve-root": "rm with --no-preserve-root",
    "rm-empty-var": 'rm -r of "$X/" or "$X/*", which is the root when X is empty',
    "rm-git-dir": "rm -r of the repository's .git folder",
    "rm-strict": "any rm -rf (only with strict=True)",
    "find-delete": "find that deletes everything below a broad folder",
    "device-write": "writing to a disk or another device",
    "disk-format": "mkfs, wipefs, shred and other commands that erase disks or files for good",
    "system-write": "overwriting, emptying or moving system files and folders",
    "permissions": "chmod or chown of whole system folders",
    "ssh-keys": "writing to authorized_keys",
    "history-clear": "clearing the shell history",
    "fork-bomb": "a function that starts itself endlessly",
    "kill-all": "kill of every process",
    "shutdown": "shutdown, reboot, halt, poweroff",
    "firewall": "removing all firewall rules",
    "crontab": "removing the crontab",
    "docker-prune": "docker prune of everything, volumes included",
    "kubectl-delete": "kubectl delete of a namespace or of everything",
    "terraform-destroy": "terraform, tofu or pulumi destroy",
    "sql-drop": "DROP, TRUNCATE or DELETE without WHERE through a database client",
    "download-shell": "running a downloaded script without saving it first",
    "opaque-shell": "running text that cannot be inspected before it runs",
    "git-clean": "git clean that deletes untracked files",
    "git-reset": "git reset --hard",
    "git-push-force": "git push --force",
    "too-complex": "a command too deeply nested or too long to be checked",
}


def check(given: tuple[str, ...], known: tuple[str, ...]) -> None:
    """Report a misspelt name now, rather than on the first event."""
    for name in given:
        if name not in known:
            raise ValueError(f"unknown rule: {name}; known rules: {', '.join(known)}")
