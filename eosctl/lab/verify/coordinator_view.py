"""Who leads the offsets of a group, as all brokers of the cluster see it."""

from __future__ import annotations

from typing import Any, Final

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.client import Client
from eosctl.client.metadata import parse_metadata
from eosctl.client.outcome import Failure
from eosctl.model.evidence import GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

#: A broker that takes longer than this may be one that has lost the group and does not know.
_PATIENCE_MS: Final = 1_000


async def coordinator_view(client: Client, group_id: str) -> tuple[int, int] | None:
    """Return the leader of a group's offsets and its epoch, None while brokers differ, are silent or know none.

    A broker to which no connection can be made is not counted: it answers for no group either.
    """
    request = MetadataRequest([MetadataRequestTopic(name=CONSUMER_OFFSETS_TOPIC)], allow_auto_topic_creation=False)
    answers = await client.fan_out(
        client.cluster.node_ids, ApiKey.METADATA, lambda _: request, floor=7, timeout_ms=_PATIENCE_MS
    )
    views: set[tuple[int, int] | None] = set()
    for answer in answers.values():
        if not isinstance(answer, Failure):
            views.add(_leader(answer, group_id))
        elif answer.reason is not GapReason.UNREACHABLE:
            return None
    return views.pop() if len(views) == 1 else None


def _leader(answer: Any, group_id: str) -> tuple[int, int] | None:
    topic = parse_metadata(answer).topic(CONSUMER_OFFSETS_TOPIC)
    if topic is None or not topic.partitions:
        return None
    found = topic.partitions[partition_for(group_id, len(topic.partitions))]
    return None if found.leader_id is None else (found.leader_id, found.leader_epoch)
