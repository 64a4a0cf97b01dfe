"""What eosctl's client sends to 4.4 and later, against a real broker: topic ids, the expected node, DeleteGroups 3."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from eosctl.client import connect, group_coordinator
from eosctl.client.routing import ClusterChanged
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from eosctl.wire.messages.list_groups import ListGroupsRequest
from tests.client import offsets_in_transactions as expected
from tests.client.rebootstrap import client_of_lost_address, endpoint
from tests.client.recording import RecordingConnector


def test_offsets_are_committed_by_topic_id(apache_4_4: ApacheNodes) -> None:
    asyncio.run(expected.commit(apache_4_4.bootstrap, 6))


def test_a_topic_without_an_id_is_committed_by_name(apache_4_4: ApacheNodes) -> None:
    asyncio.run(expected.commit_for_unknown_topic(apache_4_4.bootstrap))


def test_a_topic_that_was_made_again_has_another_id(apache_4_4: ApacheNodes) -> None:
    asyncio.run(expected.commit_for_topic_made_again(apache_4_4.bootstrap))


def test_former_members_can_abort(apache_4_4: ApacheNodes) -> None:
    codes = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.STALE_MEMBER_EPOCH)
    asyncio.run(expected.commit_for_former_members(apache_4_4.bootstrap, *codes))


def test_a_real_broker_is_not_taken_for_another(apache_4_4: ApacheNodes) -> None:
    async def run() -> None:
        with SandboxThread() as own:
            wire = RecordingConnector()
            async with client_of_lost_address(wire, own.bootstrap, apache_4_4.bootstrap) as client:
                with pytest.raises(ClusterChanged):
                    await client.request_any(ApiKey.LIST_GROUPS, ListGroupsRequest())
        assert not wire.of(ApiKey.LIST_GROUPS)
        named = [one.message.cluster_id for one in wire.of(ApiKey.API_VERSIONS)]
        # At the first connection nothing is expected, then the former broker, then nothing again.
        assert (named[0], named[-1]) == (None, None) and any(named)

    asyncio.run(run())


def test_the_expected_broker_takes_the_connection(apache_4_4: ApacheNodes) -> None:
    async def run() -> None:
        wire = RecordingConnector()
        config = ClientConfig(bootstrap=(endpoint(apache_4_4.bootstrap),))
        async with connect(config, connector=wire) as client:
            (broker,) = client.cluster.brokers
            wire.drop()
            answer = await client.request(broker.node_id, ApiKey.LIST_GROUPS, ListGroupsRequest())
            assert answer.error_code == 0
            last = wire.of(ApiKey.API_VERSIONS)[-1]
            assert last.version == 5
            assert (last.message.cluster_id, last.message.node_id) == (client.cluster.cluster_id, broker.node_id)

    asyncio.run(run())


def test_groups_are_deleted_in_version_3(apache_4_4: ApacheNodes) -> None:
    async def answer(bootstrap: str, group: str) -> list[DeletableGroupResult]:
        wire = RecordingConnector()
        async with connect(ClientConfig(bootstrap=(endpoint(bootstrap),)), connector=wire) as client:
            request = DeleteGroupsRequest([group])
            found = await client.request(group_coordinator(group), ApiKey.DELETE_GROUPS, request)
        assert wire.of(ApiKey.DELETE_GROUPS)[0].version == 3
        return list(found.results)

    group = f"missing-{uuid.uuid4().hex[:8]}"
    with SandboxThread() as sandbox:
        answers = [asyncio.run(answer(bootstrap, group)) for bootstrap in (apache_4_4.bootstrap, sandbox.bootstrap)]
    assert answers == [[DeletableGroupResult(group, ErrorCode.GROUP_ID_NOT_FOUND)]] * 2
