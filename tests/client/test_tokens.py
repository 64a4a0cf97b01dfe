"""Tokens of issuers and clouds: fetched once, renewed in time, and never sent on by a redirect."""

from __future__ import annotations

import base64
import json
import re
import socket
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from eosctl.client import tokens
from eosctl.client.cloud_tokens import fetch_cloud_token
from eosctl.client.tokens import fetch_token
from eosctl.errors import AuthenticationFailed, UsageError
from eosctl.model.client_config import CloudLogin, CloudProvider, TokenRequest
from eosctl.model.secret import Secret
from tests.client.issuer import Issuer, issuer

LATER = 4_000_000_000


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_kept", {})


def request_to(server: Issuer, secret: str = "word", scope: str = "") -> TokenRequest:
    return TokenRequest(server.url, "ops", Secret(secret), scope)


def test_a_token_is_fetched_once_while_it_is_valid() -> None:
    with issuer({"access_token": "t1", "expires_in": 3600}) as server:
        assert fetch_token(request_to(server, scope="kafka all")) == Secret("t1")
        assert fetch_token(request_to(server, scope="kafka all")) == Secret("t1")
        assert server.forms == ["grant_type=client_credentials&scope=kafka+all"]


@pytest.mark.parametrize("reply", [{"access_token": "t", "expires_in": 20}, {"access_token": "t"}])
def test_a_token_that_expires_soon_is_renewed(reply: dict[str, object]) -> None:
    with issuer(reply) as server:
        for _ in range(2):
            fetch_token(request_to(server))
        assert len(server.forms) == 2


@pytest.mark.parametrize("lifetime", [10**4_000, -(10**4_000), -1, True, 1e300, "3600", None, []])
def test_any_lifetime_gives_a_usable_token(lifetime: object) -> None:
    with issuer({"access_token": "t", "expires_in": lifetime}) as server:
        assert fetch_token(request_to(server)) == Secret("t")


def test_a_refusal_shows_the_reason_and_not_the_secret() -> None:
    with issuer({}) as server, pytest.raises(AuthenticationFailed) as caught:
        fetch_token(request_to(server, secret="hunter2"))
    assert "invalid_client: Bad secret" in caught.value.why
    assert "hunter2" not in f"{caught.value} {caught.value.why} {caught.value.next_step}"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [({"token": "x"}, "no access_token"), (b"<html>", "did not answer with JSON"), (b"[1]", "no access_token")],
)
def test_an_answer_without_a_token_is_refused(reply: Mapping[str, object] | bytes, reason: str) -> None:
    with issuer(reply) as server, pytest.raises(AuthenticationFailed, match="No token was issued") as caught:
        fetch_token(request_to(server))
    assert reason in caught.value.why


def test_a_redirect_does_not_get_the_secret() -> None:
    with issuer({"access_token": "stolen"}) as other, issuer({}) as server:
        server.status, server.location = 302, other.url
        with pytest.raises(AuthenticationFailed, match="No token was issued"):
            fetch_token(request_to(server))
        assert other.forms == []


def test_an_issuer_that_is_away_is_named_without_its_password() -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        fetch_token(TokenRequest("http://me:hunter2@127.0.0.1:1/token", "ops", Secret("word")))
    assert "hunter2" not in str(caught.value)
    assert "cannot be reached" in caught.value.why


def give(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, module)


def test_amazon_signs_by_role_profile_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "aws_msk_iam_sasl_signer")
    give(
        monkeypatch,
        "aws_msk_iam_sasl_signer.MSKAuthTokenProvider",
        generate_auth_token=lambda region: (f"own {region}", LATER * 1000),
        generate_auth_token_from_profile=lambda region, profile: (f"{profile} {region}", LATER * 1000),
        generate_auth_token_from_role_arn=lambda region, role: (f"{role} {region}", LATER * 1000),
    )
    logins = [("", "", "own eu"), ("prod", "", "prod eu"), ("prod", "arn", "arn eu")]
    for profile, role, text in logins:
        token = fetch_cloud_token(CloudLogin(CloudProvider.AWS, "b", "eu", profile, role))
        assert (token.text.reveal(), token.expires_at) == (text, LATER)


def test_azure_gives_a_token_for_the_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    credential = SimpleNamespace(get_token=lambda scope: SimpleNamespace(token=scope, expires_on=LATER))
    give(monkeypatch, "azure")
    give(monkeypatch, "azure.identity", DefaultAzureCredential=lambda: credential)
    token = fetch_cloud_token(CloudLogin(CloudProvider.AZURE, "ns.servicebus.windows.net"))
    assert token.text.reveal() == "https://ns.servicebus.windows.net/.default"


def test_google_wraps_its_access_token(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = SimpleNamespace(
        token="ya29.x", expiry=datetime.fromtimestamp(LATER, UTC).replace(tzinfo=None),
        service_account_email="ops@project", refresh=lambda request: None,
    )  # fmt: skip
    for name in ("google", "google.auth.transport"):
        give(monkeypatch, name)
    give(monkeypatch, "google.auth", default=lambda scopes: (credentials, "project"))
    give(monkeypatch, "google.auth.transport.requests", Request=object)
    token = fetch_cloud_token(CloudLogin(CloudProvider.GOOGLE, "b"))
    header, claims, wrapped = (
        base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.text.reveal().split(".")
    )
    assert json.loads(header)["alg"] == "GOOG_OAUTH2_TOKEN"
    assert {**json.loads(claims), "iat": 0} == {
        "exp": LATER, "iat": 0, "scope": "kafka", "iss": "Google", "sub": "ops@project",
    }  # fmt: skip
    assert (wrapped, token.expires_at) == (b"ya29.x", LATER)
    assert json.loads(claims)["iat"] <= time.time()


def test_a_cloud_without_credentials_says_how_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("no credentials; password=hunter2")

    give(monkeypatch, "azure")
    give(monkeypatch, "azure.identity", DefaultAzureCredential=refuse)
    with pytest.raises(AuthenticationFailed) as caught:
        fetch_cloud_token(CloudLogin(CloudProvider.AZURE, "ns"))
    assert "hunter2" not in caught.value.why
    assert "az login" in caught.value.next_step


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer.MSKAuthTokenProvider", None)
    with pytest.raises(UsageError, match="extra aws"):
        fetch_cloud_token(CloudLogin(CloudProvider.AWS, "b", "eu"))


def test_an_issuer_that_never_ends_its_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as never:
        source = TokenRequest(f"http://127.0.0.1:{never.getsockname()[1]}/token", "ops", Secret("word"), "")
        for _ in range(2):  # The first is still stuck, and the second does not wait for it.
            with pytest.raises(AuthenticationFailed) as caught:
                fetch_token(source)
            # Which of its two limits of one length ends it is chance.
            assert re.search("no answer within 0.05 seconds|timed out", caught.value.why)


@pytest.mark.parametrize("text", ["\ud800", "a b", "a\nb", "\u00e9", "\x01"])
def test_only_a_text_that_can_be_sent_is_a_token(text: str) -> None:
    with issuer({"access_token": text}) as server, pytest.raises(AuthenticationFailed, match="No token was issued"):
        fetch_token(request_to(server))
