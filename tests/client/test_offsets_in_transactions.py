"""eosctl's producer commits offsets by topic id where the coordinator can, as Kafka's own of 4.4 does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from eosctl.testing import SandboxThread
from eosctl.wire.error_codes import ErrorCode
from tests.client import offsets_in_transactions as expected

NEWEST = "4.4"


@pytest.fixture(scope="module", params=["4.4", "4.3"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Return the emulated release and the bootstrap address."""
    with SandboxThread(emulate=request.param) as running:
        yield request.param, running.bootstrap


def test_offsets_are_committed_by_topic_id(sandbox: tuple[str, str]) -> None:
    release, bootstrap = sandbox
    asyncio.run(expected.commit(bootstrap, 6 if release == NEWEST else 5))


def test_a_topic_without_an_id_is_committed_by_name(sandbox: tuple[str, str]) -> None:
    asyncio.run(expected.commit_for_unknown_topic(sandbox[1]))


def test_a_topic_that_was_made_again_has_another_id(sandbox: tuple[str, str]) -> None:
    release, bootstrap = sandbox
    if release == NEWEST:
        asyncio.run(expected.commit_for_topic_made_again(bootstrap))


def test_former_members_can_abort(sandbox: tuple[str, str]) -> None:
    release, bootstrap = sandbox
    own = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.STALE_MEMBER_EPOCH)
    older = (ErrorCode.ILLEGAL_GENERATION, ErrorCode.ILLEGAL_GENERATION)
    asyncio.run(expected.commit_for_former_members(bootstrap, *(own if release == NEWEST else older)))
