"""Client quotas and SCRAM users: what a broker of 4.3.1 was seen to take and to refuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from eosctl.wire.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from tests.sandbox.harness import Harness

USER = (("user", "a"),)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    running = Harness(tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize(
    ("entity", "key", "value", "code"),
    [
        ((), "producer_byte_rate", 1.0, 42),
        ((("user", "a"), ("ip", "192.0.2.1")), "producer_byte_rate", 1.0, 42),
        ((("blah", "a"),), "producer_byte_rate", 1.0, 42),
        ((("user", ""),), "producer_byte_rate", 1.0, 42),
        (USER, "foo", 1.0, 42),
        (USER, "producer_byte_rate", 0.0, 42),
        (USER, "producer_byte_rate", 1.5, 42),
        (USER, "producer_byte_rate", float("nan"), 42),
        (USER, "producer_byte_rate", float("inf"), 42),
        (USER, "producer_byte_rate", float("-inf"), 42),
        (USER, "producer_byte_rate", 1e308, 42),
        (USER, "producer_byte_rate", 2.0**62, 0),
        (USER, "producer_byte_rate", 2.0**63, 0),
        (USER, "request_percentage", float("nan"), 42),
        (USER, "request_percentage", float("inf"), 42),
        (USER, "request_percentage", float("-inf"), 42),
        (USER, "request_percentage", 1.5, 0),
        ((("ip", "x y"),), "connection_creation_rate", 1.0, 42),
        ((("ip", None),), "connection_creation_rate", 1.0, 0),
    ],
)
def test_quotas_are_checked(
    harness: Harness, entity: tuple[tuple[str, str | None], ...], key: str, value: float, code: int
) -> None:
    parts = [quotas.EntityData(*part) for part in entity]
    entry = quotas.RequestEntryData(parts, [quotas.OpData(key, value, False)])
    answer = harness.request(1, ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([entry]))
    assert [one.error_code for one in answer.entries] == [code]
    described = harness.request(1, ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, DescribeClientQuotasRequest())
    assert len(described.entries) == (0 if code else 1)


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([], 0),
        ([("", 0, "a")], 42),
        ([("user", 0, None)], 42),
        ([("user", 1, "x")], 42),
        ([("user", 7, None)], 42),
        ([("user", 2, None), ("user", 0, "a")], 42),
        ([("user", 2, None), ("ip", 2, None)], 42),
        ([("zz", 2, None)], 35),
    ],
)
def test_filters_of_quotas_are_checked(
    harness: Harness, components: list[tuple[str, int, str | None]], code: int
) -> None:
    request = DescribeClientQuotasRequest([ComponentData(*component) for component in components], False)
    assert harness.request(1, ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, request).error_code == code


@pytest.mark.parametrize(
    ("deletions", "upsertions", "codes"),
    [
        ([("", 1)], [], [93]),
        ([("x", 7)], [], [33]),
        ([("x", 1), ("x", 2)], [], [91]),
        ([], [("x", 1, 4095, b"s", b"p")], [93]),
        ([], [("x", 1, 16385, b"s", b"p")], [93]),
        ([], [("x", 1, 4096, b"", b"p")], [0]),
        ([], [("x", 1, 4096, b"s", b"")], [-1]),
        ([], [("x", 1, 4096, b"s", b"p"), ("x", 2, 4096, b"s", b"p")], [92]),
        ([], [("x", 1, 4096, b"s", b"p"), ("y", 2, 4096, b"s", b"p")], [0, 0]),
    ],
)
def test_users_are_checked(
    harness: Harness,
    deletions: list[tuple[str, int]],
    upsertions: list[tuple[str, int, int, bytes, bytes]],
    codes: list[int],
) -> None:
    request = AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion(*one) for one in deletions], [ScramCredentialUpsertion(*one) for one in upsertions]
    )
    answer = harness.request(1, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request)
    assert [result.error_code for result in answer.results] == codes
