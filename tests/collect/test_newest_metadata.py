"""Where brokers have metadata of different age, the newest one is asked for brokers and topics."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.collect.newest_metadata import TOLERATED_LAG, collect_current_cluster
from eosctl.collect.reader import ReadOnly
from eosctl.errors import BrokerError
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.api_versions import ApiVersionsResponse
from eosctl.wire.messages.describe_cluster import DescribeClusterResponse
from eosctl.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from tests.collect.conftest import ScriptedCluster

ALL = [MetadataResponseBroker(node_id, "h", 9092) for node_id in (1, 2, 3)]


def answers(cluster: ScriptedCluster, *offsets: int) -> None:
    """Let broker 1, which is asked first, name all brokers, and the others only themselves."""
    for node_id, offset in enumerate(offsets, 1):
        listed = ALL if node_id == 1 else ALL[1:]
        cluster.on(node_id, ApiKey.METADATA, MetadataResponse(brokers=listed))
        cluster.on(node_id, ApiKey.DESCRIBE_CLUSTER, DescribeClusterResponse())
        cluster.on(node_id, ApiKey.API_VERSIONS, ApiVersionsResponse(finalized_features_epoch=offset))


@pytest.mark.parametrize(
    ("offsets", "listed"),
    [
        ((100, 100 + TOLERATED_LAG, 100), [1, 2, 3]),
        ((100, 101 + TOLERATED_LAG, 100), [2, 3]),
        ((900, 100, 100), [1, 2, 3]),
        ((-1, -1, -1), [1, 2, 3]),
    ],
)
def test_the_newest_broker_is_asked(cluster: ScriptedCluster, offsets: tuple[int, ...], listed: list[int]) -> None:
    answers(cluster, *offsets)
    found = asyncio.run(collect_current_cluster(ReadOnly(cluster)))
    assert [broker.node_id for broker in found.value.shape.brokers] == listed
    assert [broker.node_id for broker in found.value.facts.brokers] == listed
    assert found.gaps == ()


def test_without_its_answer_the_metadata_is_frozen(cluster: ScriptedCluster) -> None:
    answers(cluster, 100, 900, 900)
    cluster.on(2, ApiKey.METADATA, BrokerError("It stopped."))
    found = asyncio.run(collect_current_cluster(ReadOnly(cluster)))
    assert [broker.node_id for broker in found.value.shape.brokers] == [1, 2, 3]
    assert [(gap.kind, gap.reason) for gap in found.gaps] == [
        (EvidenceKind.TOPICS, GapReason.FROZEN),
        (EvidenceKind.CLUSTER, GapReason.FROZEN),
    ]
