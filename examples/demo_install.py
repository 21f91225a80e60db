"""An install into a scratch project that has hooks already: the diff, the table, the doctor, and every byte back."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

POLICY = Path(__file__).resolve().with_name("policy.py")
CURSOR = """{
  "version": 1,
  "hooks": {
    "preToolUse": [
      { "command": "./lint.sh" } // ours since 2024
    ]
  }
}
"""


def onehook(project: Path, environment: dict[str, str], *arguments: str) -> int:
    print(f"\n$ onehook {' '.join(arguments)}", flush=True)
    return subprocess.run([sys.executable, "-I", "-m", "onehook", *arguments], cwd=project, env=environment, check=False).returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        project = root / "shop"
        (project / ".cursor").mkdir(parents=True)
        (root / "home").mkdir()
        (project / ".cursor" / "hooks.json").write_text(CURSOR, encoding="utf-8")
        (project / "policy.py").write_bytes(POLICY.read_bytes())
        before = sorted((path, path.read_bytes()) for path in project.rglob("*") if path.is_file())
        environment = {**os.environ, "HOME": str(root / "home"), "ONEHOOK_STATE_DIR": str(root / "state"), "SHELL": "/bin/sh"}
        hosts = ("--hosts", "claude,cursor")
        wrong = onehook(project, environment, "install", "policy.py", "--hosts", "cursor", "--events", "PreToolUse", "--dry-run")
        wrong += onehook(project, environment, "install", "policy.py", *hosts, "--yes")
        wrong += onehook(project, environment, "status")
        wrong += onehook(project, environment, "doctor", *hosts)
        wrong += onehook(project, environment, "uninstall")
        after = sorted((path, path.read_bytes()) for path in project.rglob("*") if path.is_file())
        print("\nafter uninstall, every byte is as it was" if after == before else "\nafter uninstall, files DIFFER")
        return 1 if wrong or after != before else 0


if __name__ == "__main__":
    raise SystemExit(main())
