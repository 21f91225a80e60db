"""Well-known credential formats in text, and masking them."""

from __future__ import annotations

import re


class Secret:
    """Where a credential is, and which rule found it."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind, self.start, self.end = kind, start, end


EDGE = r"(?<![A-Za-z0-9_])"
FORMATS: dict[str, str] = {
    "private-key": r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]{16,20000}-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?=[\s\\]))",
    "aws-access-key": EDGE + r"(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])",
    "gcp-api-key": EDGE + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "gcp-oauth": EDGE + r"(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})",
    "azure-storage-key": r"(?<=AccountKey=)[A-Za-z0-9+/]{86}==",
    "azure-client-secret": EDGE + r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    "github-token": EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})",
    "gitlab-token": EDGE + r"gl(?:pat|dt|rt|cbt|ptt|oas)-[A-Za-z0-9_-]{20,}",
    "slack-token": EDGE + r"xox[abeoprs]-(?:[A-Za-z0-9]{1,14}-)+[A-Za-z0-9]{10,}",
    "slack-webhook": r"https://hooks\.slack\.com/services/T[A-Z0-9]{7,}/B[A-Z0-9]{7,}/[A-Za-z0-9]{20,}",
    "stripe-key": EDGE + r"(?:sk|rk)_live_[A-Za-z0-9]{20,}",
    "anthropic-key": EDGE + r"sk-ant-[a-z0-9]{2,8}-[A-Za-z0-9_-]{24,}",
    "openai-key": EDGE + r"sk-(?!ant-)(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{40,})",
    "npm-token": EDGE + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    "pypi-token": EDGE + r"pypi-AgE[A-Za-z0-9_-]{50,}",
    "huggingface-token": EDGE + r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])",
    "sendgrid-key": EDGE + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "jwt": EDGE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}",
    "url-password": r"(?<=://)[A-Za-z0-9_.-]{1,64}:(?P<value>[^\s:@/'\"<>${}]{6,128})(?=@[A-Za-z0-9])",
    "password": r"(?i:(?:password|passwd|pwd|secret|api[_-]?key|auth[_-]?token|access[_-]?token"
    r"|client[_-]?secret|secret[_-]?access[_-]?key|private[_-]?key))[\"']?\s{0,4}(?:=>|:=|[=:])\s{0,4}"
    r"(?P<value>\"[^\"\n]{8,200}\"|'[^'\n]{8,200}'"
    r"|[^\s\"',;()\[\]{}<>$&|`]{8,200}(?=[\s\"',;)\]}<>&|`]|\Z))",
}
PLACEHOLDER = re.compile(
    r"x{4,}|\*{3,}|\.{3,}|<[^>]*>|\$\{?\w|\{\{|%\(|example|changeme|change_me|placeholder|your[_-]|dummy|redacted"
    r"|sample|not[_-]?a[_-]?real|fake|todo|process\.env|os\.environ|getenv|env\[",
    re.IGNORECASE,
)
# What the lower-cased text must contain for a format to be searched at all: most texts contain none of these, and a plain substring
# search is fifty times as fast.
HINTS: dict[str, tuple[str, ...]] = {
    "private-key": ("private key",),
    "aws-access-key": ("akia", "asia"),
    "gcp-api-key": ("aiza",),
    "gcp-oauth": ("ya29.", "gocspx-"),
    "azure-storage-key": ("accountkey=",),
    "azure-client-secret": ("8q~", "7q~"),
    "github-token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "gitlab-token": ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "gloas-"),
    "slack-token": ("xox",),
    "slack-webhook": ("hooks.slack.com",),
    "stripe-key": ("k_live_",),
    "anthropic-key": ("sk-ant-",),
    "openai-key": ("sk-",),
    "npm-token": ("npm_",),
    "pypi-token": ("pypi-age",),
    "huggingface-token": ("hf_",),
    "sendgrid-key": ("sg.",),
    "jwt": ("eyj",),
    "url-password": ("://",),
    "password": ("passw", "pwd", "secret", "key", "token"),
}
GENERIC = frozenset({"password", "url-password"})
SEQUENCES = ("12345678", "abcdefgh", "qwerty")


def find_secrets(text: str, *, allow_examples: bool = True) -> list[Secret]:
    """Credentials in the text, in order, never overlapping.

    `allow_examples` ignores placeholders and the sample keys of vendors' documentation."""
    found: list[Secret] = []
    small = text.lower()
    for kind, pattern in COMPILED.items():
        if not any(hint in small for hint in HINTS[kind]):
            continue
        for match in pattern.finditer(text):
            start, end = match.span("value") if "value" in pattern.groupindex else match.span()
            if is_secret(kind, text[start:end], allow_examples):
                found.append(Secret(kind, start, end))
    return without_overlaps(found)


def is_secret(kind: str, value: str, allow_examples: bool) -> bool:
    if kind == "private-key":
        return not (allow_examples and "..." in value)
    bare = value.strip("\"'")
    if allow_examples and (PLACEHOLDER.search(bare) or max(bare.count(c) for c in set(bare)) > len(bare) / 2):
        return False
    return kind not in GENERIC or looks_random(bare)


def looks_random(value: str) -> bool:
    """Long enough, more than one kind of character, and no words or code."""
    kinds = sum((any(c.islower() for c in value), any(c.isupper() for c in value), any(c.isdigit() for c in value)))
    if any(sequence in value.lower() for sequence in SEQUENCES):
        return False
    if len(value) < 8 or kinds < 2 or " " in value or value.startswith(("http://", "https://", "/", "./", "$")):
        return False
    return any(c.isdigit() for c in value) and entropy(value) >= (2.5 if len(value) < 16 else 3.0)


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    from math import log2

    shares = [value.count(c) / len(value) for c in set(value)]
    return -sum(p * log2(p) for p in shares)


def without_overlaps(found: list[Secret]) -> list[Secret]:
    """A named format wins over the generic ones; otherwise the first wins."""
    kept: list[Secret] = []
    for item in sorted(found, key=lambda f: (f.kind in GENERIC, f.start, -f.end)):
        if all(item.end <= other.start or item.start >= other.end for other in kept):
            kept.append(item)
    return sorted(kept, key=lambda f: f.start)


COMPILED = {kind: re.compile(pattern) for kind, pattern in FORMATS.items()}
