"""Guards of transactions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.sandbox.security.access import Access, Guard
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_transactions,
    end_txn,
    init_producer_id,
    list_transactions,
    txn_offset_commit,
    write_txn_markers,
)

DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
FIRST_BATCHED_VERSION = 4


def guard_init(access: Access, request: init_producer_id.InitProducerIdRequest) -> None:
    """Ask for WRITE on the id; without one for IDEMPOTENT_WRITE, or WRITE on any topic (KIP-679)."""
    error = None
    if request.transactional_id is not None:
        if not access.may_transact(AclOperation.WRITE, request.transactional_id) or (
            request.enable2_pc and not access.may_transact(AclOperation.TWO_PHASE_COMMIT, request.transactional_id)
        ):
            error = DENIED
    elif not access.may_cluster(AclOperation.IDEMPOTENT_WRITE) and not _may_write_somewhere(access):
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    if error is None:
        access.proceed(request)
    else:
        access.reply(init_producer_id.InitProducerIdResponse(0, error, -1, -1))


def _may_write_somewhere(access: Access) -> bool:
    authorizer, context = access.broker.authorizer, access.context
    return authorizer is None or authorizer.allows_somewhere(
        context.principal, context.client_host, AclOperation.WRITE, ResourceType.TOPIC
    )


def guard_add_partitions(access: Access, request: add_partitions_to_txn.AddPartitionsToTxnRequest) -> None:
    """Ask a client for WRITE on its id and on each topic, a broker (version 4) for CLUSTER_ACTION."""
    if access.context.api_version >= FIRST_BATCHED_VERSION:
        if access.may_cluster(AclOperation.CLUSTER_ACTION):
            access.proceed(request)
        else:
            refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            access.reply(add_partitions_to_txn.AddPartitionsToTxnResponse(error_code=refused))
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
        add_partitions_to_txn.AddPartitionsToTxnTopicResult(
            topic.name,
            [
                add_partitions_to_txn.AddPartitionsToTxnPartitionResult(index, codes[topic.name])
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
    access.reply(add_partitions_to_txn.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))


def guard_add_offsets(access: Access, request: add_offsets_to_txn.AddOffsetsToTxnRequest) -> None:
    """Ask for WRITE on the id and READ on the group."""
    if not access.may_transact(AclOperation.WRITE, request.transactional_id):
        access.reply(add_offsets_to_txn.AddOffsetsToTxnResponse(0, DENIED))
    elif not access.may_group(AclOperation.READ, request.group_id):
        access.reply(add_offsets_to_txn.AddOffsetsToTxnResponse(0, ErrorCode.GROUP_AUTHORIZATION_FAILED))
    else:
        access.proceed(request)


def guard_end(access: Access, request: end_txn.EndTxnRequest) -> None:
    """Ask for WRITE on the id."""
    if access.may_transact(AclOperation.WRITE, request.transactional_id):
        access.proceed(request)
    else:
        access.reply(end_txn.EndTxnResponse(0, DENIED))


def guard_offset_commit(access: Access, request: txn_offset_commit.TxnOffsetCommitRequest) -> None:
    """Ask for WRITE on the id and READ on the group and on each topic."""
    allowed: list[txn_offset_commit.TxnOffsetCommitRequestTopic] = []
    denied = list(request.topics)
    if not access.may_transact(AclOperation.WRITE, request.transactional_id):
        error = DENIED
    elif not access.may_group(AclOperation.READ, request.group_id):
        error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    else:
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        txn_offset_commit.TxnOffsetCommitResponseTopic(
            topic.name,
            [
                txn_offset_commit.TxnOffsetCommitResponsePartition(one.partition_index, error)
                for one in topic.partitions
            ],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(txn_offset_commit.TxnOffsetCommitResponse(topics=refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


def guard_markers(access: Access, request: write_txn_markers.WriteTxnMarkersRequest) -> None:
    """Ask for ALTER on the cluster (administrators) or CLUSTER_ACTION (brokers)."""
    if access.may_cluster(AclOperation.ALTER) or access.may_cluster(AclOperation.CLUSTER_ACTION):
        access.proceed(request)
        return
    access.reply(
        write_txn_markers.WriteTxnMarkersResponse(
            [
                write_txn_markers.WritableTxnMarkerResult(
                    marker.producer_id,
                    [
                        write_txn_markers.WritableTxnMarkerTopicResult(
                            topic.name,
                            [
                                write_txn_markers.WritableTxnMarkerPartitionResult(
                                    index, ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                                )
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in request.markers
            ]
        )
    )


def guard_describe(access: Access, request: describe_transactions.DescribeTransactionsRequest) -> None:
    """Ask for DESCRIBE on each id; topics that may not be seen are left out."""
    allowed, denied = access.part(
        request.transactional_ids, lambda one: access.may_transact(AclOperation.DESCRIBE, one)
    )
    refused = [describe_transactions.TransactionState(DENIED, one) for one in denied]

    def shown(state: describe_transactions.TransactionState) -> describe_transactions.TransactionState:
        return replace(
            state, topics=[topic for topic in state.topics if access.may_topic(AclOperation.DESCRIBE, topic.topic)]
        )

    access.proceed(
        replace(request, transactional_ids=allowed),
        lambda response: replace(response, transaction_states=[*map(shown, response.transaction_states), *refused]),
    )


def guard_list(access: Access, request: list_transactions.ListTransactionsRequest) -> None:
    """Leave out the ids that may not be described."""
    access.proceed(
        request,
        lambda response: replace(
            response,
            transaction_states=[
                state
                for state in response.transaction_states
                if access.may_transact(AclOperation.DESCRIBE, state.transactional_id)
            ],
        ),
    )


GUARDS: Mapping[int, Guard] = {
    ApiKey.INIT_PRODUCER_ID: guard_init,
    ApiKey.ADD_PARTITIONS_TO_TXN: guard_add_partitions,
    ApiKey.ADD_OFFSETS_TO_TXN: guard_add_offsets,
    ApiKey.END_TXN: guard_end,
    ApiKey.TXN_OFFSET_COMMIT: guard_offset_commit,
    ApiKey.WRITE_TXN_MARKERS: guard_markers,
    ApiKey.DESCRIBE_TRANSACTIONS: guard_describe,
    ApiKey.LIST_TRANSACTIONS: guard_list,
}
