"""Request frames that are encoded once and patched for each transaction.

The positions of patched fields and of a response's error are determined by comparing two encodings that differ in one
field.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple

import google_crc32c

from eosctl.client.transactions import ProducerIdentity
from eosctl.lab.workloads.load import Call
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import encode_request, encode_response
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record

_CLIENT_ID: Final = "eosctl-load"
_TIMEOUT_MS: Final = 30_000

# Positions in a record batch (magic 2).
_CRC_AT: Final = 17
_CRC_START: Final = 21
_PRODUCER_AT: Final = 43  # Producer id, producer epoch, base sequence.

_pack_crc: Final = Struct(">I").pack_into
_pack_identity: Final = Struct(">qh").pack_into
_pack_producer: Final = Struct(">qhi").pack_into
unpack_identity: Final = Struct(">qh").unpack_from


class AnswerLayout(NamedTuple):
    """Positions in a response, counted from its four size bytes; `identity_at` 0: none."""

    errors_at: tuple[int, ...]
    identity_at: int


class PrebuiltRequest:
    """A producer's request: its bytes and the positions to patch."""

    __slots__ = ("_batch_bytes", "_batches_at", "_identity_at", "frame")

    def __init__(self, frame: bytes, identity_at: int, batches_at: Sequence[int], batch_bytes: int) -> None:
        self.frame = bytearray(frame)
        self._identity_at = identity_at
        self._batches_at = tuple(batches_at)
        self._batch_bytes = batch_bytes

    def update(self, producer_id: int, producer_epoch: int, sequence: int) -> None:
        """Set identity and sequence, and update the checksums."""
        frame = self.frame
        if self._identity_at:
            _pack_identity(frame, self._identity_at, producer_id, producer_epoch)
        for at in self._batches_at:
            _pack_producer(frame, at + _PRODUCER_AT, producer_id, producer_epoch, sequence)
            checked = bytes(frame[at + _CRC_START : at + self._batch_bytes])
            _pack_crc(frame, at + _CRC_AT, google_crc32c.value(checked))


class RequestContent(NamedTuple):
    """The content of a producer's requests."""

    transactional_id: str
    group_id: str
    topic: str
    partitions: tuple[int, ...]
    value: bytes
    now_ms: int


def prebuild(call: Call, content: RequestContent) -> PrebuiltRequest:
    """Encode a request for patching."""
    here = ProducerIdentity(content.transactional_id, 0x1122_3344_5566_7788, 0x1155)
    there = here._replace(producer_id=~here.producer_id, producer_epoch=~here.producer_epoch)
    batch = _batch(content, here)
    frame = _encode(call, content, here, batch)
    if call.api_key is ApiKey.PRODUCE:
        first_at = frame.index(batch)
        distance = frame.index(batch, first_at + 1) - first_at if len(content.partitions) > 1 else 0
        return PrebuiltRequest(frame, 0, [first_at + n * distance for n in range(len(content.partitions))], len(batch))
    identity_at = _first_difference(frame, _encode(call, content, there, batch))
    return PrebuiltRequest(frame, identity_at, (), 0)


@cache
def answer_layout(call: Call, topic: str, partitions: tuple[int, ...]) -> AnswerLayout:
    """Return the positions of error codes, and of the identity that EndTxn 5 returns, in a successful response."""
    calm = encode_response(*call, 0, _answer(call.api_key, topic, partitions, 0))
    errors = encode_response(*call, 0, _answer(call.api_key, topic, partitions, 0x0101))
    differences = [at for at in range(len(calm)) if calm[at] != errors[at]]
    identity_at = 0
    if call.api_key is ApiKey.END_TXN:
        other = encode_response(*call, 0, EndTxnResponse(0, 0, 0, 0))
        identity_at = _first_difference(calm, other) if calm != other else 0
    return AnswerLayout(tuple(differences[::2]), identity_at)


def _batch(content: RequestContent, identity: ProducerIdentity) -> bytes:
    return encode_batch(
        [Record(0, content.now_ms, None, content.value)],
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        base_sequence=0,
        transactional=True,
    )


def _encode(call: Call, content: RequestContent, identity: ProducerIdentity, batch: bytes) -> bytes:
    return encode_request(*call, 0, _CLIENT_ID, _request(call.api_key, content, identity, batch))


def _request(api_key: ApiKey, content: RequestContent, identity: ProducerIdentity, batch: bytes) -> Any:
    topic, partitions = content.topic, content.partitions
    match api_key:
        case ApiKey.ADD_PARTITIONS_TO_TXN:
            return AddPartitionsToTxnRequest(*identity, [AddPartitionsToTxnTopic(topic, partitions)])
        case ApiKey.PRODUCE:
            data = [PartitionProduceData(index=index, records=batch) for index in partitions]
            topics = [TopicProduceData(name=topic, partition_data=data)]
            return ProduceRequest(content.transactional_id, -1, _TIMEOUT_MS, topics)
        case ApiKey.ADD_OFFSETS_TO_TXN:
            return AddOffsetsToTxnRequest(*identity, content.group_id)
        case ApiKey.TXN_OFFSET_COMMIT:
            offsets = [
                TxnOffsetCommitRequestTopic(topic, partitions=[TxnOffsetCommitRequestPartition(partitions[0], 1)])
            ]
            return TxnOffsetCommitRequest(
                identity.transactional_id,
                content.group_id,
                identity.producer_id,
                identity.producer_epoch,
                topics=offsets,
            )
        case ApiKey.END_TXN:
            return EndTxnRequest(*identity, True)
        case _:
            raise ValueError(f"{api_key.name} is not a request of a transaction")


def _answer(api_key: ApiKey, topic: str, partitions: tuple[int, ...], error: int) -> Any:
    match api_key:
        case ApiKey.ADD_PARTITIONS_TO_TXN:
            results = [AddPartitionsToTxnPartitionResult(index, error) for index in partitions]
            return AddPartitionsToTxnResponse(
                results_by_topic_v3_and_below=[AddPartitionsToTxnTopicResult(topic, results)]
            )
        case ApiKey.PRODUCE:
            answers = [PartitionProduceResponse(index=index, error_code=error) for index in partitions]
            return ProduceResponse([TopicProduceResponse(name=topic, partition_responses=answers)])
        case ApiKey.ADD_OFFSETS_TO_TXN:
            return AddOffsetsToTxnResponse(0, error)
        case ApiKey.TXN_OFFSET_COMMIT:
            committed = [TxnOffsetCommitResponsePartition(partitions[0], error)]
            return TxnOffsetCommitResponse(0, [TxnOffsetCommitResponseTopic(topic, partitions=committed)])
        case _:
            return EndTxnResponse(0, error)


def _first_difference(one: bytes, other: bytes) -> int:
    return next(at for at in range(len(one)) if one[at] != other[at])
