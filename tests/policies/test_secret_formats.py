from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.policies.secret_formats import find_secrets
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
    ("jwt", "ey" + "J" + MIXED[:20] + ".ey" + "J" + MIXED[:30] + "." + MIXED[:43]),
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
    ],
)
def test_hostile_text_is_searched_to_the_end(text: str) -> None:
    assert isinstance(find_secrets(text), list)
