"""Credentials as they occur in commands and files: each is masked, and ordinary commands are left unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from onehook.codec import lowered
from onehook.policies.secret_places import PLACES, mask_all

S = "hT7kQ2zL9wXc4Vb8"  # a secret without a known format
MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4bC6dE8fG0hJ2kL4mN6pQ8rS0tU2vW4xY6zA8bC1dE3fG5"
WORD = "correcthorse"  # a password of letters only

# (form, the credential in it): a {} stands for the credential.
FORMS = [
    ("curl -H 'Authorization: Bearer {}' https://api.test", S),
    ("curl -H \"Authorization: token {}\" https://api.test", S),
    ("curl -H 'Authorization: Basic {}' https://api.test", "dXNlcjpodzdrUTJ6TDl3"),
    ("http GET api.test Authorization:{}", S),
    ("curl -H 'X-Api-Key: {}' https://api.test", S),
    ("curl -H 'PRIVATE-TOKEN: {}' https://gitlab.test/api", S),
    ("curl -H 'X-Vault-Token: {}' https://vault.test", S),
    ("curl -H 'Cookie: session={}' https://a.test", S),
    ("curl -u admin:{} https://a.test", WORD),
    ("curl --user 'admin:{}' https://a.test", S),
    ("curl -sS -uadmin:{} https://a.test", S),
    ("curl --proxy-user me:{} https://a.test", S),
    ("TOKEN={} ./deploy.sh", S),
    ("export TOKEN={}", WORD),
    ("DB_PASS={} ./run", WORD),
    ("DB_PASSWORD='{}' ./run", WORD),
    ("PGPASSWORD={} psql -h db", WORD),
    ("MYSQL_PWD={} mysql", S),
    ("export GITHUB_TOKEN=\"{}\"", S),
    ("AWS_SECRET_ACCESS_KEY={} aws s3 ls", MIXED[:40]),
    ("AWS_SESSION_TOKEN={} aws s3 ls", MIXED),
    ("docker run -e POSTGRES_PASSWORD={} postgres", WORD),
    ("API_KEY={}", S),
    ("API_KEY_PROD={}", S),
    ("SECRET_KEY_BASE={}", MIXED[:64]),
    ("echo 'password: {}' >> config.yml", S),
    ('{{"clientSecret": "{}"}}', S),
    ('{{"dbPassword": "{}"}}', S),
    ("tool --password {}", WORD),
    ("tool --password={}", WORD),
    ("tool --api-key {}", S),
    ("tool --token '{}'", S),
    ("tool --client-secret {}", S),
    ("sshpass -p {} ssh host", WORD),
    ("mysql -u root -p{} db", WORD),
    ("mysqldump --opt -p{} db", S),
    ("redis-cli -h db -a {} ping", S),
    ("docker login -u me -p {} registry.test", S),
    ("openssl enc -d -pass pass:{} -in a", S),
    ("zip -P {} a.zip a", S),
    ("ldapsearch -x -D cn=admin -w {} -b dc=a", S),
    ("machine a.test login me password {}", S),
    ("aws configure set aws_secret_access_key {}", MIXED[:40]),
    ("npm config set //registry.test/:_authToken={}", S),
    ("gh secret set TOKEN --body x; heroku config:set SECRET_KEY={}", S),
    ("psql postgres://app:{}@db/x", WORD),
    ("git clone https://me:{}@git.test/a.git", S),
    ("git clone https://{}@git.test/a.git", MIXED[:40]),
    ("redis://:{}@cache:6379", S),
    ("curl 'https://a.test/x?access_token={}&y=1'", S),
    ("curl 'https://a.test/x?api_key={}'", S),
    ("curl 'https://blob.test/a?sv=1&sig={}'", MIXED[:44]),
    ("echo {}", "AK" + "IA" + "Q7RZK3WVT5YHB2NJ"),
    ("echo {}", "AI" + "za" + MIXED[:35]),
    ("echo AccountKey={}", (MIXED * 2)[:86] + "=="),
    ("echo {}", "gh" + "p_" + MIXED[:36]),
    ("echo {}", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("echo {}", "gl" + "pat-" + MIXED[:20]),
    ("echo {}", "xox" + "b-123456789012-" + MIXED[:24]),
    ("echo {}", "sk" + "_live_" + MIXED[:24]),
    ("echo {}", "sk" + "_test_" + MIXED[:24]),
    ("echo {}", "npm" + "_" + MIXED[:36]),
    ("echo {}", "pypi" + "-AgEIcHlwaS5vcmc" + MIXED),
    ("echo {}", "sk-" + "proj-" + MIXED[:60]),
    ("echo {}", "sk-" + "ant-api03-" + MIXED[:80]),
    ("echo {}", "hf" + "_" + MIXED[:34]),
    ("echo {}", "dop" + "_v1_" + "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015"),
    ("echo {}", "hv" + "s." + MIXED[:24]),
    ("echo {}", "shp" + "at_" + "9f86d081884c7d659a2feaa0c55ad015"),
    ("echo {}", "lin" + "_api_" + MIXED[:40]),
    ("echo {}", "dckr" + "_pat_" + MIXED[:27]),
    ("curl https://api.telegram.org/bot{}/getMe", "123456789:" + "AA" + MIXED[:33]),
    ("curl https://discord.com/api/webhooks/123456/{}", MIXED[:60]),
    ("echo {}", "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "J" + MIXED[:30] + "." + MIXED[:43]),
    ("cat > k <<E\n{}\nE", "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + MIXED + "\n-----END RSA PRIV" + "ATE KEY-----"),
]  # fmt: skip
DATA = Path(__file__).parent.parent / "data" / "ordinary_commands.txt"
CREDENTIALS_AMONG_THEM = ("POSTGRES_PASSWORD=secret", "curl -u user:pass")
ORDINARY = [
    "docker run -u 1000:1000 --user 1000:1000 x", "chown 1000:1000 a", "export TOKEN=$OTHER", "curl -H \"Authorization: Bearer $TOKEN\" x",
    "tool --password-stdin < file", "tool --token \"$TOKEN\"", "mysql -u root -p db", "mkdir -p a/b", "MAX_TOKENS=4096 run",
    "git clone git@a.test:b/c",
    "grep -rn password src", "def login(user, password: str): ...", "connect(password=password)", "token = get_token()",
    "ssh -p 2222 me@host",
    "secret: <your secret>", "kubectl get secret my-token -o yaml", "PWD=/home/me ls", "--private-key ~/.ssh/id", "basic authentication",
]  # fmt: skip


@pytest.mark.parametrize(("form", "credential"), FORMS)
def test_it_is_masked_and_the_rest_stays(form, credential):
    text = form.format(credential)
    masked = mask_all(text)
    assert credential not in masked
    assert masked[:4] == text[:4] or text.startswith(credential[:4])


@pytest.mark.parametrize("text", ORDINARY)
def test_what_holds_no_credential_stays(text):
    assert mask_all(text) == text


def test_ordinary_commands_stay():
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert len(lines) > 1000
    wrong = [line for line in lines if mask_all(line) != line and not any(known in line for known in CREDENTIALS_AMONG_THEM)]
    assert wrong == []


@pytest.mark.parametrize("kind", PLACES)
def test_what_a_place_matches_has_one_of_its_hints(kind: str) -> None:
    hints, pattern = PLACES[kind]

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.from_regex(pattern))
    def check(text: str) -> None:
        assert any(hint in lowered(text) for hint in hints.split())

    check()
