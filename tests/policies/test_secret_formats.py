from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.policies.secret_formats import FORMATS, find_secrets, redact_secrets
from onehook.policies.secret_places import find_all, mask_all

UPPER = "Q7RZK3WVT5YHB2NJ"
MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4bC6dE8fG0hJ2kL4mN6pQ8rS0tU2vW4xY6zA8bC1dE3fG5"
HEX = "9f86d081884c7d659a2feaa0c55ad015"

POSITIVE = [
    ("aws-access-key", "AK" + "IA" + UPPER),
    ("aws-access-key", "key=AS" + "IA" + UPPER + ";"),
    ("aws-access-key", '"AK' + "IA" + UPPER + '"'),
    ("gcp-api-key", "AI" + "za" + MIXED[:35]),
    ("gcp-api-key", "?key=AI" + "za" + MIXED[1:36]),
    ("gcp-oauth", "ya" + "29." + MIXED[:50]),
    ("gcp-oauth", "GOC" + "SPX-" + MIXED[:28]),
    ("azure-storage-key", "Account" + "Key=" + (MIXED * 2)[:86] + "=="),
    ("azure-client-secret", "aB3" + "8Q~" + MIXED[:34]),
    ("github-token", "gh" + "p_" + MIXED[:36]),
    ("github-token", "gh" + "o_" + MIXED[:36]),
    ("github-token", "gh" + "s_" + MIXED[:40]),
    ("github-token", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("github-token", "https://gh" + "p_" + MIXED[:36] + "@github.com/a/b"),
    ("gitlab-token", "gl" + "pat-" + MIXED[:20]),
    ("gitlab-token", "gl" + "dt-" + MIXED[:20]),
    ("slack-token", "xox" + "b-123456789012-" + MIXED[:24]),
    ("slack-token", "xox" + "p-1234567890-" + MIXED[:30]),
    ("slack-webhook", "https://hooks.slack" + ".com/services/T0ABCDEFG/B0ABCDEFG/" + MIXED[:24]),
    ("stripe-key", "sk" + "_live_" + MIXED[:24]),
    ("stripe-key", "rk" + "_live_" + MIXED[:24]),
    ("anthropic-key", "sk-" + "ant-api03-" + MIXED[:80]),
    ("openai-key", "sk" + "-" + MIXED[:48]),
    ("openai-key", "sk-" + "proj-" + MIXED[:60]),
    ("npm-token", "npm" + "_" + MIXED[:36]),
    ("npm-token", "//r/:_authToken=npm" + "_" + MIXED[:36]),
    ("pypi-token", "pypi" + "-AgEIcHlwaS5vcmc" + MIXED),
    ("huggingface-token", "hf" + "_" + MIXED[:34]),
    ("sendgrid-key", "SG" + "." + MIXED[:22] + "." + MIXED[:43]),
    (
        "private-key",
        "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + MIXED + "\n-----END RSA PRIV" + "ATE KEY-----",
    ),
    ("private-key", "-----BEGIN PRIV" + "ATE KEY-----\n" + MIXED),
    ("private-key", "-----BEGIN OPENSSH PRIV" + "ATE KEY-----\\n" + MIXED),
    ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "J" + MIXED[:30] + "." + MIXED[:43]),
    ("age-key", "AGE-SECRET" + "-KEY-1" + (UPPER * 4)[:58]),
    ("airtable-token", "pat" + MIXED[:14] + "." + HEX * 2),
    ("artifactory-token", "AKC" + "p" + MIXED[:69]),
    ("atlassian-token", "ATA" + "TT3" + MIXED),
    ("aws-bedrock-key", "AB" + "SK" + MIXED * 2),
    ("brevo-key", "xkey" + "sib-" + HEX * 2 + "-" + MIXED[:16]),
    ("databricks-token", "da" + "pi" + HEX),
    ("digitalocean-token", "dop" + "_v1_" + HEX * 2),
    ("discord-token", "MT" + MIXED[:22] + "." + MIXED[:6] + "." + MIXED[:38]),
    ("discord-webhook", "https://discord" + ".com/api/webhooks/112233445566778899/" + MIXED[:68]),
    ("docker-token", "dckr" + "_pat_" + MIXED[:27]),
    ("doppler-token", "dp" + ".st.dev." + MIXED[:43]),
    ("dynatrace-token", "dt0" + "c01." + (UPPER * 2)[:24] + "." + UPPER * 4),
    ("facebook-token", "EA" + "AC" + MIXED * 2),
    ("figma-token", "fig" + "d_" + MIXED[:40]),
    ("fly-token", "fm" + "2_" + MIXED * 2),
    ("gitlab-token", "gl" + "ptt-" + MIXED[:40]),
    ("gitlab-token", "GR" + "1348941" + MIXED[:20]),
    ("grafana-token", "gl" + "sa_" + MIXED[:32] + "_" + HEX[:8]),
    ("groq-key", "gs" + "k_" + MIXED[:52]),
    ("heroku-key", "HRKU" + "-AA" + MIXED[:58]),
    ("linear-key", "lin" + "_api_" + MIXED[:40]),
    ("mailchimp-key", HEX + "-us" + "12"),
    ("mailgun-key", "key" + "-" + HEX),
    ("new-relic-key", "NR" + "AK-" + (UPPER * 2)[:27]),
    ("notion-token", "nt" + "n_11223344556" + MIXED[:35]),
    ("openrouter-key", "sk-" + "or-v1-" + HEX * 2),
    ("openai-key", "sk" + "-" + HEX),
    ("perplexity-key", "ppl" + "x-" + MIXED[:48]),
    ("planetscale-token", "psc" + "ale_tkn_" + MIXED[:43]),
    ("postman-key", "PM" + "AK-" + HEX[:24] + "-" + (HEX * 2)[:34]),
    ("pulumi-token", "pu" + "l-" + (HEX * 2)[:40]),
    ("replicate-token", "r" + "8_" + MIXED[:37]),
    ("rubygems-token", "ruby" + "gems_" + (HEX * 2)[:48]),
    ("sentry-token", "sntr" + "yu_" + HEX * 2),
    ("service-token", "LT" + "AI" + MIXED[:20]),
    ("shopify-token", "shp" + "at_" + HEX),
    ("slack-token", "xap" + "p-1-A0ABCDEFG-123456789012-" + HEX * 2),
    ("square-token", "sq0" + "atp-" + MIXED[:22]),
    ("stripe-key", "wh" + "sec_" + MIXED[:32]),
    (
        "teams-webhook",
        "https://a.webhook" + ".office.com/webhookb2/" + "9f86d081-884c-7d65-9a2f-eaa0c55ad015@9f86d081-884c-7d65-9a2f-eaa0c55ad015"
        "/IncomingWebhook/" + HEX + "/9f86d081-884c-7d65-9a2f-eaa0c55ad015",
    ),
    ("telegram-token", "110201543:A" + "A" + MIXED[:33]),
    ("terraform-token", MIXED[:14] + ".atlas" + "v1." + MIXED[:67]),
    ("twilio-key", "S" + "K" + HEX),
    ("vault-token", "hv" + "s." + MIXED[:24]),
    ("xai-key", "xa" + "i-" + MIXED[:80]),
    ("1password-token", "A" + "3-AB3DE5-FG7HJ9-KL1MN-2PQ4R-6TU8V-0XY2Z"),
    ("authorization", "curl -H 'Author" + "ization: Bearer " + MIXED[:24] + "'"),
    ("password", "tool --api" + "-key " + HEX),
    ("password", "if (api" + '_key === "' + HEX + '") {'),
    ("password", "dbPas" + 's = "' + HEX + '"'),
    ("password", "API" + "_KEY_PROD=" + HEX),
    ("url-password", "https://ci:" + "correcthorsebattery" + "@registry.test/x"),
    ("url-password", "postgres://app:" + "s3cr3tPw9x" + "@db/x"),
    ("password", "pass" + "word=" + "hT7kQ2zL9w"),
    ("password", "pass" + 'word: "' + "hT7kQ2zL9w" + '"'),
    ("password", "api" + "_key = '" + HEX + "'"),
    ("password", '"api' + 'Key": "' + HEX + '"'),
    ("password", "DB_PASS" + "WORD=" + "Zx81kd02Qp"),
    ("password", "client" + "_secret: " + HEX),
    ("password", "aws_secret" + "_access_key = " + MIXED[:40]),
]

NEGATIVE = [
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AKIA" + "XXXXXXXXXXXXXXXX",
    "AKIAshort",
    "ghp_" + "x" * 36,
    "ghp_short",
    "glpat-" + "xxxxxxxxxxxxxxxxxxxx",
    "sk_live_" + "x" * 24,
    "sk_test_abc",
    "sk-",
    "sk-learn is a library",
    "task-management-and-other-long-words-in-a-slug-name",
    "npm_config_cache",
    "pypi-server",
    "xoxb-your-token",
    "hf_transfer",
    "password=",
    "password=abab1212",
    "password=${DB_PASSWORD}",
    "password=$PASSWORD",
    "password: <token>",
    'password: "changeme"',
    "password=xxxxxxxxxxxx",
    "password=********",
    'api_key = os.environ["API_KEY"]',
    "api_key: process.env.API_KEY",
    "const password = getPassword1()",
    "def check(password: str, other: int)",
    "password = input('Password: ')",
    "the password: should be long",
    "secret: projects/my/secrets/name",
    "postgres://user:password@localhost/db",
    "postgres://user:${PW}@host/db",
    "https://example.com/a:b@c",
    "git@github.com:a/b.git",
    "-----BEGIN PUBLIC KEY-----\n" + MIXED,
    "-----BEGIN CERTIFICATE-----",
    "eyJhbGciOi.not.jwt",
    "commit " + HEX + "9f86d081",
    "sha256:" + HEX * 2,
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "",
    "plain text",
    "token: your-token-here",
    "https://user:secret@db.test/x",
    "redis://:key_1234@cache",
    "private_key: ed25519.Ed25519PrivateKey",
    "private_key: PKCS7PrivateKeyTypes,",
    "pass_context = jinja2.pass_context",
    "docker login --password-stdin 1234.dkr.ecr.us-east-1.test",
    "a key block begins with -----BEGIN RSA PRIV" + "ATE KEY----- and ends",
    "compass = 'hT7kQ2zL9w'",
    "cache_key = 'hT7kQ2zL9w'",
    "[redacted: github-token]",
    "password=[redacted: password]",
    'password: "[redacted: password]"',
    "postgres://app:[redacted: url-password]@db/x",
    "API_KEY=sample-key-1234",
]


@pytest.mark.parametrize(("kind", "text"), POSITIVE)
def test_a_credential_is_found_and_named(kind: str, text: str) -> None:
    assert [item.kind for item in find_secrets(f"before {text} after")] == [kind]


@pytest.mark.parametrize("text", NEGATIVE)
def test_placeholders_code_and_hashes_are_not_credentials(text: str) -> None:
    assert find_secrets(f"before {text} after") == []


def test_sample_keys_are_found_when_examples_are_not_allowed() -> None:
    assert [f.kind for f in find_secrets("AKIA" + "IOSFODNN7EXAMPLE", allow_examples=False)] == ["aws-access-key"]


def test_every_format_has_a_sample() -> None:
    assert {kind for kind, _ in POSITIVE} == set(FORMATS)


def test_a_redacted_text_names_the_format_and_is_not_redacted_again() -> None:
    text = "İ a gh" + "p_" + MIXED[:36] + " b PASS" + "WORD=" + "hT7kQ2zL9w"
    redacted = redact_secrets(text)
    assert redacted == "İ a [redacted: github-token] b PASSWORD=[redacted: password]"
    assert redact_secrets(redacted) == redacted
    assert redact_secrets(text, skip=["password"]).endswith("hT7kQ2zL9w")


def test_masking_replaces_the_credential_and_nothing_else() -> None:
    assert mask_all("a gh" + "p_" + MIXED[:36] + " b pass" + "word=" + "hT7kQ2zL9w") == "a [github-token] b password=[password]"


@pytest.mark.parametrize(("kind", "text"), POSITIVE)
def test_masked_text_holds_no_credential(kind: str, text: str) -> None:
    assert find_secrets(mask_all(text)) == []


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_text_without_findings_is_not_changed(text: str) -> None:
    assert find_all(text) or mask_all(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "password=" * 20000,
        "a:" * 50000,
        "-----BEGIN PRIV" + "ATE KEY-----" * 5000,
        "xoxb-" + "a-" * 50000,
        "eyJ" * 50000,
        "://" + "a" * 100000,
        "--x-password aaaa1111 " * 5000,
        ("AKIA" + UPPER + " ") * 20000,
    ],
)
def test_hostile_text_is_searched_to_the_end(text: str) -> None:
    assert isinstance(find_secrets(text), list)
