"""Builds the client for resident mode (client/onehook-client.c, for Windows onehook-client-windows.c) into a wheel for one platform, with
Zig as the cross compiler.

ONEHOOK_NATIVE names the platform; `make wheels` builds all of them, and with "none" the wheel for all others, without a client. Without the
variable, as when `pip install .` builds it on Linux, the machine's C compiler is used, and there is no client if it has none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "client/onehook-client.c"
WINDOWS_SOURCE = "client/onehook-client-windows.c"
PROGRAM = "onehook/resident/onehook-client"
# Values of ONEHOOK_NATIVE -> Zig's name for the platform, and the tag of the wheel. On Linux the client is static, and needs no library.
PLATFORMS = {
    "linux-x86_64": ("x86_64-linux-musl", "manylinux_2_5_x86_64.manylinux1_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": ("aarch64-linux-musl", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "macos-x86_64": ("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-arm64": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
    "windows-x86_64": ("x86_64-windows-gnu", "win_amd64"),
    "windows-arm64": ("aarch64-windows-gnu", "win_arm64"),
}
NO_COMMAND = 126  # the exit code of the client if it gets no command
FLAGS = ("-std=c11", "-Os", "-s", "-Wall", "-Wextra", "-Werror")
# No C runtime, which would be loaded for every event.
WINDOWS_FLAGS = (
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-Wl,--entry=entry",
    "-Wl,--subsystem,console",
)


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get("ONEHOOK_NATIVE", "")
        if wanted == "none" or version == "editable":
            return
        if wanted and wanted not in PLATFORMS:
            raise SystemExit(f"ONEHOOK_NATIVE={wanted}: not a platform; known ones: none, {', '.join(PLATFORMS)}")
        root, program = Path(self.root), Path(self.directory) / f"onehook-client-{wanted or 'here'}"
        program.parent.mkdir(parents=True, exist_ok=True)
        target, tag = PLATFORMS.get(wanted, ("", sysconfig.get_platform().replace("-", "_").replace(".", "_")))
        if wanted:
            compiled(root, program, target)
        elif not compiled_here(root, program):
            return
        build_data["force_include"][str(program)] = PROGRAM + (".exe" if "windows" in target else "")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        for program in build_data["force_include"]:
            Path(program).unlink(missing_ok=True)


def compiled(root: Path, program: Path, target: str) -> None:
    """Compile it reproducibly: the same source and compiler give the same bytes, without paths or times in them."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *FLAGS]
    if "windows" in target:
        source = root / WINDOWS_SOURCE
        command += [*WINDOWS_FLAGS, "-isystem", str(_windows_headers()), "-o", str(program), source.name, "-lkernel32", "-ladvapi32"]
    else:
        source = root / SOURCE
        command += [*(("-static",) if "linux" in target else ()), "-o", str(program), source.name]
    try:
        subprocess.run(command, cwd=source.parent, check=True)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"the client for {target} was not built (is `ziglang` installed?): {error}") from None


def compiled_here(root: Path, program: Path) -> bool:
    """Build it with this machine's compiler, if there is one and its output runs here. A client that is not static starts more slowly."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        return False
    for static in (("-static",), ()):
        command = [compiler, *FLAGS, *static, "-o", str(program), str(root / SOURCE)]
        built = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if built.returncode == 0 and subprocess.run([program], stderr=subprocess.DEVNULL, check=False).returncode == NO_COMMAND:
            return True
    return False


def _windows_headers() -> Path:
    """Zig's headers, which are not found automatically without a C runtime."""
    from importlib.util import find_spec

    found = find_spec("ziglang")
    if found is None or found.origin is None:
        raise SystemExit("the client for Windows was not built: `ziglang` is not installed")
    return Path(found.origin).parent / "lib" / "libc" / "include" / "any-windows-any"


def here() -> str:
    """The platform of this machine."""
    import platform

    machine = {"aarch64": "arm64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    name = f"{ {'darwin': 'macos', 'win32': 'windows'}.get(sys.platform, sys.platform) }-{machine}"
    if name not in PLATFORMS:
        raise SystemExit(f"there is no native client for {name}; known platforms: {', '.join(PLATFORMS)}")
    return name


if __name__ == "__main__":
    compiled(Path(__file__).parent, Path(sys.argv[1]).resolve(), PLATFORMS[sys.argv[2] if sys.argv[2:] else here()][0])
