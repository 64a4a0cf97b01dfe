"""Short forms of the requests about offsets."""

from __future__ import annotations

from typing import Any

from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from eosctl.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from eosctl.wire.messages.sync_group import SyncGroupRequest
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

SUBSCRIBED_TO_ORDERS = bytes.fromhex("000000000001") + b"\0\6orders" + bytes.fromhex("ffffffff")


def commit(broker: Any, offset: int, version: int = 7, partition: int = 0, **fields: Any) -> int:
    entry = OffsetCommitRequestPartition(
        partition, offset, committed_metadata=fields.pop("metadata", "m"), commit_timestamp=-1
    )
    topic = OffsetCommitRequestTopic(fields.pop("topic", "orders"), partitions=[entry])
    request = OffsetCommitRequest(
        fields.pop("group_id", "g"),
        fields.pop("generation_id", -1),
        fields.pop("member_id", ""),
        fields.pop("retention_time_ms", -1),
        topics=[topic],
    )
    return int(broker.ask(version, request).topics[0].partitions[0].error_code)


def txn_request(offset: int, producer_id: int = 9, partition: int = 0, **fields: Any) -> TxnOffsetCommitRequest:
    entry = TxnOffsetCommitRequestPartition(partition, offset, committed_metadata=fields.pop("metadata", ""))
    return TxnOffsetCommitRequest(
        "app",
        fields.pop("group_id", "g"),
        producer_id,
        fields.pop("producer_epoch", 0),
        fields.pop("generation_id", -1),
        fields.pop("member_id", ""),
        fields.pop("group_instance_id", None),
        [TxnOffsetCommitRequestTopic(fields.pop("topic", "orders"), partitions=[entry])],
    )


def txn_commit(broker: Any, offset: int, version: int = 3, **fields: Any) -> int:
    answer = broker.ask(version, txn_request(offset, **fields))
    return int(answer.topics[0].partitions[0].error_code)


def fetch(broker: Any, require_stable: bool = True, partition: int = 0) -> tuple[int, int]:
    topics = [OffsetFetchRequestTopic("orders", [partition])]
    answer = broker.ask(7, OffsetFetchRequest("g", topics, require_stable=require_stable))
    found = answer.topics[0].partitions[0]
    return found.committed_offset, found.error_code


def fetch_all(broker: Any, group_id: str = "g") -> dict[tuple[str, int], int]:
    answer = broker.ask(5, OffsetFetchRequest(group_id, None))
    return {
        (topic.name, entry.partition_index): entry.committed_offset
        for topic in answer.topics
        for entry in topic.partitions
    }


def join_and_sync(broker: Any, metadata: bytes = SUBSCRIBED_TO_ORDERS) -> str:
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    joined = broker.ask(3, JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols))
    broker.ask(3, SyncGroupRequest("g", joined.generation_id, joined.member_id))
    return str(joined.member_id)


def delete_offset(broker: Any, group_id: str, topic: str = "orders", partition: int = 0) -> tuple[int, int | None]:
    topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
    answer = broker.ask(0, OffsetDeleteRequest(group_id, topics))
    return answer.error_code, answer.topics[0].partitions[0].error_code if answer.topics else None
