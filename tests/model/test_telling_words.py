"""Random words without a form of their own are masked behind words that announce a credential, and only there."""

from __future__ import annotations

import json
import random
import string
import uuid
from itertools import product

import pytest

from eosctl.model.redaction import redact_text

_SMALL = string.ascii_lowercase + string.digits
#: Alphabets and lengths of tokens that platforms make: Azure DevOps, IBM Cloud, NuGet, Datadog, MD5, SHA-1, Base64.
SHAPES = (
    (_SMALL, 52), (string.ascii_letters + string.digits, 44), (_SMALL, 46), ("0123456789abcdef", 40),
    ("0123456789abcdef", 32), (string.ascii_uppercase + string.digits, 26), (string.ascii_letters + "0123456789+/", 43),
)  # fmt: skip
SENTENCES = (
    "PAT {}", "the PAT {} has expired", "Azure DevOps PAT: {}", "personal access token {}",
    'invalid token "{}" for me', "token `{}` is invalid", "the token value {}", "token used: {}", "tokens {} and",
    "secret value {}",
    "credential {}", "credentials bob:{}", "access key {}", "account key {}", "license {}", "subscription key {}",
    "jwt {}", "OTP {}",
    "auth {}", "Authorization {}", "auth header {}", "pw {}", "signing key {}", "session key {}", "SAS {}", "cookie {}",
    "webhook {}", "service account key {}", "deploy key {}", "connection string {}", "/token/{}/x", "GET /v1?key={}",
    "GET /callback?state=x&code={}", "shared access signature {}", "unseal key {}", "api-key header {}",
    "header apikey value {}", "jeton {}", "令牌 {}", "password {}=",
)  # fmt: skip
CARRIERS = (
    "{}",
    "[2026-11-01 10:00:00,123] WARN {} (kafka.server.KafkaApis)",
    "{{\"message\": {}}}",
    "java.io.IOException: {}\n\tat a.B",
)  # fmt: skip
IDENTIFIED = (
    "Authorization failed for topic {}", "token of group {}", "key {}", "with key: {}", "partition key {}",
    "record key {}",
    "message key {}",
)  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_random_word_is_masked_where_announced(sentence: str) -> None:
    chance = random.Random(sentence)
    for (alphabet, length), carrier in product(SHAPES, CARRIERS):
        kept = 0
        for _ in range(50):
            token = "".join(chance.choices(alphabet, k=length))
            text = sentence.format(token)
            masked = redact_text(carrier.format(json.dumps(text) if ": {}" in carrier and "{{" in carrier else text))
            kept += token in masked or token[:12] in masked
        assert kept <= 3, (alphabet, carrier)


@pytest.mark.parametrize("sentence", IDENTIFIED)
def test_what_else_is_named_stays(sentence: str) -> None:
    chance = random.Random(sentence)
    for _ in range(50):
        text = sentence.format("".join(chance.choices("0123456789abcdef", k=32)))
        assert redact_text(text) == text


@pytest.mark.parametrize(
    "sentence", [one for one in SENTENCES if not any(sign in one for sign in (":", "=", "token {", "password"))]
)
def test_words_stay(sentence: str) -> None:
    """Anything behind a sign is masked, so these sentences have none."""
    for word in ("AddPartitionsToTxnManager", "TransactionalIdAuthorizationException", "payments-of-the-north"):
        text = sentence.format(word)
        assert redact_text(text) == text


UUIDS_MASKED = (
    "token {}", "token: {}", "invalid token {}", "Token '{}' has expired", "access token {}",
    "personal access token {}", "PAT {}",
    "bearer token {}", "Bearer {}", "api key {} rejected", "api_key {}", "The API key {} is not valid",
    "apikey is {}", "secret {}", "client secret {}", "credential {}", "password {}", "pw {}", "auth header {}",
    "GET /v1?key={}", "GET /v1?token={}&x=y", "GET /callback?code={}", "ACL token {} lacks permission",
    "X-Vault-Token: {}", "令牌 {}",
)  # fmt: skip
UUIDS_KEPT = (
    "token id {}", "Token ID: {}", "credential id {}", "secret for request {}", "webhook {}", "license {}",
    "session key {}", "partition key {}", "fencing token {}", "correlation token {}", "registration token {}",
    "cluster {}", "member consumer-1-{}", "transactional id {}", "topic token-{}", "tenant {} token has expired",
    "ssl.keystore.location=/var/{}/token", "traceId {} secret.name=x", "authorize {}",
)  # fmt: skip


@pytest.mark.parametrize("sentence", UUIDS_MASKED)
def test_an_announced_uuid_is_masked(sentence: str) -> None:
    for word in (str(uuid.UUID(int=random.Random(sentence).getrandbits(128))), str(uuid.UUID(int=0))):
        for form in (word, word.upper()):
            assert redact_text(sentence.format(form)) == sentence.format("[hidden]")


@pytest.mark.parametrize("sentence", UUIDS_KEPT)
def test_a_uuid_that_identifies_stays(sentence: str) -> None:
    text = sentence.format(uuid.UUID(int=random.Random(sentence).getrandbits(128)))
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "openssl s_client -connect h:9093 -CAfile ca.pem", "sqlplus /nolog @run.sql", "sqlplus scott@orcl @bin/x.sql",
        "curl -u : --negotiate http://h/", "date -u +%F", "connect worker/7 is up", "echo ready | tee log",
        "broker-1:9092:rack-a:zone is up", "12:30:45:a:b", "net use x: \\\\h\\s /persistent:yes", "a?u=1&q=2&p1=x",
        "unzip -p kafka.zip LICENSE", "smbclient -L h -U me",
    ],
)  # fmt: skip
def test_other_arguments_stay(text: str) -> None:
    assert redact_text(text) == text
