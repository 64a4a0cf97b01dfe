"""Committed offsets of a group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from eosctl.client.client import Client
from eosctl.client.destinations import group_coordinator
from eosctl.client.outcome import any_error, error_for_code
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic

# Version 7 added require_stable (KIP-447); version 8 changed the layout for several groups.
_VERSION = 7


async def committed_offsets(
    client: Client, group_id: str, partitions: Iterable[TopicPartition], *, require_stable: bool = True
) -> dict[TopicPartition, int | None]:
    """Return the committed offset of each partition, None without one.

    Args:
        client: The client.
        group_id: The group.
        partitions: The partitions.
        require_stable: Wait while an open transaction holds a pending offset.

    Raises:
        EosctlError: The coordinator returned an error; BrokerError with UNSTABLE_OFFSET_COMMIT if a transaction stayed
            open for `config.timeout_ms`.
    """
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        by_topic[topic].append(partition)
    topics = [OffsetFetchRequestTopic(topic, indexes) for topic, indexes in by_topic.items()]
    response = await client.request(
        group_coordinator(group_id),
        ApiKey.OFFSET_FETCH,
        OffsetFetchRequest(group_id, topics, require_stable=require_stable),
        floor=_VERSION if require_stable else 1,
        cap=_VERSION,
        retry_on={ErrorCode.UNSTABLE_OFFSET_COMMIT, ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT},
        error_of=any_error,
    )
    code = any_error(response)
    if code:
        raise error_for_code(code, f"OffsetFetch of group {group_id}", api_key=ApiKey.OFFSET_FETCH)
    return {
        TopicPartition(topic.name, found.partition_index): _or_none(found.committed_offset)
        for topic in response.topics
        for found in topic.partitions
    }


def _or_none(offset: int) -> int | None:
    return offset if offset >= 0 else None
