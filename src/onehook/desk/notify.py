"""Notifies people of a request: on the desktop, and through webhooks. A separate process, so that the request never waits for it.

Where to is in the user's own rules file, in [desk] (docs/approvals.md). What is asked is masked as in the decision log.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import Any

from onehook.codec import dumps
from onehook.core import PayloadError
from onehook.desk.answers import Asked, one
from onehook.desk.requests import DeskError
from onehook.desk.show import plain, subject
from onehook.log.notes import note
from onehook.masks import masked
from onehook.places import config_folder
from onehook.scan.model import ScanError
from onehook.scan.transport import Address, post

_SECONDS = 10.0  # for one address, the second try included
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def settings() -> dict[str, Any]:
    """[desk] of the user's own rules file; what is wrong there is reported by whatever loads the rules."""
    from onehook.textedit.toml_tree import parse

    try:
        with open(os.path.join(config_folder(), "onehook.toml"), encoding="utf-8-sig") as file:
            desk = parse(file.read()).get("desk")
    except (OSError, ValueError):
        return {}
    return desk if isinstance(desk, dict) else {}


def told(asked: Asked, link: str) -> dict[str, Any]:
    """What leaves this machine: only the subject of the request, with credentials masked, and no other input."""
    content = asked.content
    by = [plain(one["name"]) for one in content["by"] if one["said"] == "ask"]
    return {
        "id": asked.id,
        "agent": asked.title,
        "project": plain(content["project"]),
        "tool": content["tool"] or content["native_tool"],
        "subject": masked(subject(asked)),
        "reason": masked(plain(content["reason"])),
        "by": by,
        "until": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(content["until"])),
        "link": f"{link.rstrip('/')}/#{asked.id}" if link else "",
    }


def sentence(message: dict[str, Any]) -> str:
    where = os.path.basename(str(message["project"]).rstrip("/")) or "a folder"
    answer = message["link"] or f"onehook approve {message['id']}"
    why = f"\n{message['reason']}" if message["reason"] else ""
    return f"{message['agent']} in {where} asks: {message['subject']}{why}\n{answer}"


def requests_for(chosen: dict[str, Any], message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each address, and what is posted to it."""
    out: list[tuple[str, dict[str, Any]]] = []
    for url in _several(chosen.get("ntfy")):
        base, _, topic = url.rstrip("/").rpartition("/")
        body = {"topic": topic, "title": f"{message['agent']} asks", "message": sentence(message), "priority": 4}
        out.append((f"{base}/", {**body, **({"click": message["link"]} if message["link"] else {})}))
    out += [(url, {"text": sentence(message)}) for url in _several(chosen.get("slack"))]
    return [*out, *((url, message) for url in _several(chosen.get("webhook")))]


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [url for url in value if isinstance(url, str)] if isinstance(value, list) else []


def send(url: str, body: dict[str, Any]) -> str:
    """Post it; returns what went wrong, or ""."""
    to = Address(url)
    if to.scheme != "https" and not (to.scheme == "http" and to.host in _LOOPBACK):
        return "the address must begin with https://, except on this machine"
    deadline, problem = time.monotonic() + _SECONDS, ""
    for wait in (0, 2):
        time.sleep(wait)
        try:
            status = post(url, dumps(body).encode("ascii"), {"Content-Type": "application/json", "User-Agent": "onehook"}, deadline)
        except ScanError as error:
            problem = str(error)
            continue
        if status < 300:
            return ""
        problem = f"HTTP {status}"
        if status < 500 and status != 429:
            return problem
    return problem


def on_the_desktop(message: dict[str, Any]) -> None:
    """A notification where there is a desktop and a program for it; else nothing."""
    title, text = f"{message['agent']} asks", sentence(message)
    program = shutil.which("notify-send")
    if program and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        words = [program, "--app-name=onehook", "--urgency=critical", "--", title, text.replace("&", "&amp;").replace("<", "&lt;")]
    elif sys.platform == "darwin" and shutil.which("osascript"):
        script = "on run {title, body}\ndisplay notification body with title title\nend run"
        words = ["osascript", "-e", script, title, text]
    else:
        return
    try:
        subprocess.run(words, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return


def main(id: str) -> None:
    try:
        asked = one(id)
    except (DeskError, PayloadError):
        return
    chosen = settings()
    message = told(asked, str(chosen.get("link") or ""))
    if chosen.get("notify", True) is True:
        on_the_desktop(message)
    for url, body in requests_for(chosen, message):
        if problem := send(url, body):
            note("Unsent", Address(url).host, f"a message about request {id}: {problem}", by_person=False)
