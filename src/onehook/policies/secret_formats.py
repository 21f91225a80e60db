"""Well-known credential formats in text: find_secrets finds them, redact_secrets masks them."""

from __future__ import annotations

from onehook.cache import expression, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from re import Match, Pattern


class Secret:
    """Where a credential is in a string, and which format it has: text[secret.start : secret.end]."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind, self.start, self.end = kind, start, end

    def __repr__(self) -> str:
        return f"Secret({self.kind!r}, {self.start}, {self.end})"


_EDGE = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_-])"
# Kind: what the lower-cased text must contain for the format to be searched at all (one of these words), and the format. Most texts
# contain none of the words, and a plain substring search is fifty times as fast.
FORMATS: dict[str, tuple[str, str]] = {
    "private-key": (
        "-----begin",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{16,20000}-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?=[ \t]{0,4}[\r\n\\]))",
    ),
    "age-key": ("age-secret-key-", _EDGE + r"AGE-SECRET-KEY-1[0-9A-Z]{58}" + _END),
    "airtable-token": ("pat", _EDGE + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}" + _END),
    "anthropic-key": ("sk-ant-", _EDGE + r"sk-ant-[a-z0-9]{2,8}-[A-Za-z0-9_-]{24,}"),
    "artifactory-token": ("akcp cmvmd", _EDGE + r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})" + _END),
    "atlassian-token": ("atatt3 atctt3", _EDGE + r"AT[AC]TT3[A-Za-z0-9_=-]{60,}"),
    "aws-access-key": ("akia asia abia acca a3t", _EDGE + r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}(?![A-Za-z0-9])"),
    "aws-bedrock-key": (
        "absk bedrock-api-key-",
        _EDGE + r"(?:ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]*)",
    ),
    "azure-client-secret": ("q~", _EDGE + r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
    "azure-storage-key": ("accountkey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{86}=="),
    "brevo-key": ("xkeysib-", _EDGE + r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}" + _END),
    "databricks-token": ("dapi", _EDGE + r"dapi[a-f0-9]{32}(?:-\d)?" + _END),
    "digitalocean-token": ("_v1_", _EDGE + r"do[opr]_v1_[a-f0-9]{64}" + _END),
    "discord-token": (".", _EDGE + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}" + _END),
    "discord-webhook": ("/api/webhooks/", r"https://discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}"),
    "docker-token": ("dckr_", _EDGE + r"dckr_[po]at_[A-Za-z0-9_-]{27,}"),
    "doppler-token": ("dp.", _EDGE + r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}" + _END),
    "dynatrace-token": ("dt0c01.", _EDGE + r"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}" + _END),
    "facebook-token": ("eaam eaac", _EDGE + r"EAA[MC][A-Za-z0-9]{100,}"),
    "figma-token": ("figd_", _EDGE + r"figd_[A-Za-z0-9_-]{38,}"),
    "fly-token": ("fo1_ fm1 fm2_", _EDGE + r"(?:fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}={0,3})"),
    "gcp-api-key": ("aiza", _EDGE + r"AIza[A-Za-z0-9_-]{35}" + _END),
    "gcp-oauth": ("ya29. gocspx-", _EDGE + r"(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    "github-token": (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        _EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{82})",
    ),
    "gitlab-token": (
        "glpat- gldt- glft- glrt glcbt- glsoat- glffct- glimt- glptt- glagent- gloas- gr1348941",
        _EDGE + r"(?:gl(?:pat|dt|ft|rt|rtr|cbt|soat|ffct)-[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7})?"
        r"|glimt-[A-Za-z0-9_-]{25}|glptt-[A-Za-z0-9_-]{40}|glagent-[A-Za-z0-9_-]{50,1024}|gloas-[A-Za-z0-9_-]{64}|GR1348941[A-Za-z0-9_-]{20,50})"
        + _END,
    ),
    "grafana-token": (
        "glc_ glsa_ eyjrijoi",
        _EDGE + r"(?:glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,400}={0,3})",
    ),
    "groq-key": ("gsk_", _EDGE + r"gsk_[A-Za-z0-9]{40,}" + _END),
    "heroku-key": ("hrku-", _EDGE + r"HRKU-AA[A-Za-z0-9_-]{58}" + _END),
    "huggingface-token": ("hf_ api_org_", _EDGE + r"(?:hf|api_org)_[A-Za-z0-9]{34}(?![A-Za-z0-9])"),
    "jwt": ("eyj", _EDGE + r"eyJ[A-Za-z0-9_-]{10,}={0,2}\.eyJ[A-Za-z0-9_-]{10,}={0,2}(?:\.[A-Za-z0-9_-]*)?"),
    "linear-key": ("lin_", _EDGE + r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}" + _END),
    "mailchimp-key": ("-us", _EDGE + r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    "mailgun-key": ("key-", _EDGE + r"key-[0-9a-f]{32}" + _END),
    "new-relic-key": ("nrak- nrii- nrjs-", _EDGE + r"NR(?:AK-[A-Z0-9]{27}|II-[A-Za-z0-9-]{32})" + _END),
    "notion-token": ("ntn_ secret_", _EDGE + r"(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})" + _END),
    "npm-token": ("npm_", _EDGE + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    "openai-key": (
        "sk-",
        _EDGE + r"sk-(?!ant-|or-)(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{40,}|[0-9a-f]{32}" + _END + ")",
    ),
    "openrouter-key": ("sk-or-", _EDGE + r"sk-or-v1-[0-9a-f]{64}" + _END),
    "perplexity-key": ("pplx-", _EDGE + r"pplx-[A-Za-z0-9]{48}" + _END),
    "planetscale-token": ("pscale_", _EDGE + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    "postman-key": ("pmak-", _EDGE + r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}" + _END),
    "pulumi-token": ("pul-", _EDGE + r"pul-[a-f0-9]{40}" + _END),
    "pypi-token": ("pypi-age", _EDGE + r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{70,}"),
    "replicate-token": ("r8_", _EDGE + r"r8_[A-Za-z0-9]{37}" + _END),
    "rubygems-token": ("rubygems_", _EDGE + r"rubygems_[a-f0-9]{48}" + _END),
    "sendgrid-key": ("sg.", _EDGE + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    "sentry-token": ("sntry", _EDGE + r"sntry(?:s_eyJ[A-Za-z0-9+/=]{30,400}_[A-Za-z0-9+/]{43}|u_[a-f0-9]{64})"),
    "service-token": (
        "ltai pnu_ rdme_ tk-us- shippo_ duffel_ ezak sm_ fio-u- ico- sha256~ clojars_ _mmk p8e- api- pat. sat. v1.0- _gitlab_session="
        " s-s4t2 flwseck",
        _EDGE + r"(?:LTAI[A-Za-z0-9]{20}|pnu_[A-Za-z0-9]{36}|rdme_[a-z0-9]{70}|tk-us-[A-Za-z0-9_-]{48}|shippo_live_[a-fA-F0-9]{40}"
        r"|duffel_live_[A-Za-z0-9_=-]{43}|EZAK[A-Za-z0-9]{54}|sm_[aps]at_[A-Za-z0-9]{16}|fio-u-[A-Za-z0-9_=-]{64}|ico-[A-Za-z0-9]{32}"
        r"|sha256~[A-Za-z0-9_-]{43}|(?i:clojars_[a-z0-9]{60})|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|p8e-[A-Za-z0-9]{32}|API-[A-Z0-9]{26}"
        r"|[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}|v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"
        r"|_gitlab_session=[0-9a-z]{32}|s-s4t2(?:ud|af)-[a-f0-9]{64}|FLWSECK-[a-h0-9]{32}-X)" + _END,
    ),
    "shopify-token": ("shp", _EDGE + r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}" + _END),
    "slack-token": (
        "xox xapp-",
        _EDGE + r"(?:xox[abceoprs]-(?:[A-Za-z0-9]{1,24}-)+[A-Za-z0-9]{10,}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,}"
        r"|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{32,})",
    ),
    "slack-webhook": (
        "hooks.slack.com",
        r"https://hooks\.slack\.com/(?:services/T[A-Z0-9]{7,}/B[A-Z0-9]{7,}|workflows/T[A-Z0-9]{7,}/A[A-Z0-9]{7,}/\d+|triggers/T[A-Z0-9]{7,}/\d+)"
        r"/[A-Za-z0-9]{20,}",
    ),
    "square-token": ("sq0 eaaa", _EDGE + r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{60})" + _END),
    "stripe-key": ("k_live_ k_prod_ whsec_", _EDGE + r"(?:(?:sk|rk)_(?:live|prod)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9]{32,})"),
    "teams-webhook": (
        "webhook.office.com",
        r"https://[a-z0-9-]+\.webhook\.office\.com/webhookb2/[a-z0-9@-]{73}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36}",
    ),
    "telegram-token": (":aa", _EDGE + r"\d{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    "terraform-token": (".atlasv1.", _EDGE + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    "twilio-key": ("sk", _EDGE + r"SK[0-9a-fA-F]{32}" + _END),
    "vault-token": ("hvs. hvb.", _EDGE + r"hv(?:s\.[A-Za-z0-9_-]{24,120}|b\.[A-Za-z0-9_-]{100,300})" + _END),
    "xai-key": ("xai-", _EDGE + r"xai-[A-Za-z0-9]{80}" + _END),
    "1password-token": (
        "ops_eyj a3-",
        _EDGE + r"(?:ops_eyJ[A-Za-z0-9+/]{250,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})" + _END,
    ),
    "url-password": ("://", r"(?<=://)[^\s:@/'\"<>${}]{0,64}:(?P<value>[^\s:@/'\"<>${}\[\]\\`]{6,128})(?=@[A-Za-z0-9])"),
    "authorization": (
        "authorization",
        r"(?i:authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"'`]?(?i:bearer|basic|token) +(?P<value>[A-Za-z0-9._~+/=-]{12,2000})",
    ),
    "password": (
        "pass pwd pw secret key token",
        r"(?:[_-][A-Za-z0-9]{1,20}){0,3}[\"']?(?:(?:\[\d{0,4}\])?\s{0,4}(?:[=!]==?|=>|:=|[=:])\s{0,4}"
        r"(?P<value>@?\"[^\"\n]{8,200}\"|'[^'\n]{8,200}'|`[^`\n]{8,200}`|[^\s\"',;()\[\]{}<>$&|`]{8,200}(?=[\s\"',;)\]}<>&|`]|\Z))"
        r"|[ \t]+(?P<quoted>\"[^\"\n]{8,200}\"|'[^'\n]{8,200}')"
        r"|[ \t]+(?P<option>[A-Za-z0-9_.~+/=-]{8,200})(?=\s|\Z))",
    ),
}  # fmt: skip
# What precedes a value of the kind "password": the end of a name in lower case, and what makes the vague ones a name.
NAMES = "passw(?:or)?ds?|passphrases?|secret[es]?|pass|pwd|pw|key|token"
VAGUE = {
    "key": ("api", "access", "secret", "private", "encryption", "signing", "account", "master"),
    "token": ("api", "auth", "access", "refresh", "bearer"),
}
EXAMPLE = (
    r"(?i)x{4,}|\*{3,}|\.{3,}|<[^>]*>|\$\{?\w|\{\{|%\(|%s|example|changeme|change_me|placeholder|your[_-]|dummy|redacted|insert[_-]"
    r"|sample|not[_-]?a[_-]?real|fake|todo|process\.env|os\.environ|getenv|env\["
    r"|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l"  # the claims of the sample on jwt.io
)
SEQUENCES = ("12345678", "abcdefgh", "qwerty")
# A value with one of these is a name, a type or a hint.
WORDS = ("password", "secret", "token", "privatekey", "private_key", "publickey", "api_key", "apikey", "credential")
# Passwords in the URLs of documentation and tests.
EXAMPLE_PASSWORDS = (
    " password passwd passwort secret admin postgres mysql mariadb mongo redis rabbitmq guest test testing tester tests user username"
    " default foobar barfoo foobaz mypass mypassword mysecret pass123 password1 password123 secret123 passw0rd letmein hunter2 token"
    " mytoken api_key apikey credentials string 123456 1234567 supersecret s3cret s3cr3t "
)


def find_secrets(text: str, *, allow_examples: bool = True, skip: Container[str] = ()) -> list[Secret]:
    """Credentials in the text, in order, never overlapping.

    allow_examples  ignore placeholders and the sample keys of vendors' documentation
    skip            formats to ignore, by name
    """
    found: list[Secret] = []
    small = text.lower()
    for kind, (hints, pattern) in FORMATS.items():
        if kind in skip or not any(hint in small for hint in hints.split()):
            continue
        for match in _named(text, small) if kind == "password" else compiled(pattern).finditer(text):
            start, end = match.span(match.lastgroup or 0)
            if _is_secret(kind, text[start:end], allow_examples):
                found.append(Secret(kind, start, end))
    return without_overlaps(found)


def _named(text: str, small: str) -> Iterator[Match[str]]:
    """Values after a name like DB_PASSWORD, clientSecret or API_KEY_PROD, or after an option like --db-password."""
    value = compiled(FORMATS["password"][1])
    if len(small) != len(text):
        small = "".join(c.lower() if c < "\x80" else c for c in text)
    for name in compiled(NAMES).finditer(small):
        start, end = name.span()
        match = value.match(text, end) if _is_name(text, small, name[0], start) else None
        if match and (match.lastgroup != "option" or (text[end].isspace() and _is_option(text[max(0, start - 60) : start]))):
            yield match


def _is_option(before: str) -> bool:
    return before.replace("\n", " ").rpartition(" ")[2].startswith("--")


def _is_name(text: str, small: str, name: str, start: int) -> bool:
    if name in VAGUE:
        return small[max(0, start - 12) : start].rstrip("_-").endswith(VAGUE[name])
    before = text[start - 1 : start]
    return len(name) > 4 or not before.isalpha() or (before.islower() and text[start].isupper())


def redact_secrets(text: str, *, allow_examples: bool = True, skip: Container[str] = ()) -> str:
    """The text with every credential replaced by [redacted: kind]. The options are those of find_secrets."""
    return masked(text, find_secrets(text, allow_examples=allow_examples, skip=skip), "[redacted: {}]")


def masked(text: str, found: list[Secret], mask: str) -> str:
    out: list[str] = []
    at = 0
    for item in found:
        out += [text[at : item.start], mask.format(item.kind)]
        at = item.end
    return "".join([*out, text[at:]])


def compiled(pattern: str) -> Pattern[str]:
    """A pattern is compiled only when a string contains its hint: compiling all of them takes longer than an event."""
    known = _COMPILED.get(pattern)
    if known is None:
        known = expression(name_of(pattern))
        if known is None or known.pattern != pattern:
            import re

            known = re.compile(pattern)
        _COMPILED[pattern] = known
    return known


_COMPILED: dict[str, Pattern[str]] = {}


def _is_secret(kind: str, value: str, allow_examples: bool) -> bool:
    if kind == "private-key":
        return not (allow_examples and "..." in value)
    bare = value.removeprefix("@").strip("\"'`")
    if allow_examples and _is_example(kind, bare):
        return False
    if kind == "jwt":
        return _is_jwt(bare)
    return kind not in ("authorization", "password") or looks_random(bare)


def _is_example(kind: str, value: str) -> bool:
    if compiled(EXAMPLE).search(value) is not None or max(value.count(c) for c in set(value)) > len(value) / 2:
        return True
    small = value.lower()
    return kind in _GENERIC and (
        f" {small} " in EXAMPLE_PASSWORDS or (len(value) < 12 and "1234" in small) or any(part in small for part in (*SEQUENCES, *WORDS))
    )


def _is_jwt(value: str) -> bool:
    """Whether the first part is a header."""
    from base64 import urlsafe_b64decode
    from json import loads

    header = value.partition(".")[0].rstrip("=")
    try:
        return "alg" in loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, TypeError):
        return False


def looks_random(value: str) -> bool:
    """Whether a value is long enough, has more than one kind of character, and is not made of words or code."""
    kinds = sum((any(c.islower() for c in value), any(c.isupper() for c in value), any(c.isdigit() for c in value)))
    if len(value) < 8 or kinds < 2 or " " in value or value.startswith(("http://", "https://", "/", "./", "$")):
        return False
    if all(part.isidentifier() for part in value.split(".")) and "." in value:
        return False  # module.Name2
    return any(c.isdigit() for c in value) and entropy(value) >= (2.5 if len(value) < 16 else 3.0)


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    from math import log2

    shares = [value.count(c) / len(value) for c in set(value)]
    return -sum(p * log2(p) for p in shares)


_GENERIC = ("authorization", "password", "url-password")


def without_overlaps(found: list[Secret]) -> list[Secret]:
    """A named format wins over the generic ones; otherwise the first wins."""
    from bisect import bisect_right

    kept: list[Secret] = []
    starts: list[int] = []
    for item in sorted(found, key=lambda f: (f.kind in _GENERIC, f.start, -f.end)):
        at = bisect_right(starts, item.start)
        if (at == 0 or kept[at - 1].end <= item.start) and (at == len(kept) or item.end <= kept[at].start):
            kept.insert(at, item)
            starts.insert(at, item.start)
    return kept
