"""Delegation tokens, as recorded from 3.9.2 and 4.3.1: requests of several users, and logins with a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.security.delegation_tokens import hmac_of
from eosctl.sandbox.security.mechanisms import split_first
from eosctl.testing import SandboxThread
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord
from tests.sandbox.harness import START_MS, Harness
from tests.sandbox.security.conftest import password_of
from tests.sandbox.security.token_conversation import SETTINGS, USERS, Conversation

FIXTURES = Path(__file__).parents[2] / "fixtures" / "sandbox"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin;User:ANONYMOUS",
}
HMAC_OF_TOKEN = "c81f7782773474064021e74cb596f48a"  # printf %s TOKEN | openssl dgst -sha512 -hmac a-secret
NAMES = st.text("abcxyz", min_size=2, max_size=8)


def with_a_login(steps: list[Any]) -> list[Any]:
    """Leave out the steps of the listener without a login, which a sandbox has not next to the other one."""
    return [step for step in steps if step["user"] != "nobody"]


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
def test_tokens_are_served_as_recorded(release: str) -> None:
    recorded = json.loads((FIXTURES / f"delegation-tokens-{'3.9' if release == '3.9' else '4.3'}.json").read_text())
    with SandboxThread(
        sasl=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        users=USERS,
        fast=False,
        emulate=release,
        config={**SETTINGS, **AUTHORIZER},
    ) as sandbox:
        passwords = {user: password_of(sandbox, user) for user in USERS}
        steps = Conversation(sandbox.bootstrap, passwords).run()
    assert len(recorded) > 60
    assert steps == with_a_login(recorded)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    settings = {"delegation.token.secret.key": "key", "delegation.token.expiry.check.interval.ms": "1000"}
    running = Harness(tmp_path / "data", ClusterShape(settings=settings, logs_dir=tmp_path / "logs"))
    yield running
    running.close()


def test_expired_tokens_are_removed(harness: Harness, tmp_path: Path) -> None:
    controller = harness.core.nodes[1].controller
    assert controller is not None
    tokens = [
        DelegationTokenRecord("User:a", "User:a", (), START_MS, START_MS + life_ms, START_MS + life_ms, str(life_ms))
        for life_ms in (5_000, 60_000)
    ]
    controller.write(tokens)
    harness.advance(1)
    assert set(harness.core.broker(1).metadata.delegation_tokens) == {"5000", "60000"}
    harness.advance(10_000)
    assert set(harness.core.broker(1).metadata.delegation_tokens) == {"60000"}
    lines = [line for path in (tmp_path / "logs").rglob("*.log") for line in path.read_text("utf-8").splitlines()]
    expired = [line.partition("INFO ")[2] for line in lines if "token expired" in line]
    text = "[QuorumController id=1] Delegation token expired for token: 5000 for owner: User:a"
    assert expired == [f"{text} (org.apache.kafka.controller.DelegationTokenControlManager)"]


def test_the_hmac_is_that_of_its_standard() -> None:
    assert hmac_of(b"a-secret", "TOKEN").hex().startswith(HMAC_OF_TOKEN)


@given(st.dictionaries(NAMES, st.text("abc=1", max_size=5), max_size=4), st.permutations(range(6)))
def test_extensions_are_separated_in_any_order(extensions: dict[str, str], order: list[int]) -> None:
    attributes = ["n=user", "r=nonce"]
    given_parts = [*attributes, *(f"{name}={value}" for name, value in extensions.items())]
    bare = ",".join(given_parts[at] for at in order if at < len(given_parts))
    plain, signed, name, found = split_first(f"n,,{bare}")
    assert (signed, name, found) == (bare, "user", extensions)
    assert sorted(plain.removeprefix("n,,").split(",")) == attributes
