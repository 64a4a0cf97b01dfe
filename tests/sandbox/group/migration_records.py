"""The records of a group in its log, in a form that can be compared between two clusters.

A hash is shown as whether it is that of the group's topics; records in the order of a Java map are sorted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.internal.offsets import decode_key, decode_value
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.records.batch import decode_records, iter_headers
from tests.sandbox.group.migration_members import TOPICS, Client, Stage

OFFSETS = "__consumer_offsets"


class _Topics:
    """The metadata that a hash is of."""

    def __init__(self, ids: dict[str, bytes]) -> None:
        self._ids = ids

    def topic_id(self, topic: str) -> bytes | None:
        return self._ids.get(topic)

    def partition_racks(self, topic: str) -> tuple[tuple[str, ...], ...]:
        return ((),) * TOPICS[topic]


def group_records(admin: Client, stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield (type, text) of the group's records in order."""
    offsets_id = bytes(
        admin.ask(ApiKey.METADATA, 12, MetadataRequest([MetadataRequestTopic(name=OFFSETS)], False)).topics[0].topic_id
    )
    partition = FetchPartition(0, -1, 0, -1, -1, 1 << 24)
    request = FetchRequest(-1, 0, 1, 1 << 24, 0, topics=[FetchTopic(OFFSETS, offsets_id, [partition])])
    answer = admin.ask(ApiKey.FETCH, 12, request)
    data = bytes(answer.responses[0].partitions[0].records)
    for position, header in iter_headers(data):
        for record in decode_records(data, header, position):
            key = decode_key(record.key)
            if getattr(key, "group_id", getattr(key, "group", None)) == stage.group_id:
                value = None if record.value is None else decode_value(key, record.value)
                yield type(key).__name__ + ("" if value is not None else " gone"), _text(stage, key, value)


def _text(stage: Stage, key: Any, value: Any) -> str:
    hashes = {
        metadata_hash(_Topics(stage.topic_ids), topics): f"hash of {topics}"  # type: ignore[arg-type]
        for topics in ([], ["four"], ["two"], ["four", "two"])
    }
    if hasattr(value, "metadata_hash"):
        value = replace(value, metadata_hash=hashes.get(value.metadata_hash, "another hash"))
    value = _in_order(stage, value)
    text = f"{key} {value}"
    for member_id, name in stage.names.items():
        text = text.replace(f"'{member_id}'", f"<{name}>")
    for topic, topic_id in stage.topic_ids.items():
        text = text.replace(repr(topic_id), topic)
    return re.sub(r"(timestamp\w*)=\d{6,}", r"\1=now", text)


def _in_order(stage: Stage, value: Any) -> Any:
    """Sort what the order of a map of Java decides: topics, members, and which of them leads a group that came back."""
    names = {topic_id: name for name, topic_id in stage.topic_ids.items()}
    for field in ("topic_partitions", "assigned_partitions", "partitions_pending_revocation"):
        if hasattr(value, field):
            topics = sorted(getattr(value, field), key=lambda topic: names[bytes(topic.topic_id)])
            value = replace(value, **{field: topics})
    if hasattr(value, "members"):
        members = sorted(value.members, key=lambda member: stage.names[member.member_id])
        leads = value.leader in {member.member_id for member in members}
        value = replace(value, members=members, leader="one of them" if leads else value.leader)
    return value


def sorted_runs(records: Iterable[tuple[str, str]]) -> list[str]:
    """Sort adjacent records of one type, whose order depends on a map."""
    return [text for _, run in groupby(records, key=lambda record: record[0]) for _, text in sorted(run)]
