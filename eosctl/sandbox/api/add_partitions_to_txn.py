"""AddPartitionsToTxn (key 24, versions 0 to 5; KIP-98, KIP-890).

- Up to version 3: one transaction of a client; internal topics fail with TOPIC_AUTHORIZATION_FAILED (29).
- From version 4: a batch of transactions from a broker, each to add or only to verify.
- One unknown partition (3) fails its transaction; the other partitions get OPERATION_NOT_ATTEMPTED (55).
- Below version 2, PRODUCER_FENCED (90) becomes INVALID_PRODUCER_EPOCH (47).
- A batch without transactions gets no response; an entry without topics starts a transaction without partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from eosctl.model.transaction import TopicPartition, topic_partition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

INTERNAL_TOPICS: Final = frozenset({TRANSACTION_STATE_TOPIC, CONSUMER_OFFSETS_TOPIC})
BATCHED_VERSION: Final = 4
ADDED_BY_BROKER: Final = 2
"""The client's transaction version that a 4.x coordinator infers from a batched request."""

Respond = Callable[[list[AddPartitionsToTxnTopicResult]], None]


def handle(broker: BrokerServices, context: RequestContext, request: AddPartitionsToTxnRequest) -> None:
    """Add or verify the partitions of every transaction in the request."""
    if context.api_version < BATCHED_VERSION:
        single = AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        _handle_one(
            broker,
            context.api_version,
            single,
            lambda results: context.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)),
        )
        return
    results: list[AddPartitionsToTxnResult] = []

    def collect(transactional_id: str, topics: list[AddPartitionsToTxnTopicResult]) -> None:
        results.append(AddPartitionsToTxnResult(transactional_id, topics))
        if len(results) == len(request.transactions):
            context.reply(AddPartitionsToTxnResponse(results_by_transaction=results))

    for transaction in request.transactions:
        _handle_one(broker, context.api_version, transaction, partial(collect, transaction.transactional_id))


def _handle_one(broker: BrokerServices, version: int, request: AddPartitionsToTxnTransaction, respond: Respond) -> None:
    topics = request.topics
    partitions = [topic_partition(topic.name, index) for topic in topics for index in topic.partitions]
    refused = _refuse(broker, version, partitions)
    if refused:
        others = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
        respond(_results(topics, others | refused))
        return
    if request.verify_only:
        respond(
            _results(
                topics,
                broker.transactions.verify(
                    request.transactional_id, request.producer_id, request.producer_epoch, partitions
                ),
            )
        )
        return

    def reply(answer: Answer) -> None:
        error = answer.error
        if version < 2 and error is ErrorCode.PRODUCER_FENCED:
            error = ErrorCode.INVALID_PRODUCER_EPOCH
        respond(
            [
                AddPartitionsToTxnTopicResult(
                    topic.name, [AddPartitionsToTxnPartitionResult(index, error) for index in topic.partitions]
                )
                for topic in topics
            ]
        )

    broker.transactions.add_partitions(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        frozenset(partitions),
        ADDED_BY_BROKER if version >= BATCHED_VERSION and not broker.emulation.is_3_9 else 0,
        reply,
    )


def _refuse(
    broker: BrokerServices, version: int, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    refused = {}
    for partition in partitions:
        if version < BATCHED_VERSION and partition.topic in INTERNAL_TOPICS:
            refused[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif broker.metadata.leadership(partition) is None:
            refused[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return refused


def _results(
    topics: Sequence[AddPartitionsToTxnTopic], codes: Mapping[TopicPartition, ErrorCode]
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [
                AddPartitionsToTxnPartitionResult(index, codes[topic_partition(topic.name, index)])
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
FIRST_BATCHED_VERSION = 4


def guard(access: Access, request: AddPartitionsToTxnRequest) -> None:
    """Require WRITE on the id and on each topic from a client, CLUSTER_ACTION from a broker (version 4)."""
    if access.context.api_version >= FIRST_BATCHED_VERSION:
        if access.may_cluster(AclOperation.CLUSTER_ACTION):
            access.proceed(request)
        else:
            refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            access.reply(AddPartitionsToTxnResponse(error_code=refused))
        return
    topics = request.v3_and_below_topics
    codes = {topic.name: ErrorCode.OPERATION_NOT_ATTEMPTED for topic in topics}
    if not access.may_transact(AclOperation.WRITE, request.v3_and_below_transactional_id):
        codes = dict.fromkeys(codes, DENIED)
    else:
        for topic in topics:
            internal = topic.name in (TRANSACTION_STATE_TOPIC, CONSUMER_OFFSETS_TOPIC)
            if internal or not access.may_topic(AclOperation.WRITE, topic.name):
                codes[topic.name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif topic.name not in access.broker.metadata.topics:
                codes[topic.name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if ErrorCode.TOPIC_AUTHORIZATION_FAILED not in codes.values():
            access.proceed(request)
            return
    results = [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [AddPartitionsToTxnPartitionResult(index, codes[topic.name]) for index in topic.partitions],
        )
        for topic in topics
    ]
    access.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))
