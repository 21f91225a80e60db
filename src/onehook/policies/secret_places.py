"""Where credentials are in commands, headers, URLs and settings, whatever they look like: for masking, where a false match is harmless."""

from __future__ import annotations

from onehook.codec import lowered
from onehook.policies.secret_formats import Secret, compiled, find_secrets, masked, without_overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match

# Names of what is secret: at the end of a longer name (DB_PASSWORD, clientSecret); the short ones only as a separate word (DB_PASS).
_NAMES = (
    r"(?:(?i:passwords?|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?key"
    r"|account[_-]?key|shared[_-]?key|master[_-]?key|encryption[_-]?key|signing[_-]?key|credentials?|connection[_-]?string|key[_-]?base)"
    r"|(?<![A-Za-z])(?i:pass|pwd|pw|creds?|auth|dsn|salt))"
)
_SAME_COMMAND = r"\b[^\n|;&]{0,200}?\s"
_VALUE = r"(?P<value>\"[^\"\n]{3,}\"|'[^'\n]{3,}'|[^\s\"'`,;&|)}\]]{3,})"
# Like FORMATS: what the lower-cased text must contain (one of these words), and where the credential is.
PLACES: dict[str, tuple[str, str]] = {
    "service-token": (
        "dop_v1_ doo_v1_ shpat_ shpss_ shpca_ shppa_ dapi lin_api_ ntn_ hvs. hvb. dckr_pat_ gsk_ pplx- r8_ xai- _test_ _live_ whsec_ sntry"
        " nrak-"
        " pscale_ sbp_ sbs_ atatt3 atctt3 hrku- fm1_ fm2_ rubygems_ pmak- glsa_ glc_ glft- glsoat- glagent- gr1348941 sq0 eaaa key- dp."
        " age-secret-key-1 1//0 agpa aroa sk ac figd_ tfp_ cio oy2 cfpat- xapp- xwfp- tvly- npm_ hf_ pypi- ghp_ gho_ ghu_ ghs_ ghr_ glpat-"
        " akia asia aiza ya29.",
        r"(?<![A-Za-z0-9_])(?P<value>(?:dop_v1_|doo_v1_|shp(?:at|ss|ca|pa)_"
        r"|dapi|lin_api_|ntn_|hv[sb]\.|dckr_pat_|gsk_|pplx-|r8_|xai-"
        r"|(?:sk|rk|pk)_(?:test|live)_|whsec_|sntry[su]_|NRAK-|pscale_(?:tkn|pw)_|sb[ps]_|ATATT3|ATCTT3|HRKU-|fm[12]_|rubygems_|PMAK-|glsa_|glc_"
        r"|glft-|glsoat-|glagent-|GR1348941|sq0[a-z]{3}-|EAAA|key-|dp\.(?:pt|st|sa)\.|AGE-SECRET-KEY-1|1//0|AGPA|AROA|SK|AC|figd_|tfp_|cio|oy2|CFPAT-"
        r"|xapp-|xwfp-|sk-|sk-or-v1-|tvly-|npm_|hf_|pypi-|gh[pousr]_|glpat-|AKIA|ASIA|AIza|ya29\.)(?=[A-Za-z_.-]*\d)[A-Za-z0-9_.-]{18,}=*)",
    ),
    "bot-token": (
        ": .",
        r"(?<!\d)(?P<value>\d{8,10}:[A-Za-z0-9_-]{35}|[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
    ),
    "webhook": (
        "webhook hooks.slack",
        r"https://(?:discord(?:app)?\.com/api/webhooks/\d+/|[a-z0-9-]+\.webhook\.office\.com/|hooks\.slack\.com/\w+/)(?P<value>[^\s\"']{16,})",
    ),
    "authorization": (
        "authorization",
        r"(?i:\b(?:proxy-)?authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[A-Za-z0-9-]+[ \t]+)?(?P<value>[^\s\"',]{4,})",
    ),
    "bearer": (
        "bearer basic",
        r"(?i:\b(?:bearer|basic)) +(?P<value>(?=[A-Za-z._~+/=-]*\d)[A-Za-z0-9._~+/=-]{8,})",
    ),
    "header": (
        "key token secret auth cookie",
        r"(?i:\b(?:x-[a-z0-9-]{0,40}(?:key|token|secret|auth)|[a-z]{1,20}-token|api-?key|ocp-apim-subscription-key|(?:set-)?cookie))"
        r"[\"']? ?: ?[\"']?(?P<value>[^\s\"'][^\"'\n]{3,})",
    ),
    "user-password": (
        "curl wget http xh",
        r"\b(?:curl|wget|https?|xh)" + _SAME_COMMAND
        + r"(?:-u ?|-a |--user[= ]|--auth[= ]|--proxy-user[= ]|-U )[\"']?[^\s:\"'/]+:(?P<value>[^\s\"']{2,})",
    ),
    "url-password": (
        "://",
        r"(?<=://)[^\s:@/'\"<>]{0,64}:(?P<value>[^\s@/'\"<>]{1,256})(?=@)",
    ),
    "url-token": (
        "://",
        r"(?<=://)(?P<value>(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,})(?=@)",
    ),
    "url-query": (
        "token= key= sig= signature= secret= password= auth=",
        r"[?&](?i:[a-z_-]{0,40}token|[a-z_-]{0,40}api_?key|key|sig|x-amz-signature|x-amz-security-token|signature"
        r"|secret|client_secret|password|auth)"
        r"=(?P<value>[^\s&\"'#]{6,})",
    ),
    "option": (
        "pass pw token secret key",
        r"(?<=\s)--?(?:[a-z0-9]{1,20}-){0,4}(?i:password|passwd|passphrase|pass|pw|token|secret"
        r"|api-?key|access-?key|secret-?key|auth-?token)"
        r"(?:=|\s+)" + _VALUE,
    ),
    "program-password": (
        "sshpass mysql mariadb redis-cli login zip sqlcmd 7z ldap mongo openssl smbclient",
        r"(?:\bsshpass\s+-p ?|\b(?:mysql|mysqldump|mysqladmin|mariadb)" + _SAME_COMMAND + r"-p(?=[^\s])"
        r"|\bredis-cli" + _SAME_COMMAND + r"-a |\b(?:docker|podman|helm registry|az|npm|oc|nerdctl) login" + _SAME_COMMAND + r"-p "
        r"|\b(?:zip|unzip|sqlcmd)" + _SAME_COMMAND + r"-P ?|\b7za?" + _SAME_COMMAND + r"-p(?=[^\s])|\bldap[a-z]+" + _SAME_COMMAND + r"-w "
        r"|\bmongo(?:sh|dump|restore|export|import)?" + _SAME_COMMAND + r"-p "
        r"|\bopenssl" + _SAME_COMMAND + r"-\w+ pass:|\bsmbclient" + _SAME_COMMAND + r"-U \S+%)" + _VALUE,
    ),
    "configured": (
        "config secret env variable vault",
        r"\b(?:configure|config|secret|env|variables?|vault)\b[^\n|;&]{0,80}?[\s_.:/-]" + _NAMES + r"\s+" + _VALUE,
    ),
    "netrc": (
        "login",
        r"\blogin\s+\S+\s+password\s+(?P<value>\S+)",
    ),
    "assigned": (
        "pass pwd pw secret token key cred auth dsn salt connection",
        _NAMES + r"(?:_[A-Z0-9]+){0,3}[\"']?(?:=|\s{0,4}(?:=>|:=|[=:])\s{0,4})" + _VALUE,
    ),
}  # fmt: skip
# Values that are not the credential: what names, computes or points to one.
_NO_VALUE = (
    r"(?i)[$<%@~/]|\.{1,2}/|\{\{|--?[A-Za-z]|\*+$|x+$|\.+$|(?:true|false|null|none|yes|no|on|off|str|string|required|optional|read|write"
    r"|auto)$|-?\d{1,7}$|[\w.]*\(|(?:os|process|env|secrets|config|settings|self|this|args|vars|var|data|file|env|github|inputs)[.:]|\\?\$"
)
_WORDS = r"[A-Za-z]+(?:[_-][A-Za-z]+)*$"
VALUES = (_NO_VALUE, _WORDS)


def find_all(text: str) -> list[Secret]:
    """Credentials by their format and by their place, in order, never overlapping; a format wins."""
    formats = find_secrets(text)
    small = lowered(text)
    places = [
        Secret(kind, *_trimmed(text, *match.span("value")))
        for kind, (hints, pattern) in PLACES.items()
        if any(hint in small for hint in hints.split())
        for match in compiled(pattern).finditer(text)
        if _is_value(kind, match)
    ]
    free = [place for place in places if all(place.end <= known.start or place.start >= known.end for known in formats)]
    return sorted([*formats, *without_overlaps(free)], key=lambda found: found.start)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    quoted = text[start] in "\"'" and text[end - 1] == text[start]
    return (start + 1, end - 1) if quoted else (start, end)


def _is_value(kind: str, match: Match[str]) -> bool:
    value = match["value"].strip("\"'")
    if not value or compiled(_NO_VALUE).match(value):
        return False
    if kind != "assigned" or match[0].endswith("=" + match["value"]):
        return not (kind == "assigned" and value.lower() in match[0].lower().partition("=")[0])
    return not compiled(_WORDS).match(value)  # `token: string` and `secret = name` are code and prose


def mask_all(text: str) -> str:
    """The text with every credential replaced by [kind]."""
    return masked(text, find_all(text), "[{}]")
