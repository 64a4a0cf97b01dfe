"""WriteTxnMarkers (key 27, versions 1 to 2; 3.9 serves 0 to 1; KIP-98, KIP-664, KIP-1228).

- Sent by transaction coordinators, and by operators to end a hanging transaction.
- Every partition has its own result. Version 2 carries the transaction version; from 2 on, the epoch must be higher.
- A group coordinator that is not ready returns NOT_LEADER_OR_FOLLOWER (6).
- A marker without partitions is omitted from the response.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from eosctl.model.transaction import topic_partition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import AppendResult, RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_COORDINATOR_ERRORS: Final = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)

Results = dict[int, dict[str, dict[int, ErrorCode]]]
"""Codes by producer id, topic, and partition."""


def handle(broker: BrokerServices, context: RequestContext, request: WriteTxnMarkersRequest) -> None:
    """Append every marker to every partition, and respond when all are replicated or rejected."""
    appends = [
        (marker, topic.name, index)
        for marker in request.markers
        for topic in marker.topics
        for index in topic.partition_indexes
    ]
    if not appends:
        context.reply(WriteTxnMarkersResponse([]))
        return
    results: Results = {}
    missing = len(appends)

    def appended(producer_id: int, topic: str, index: int, result: AppendResult) -> None:
        nonlocal missing
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER if result.error in _COORDINATOR_ERRORS else result.error
        results.setdefault(producer_id, {}).setdefault(topic, {})[index] = error
        missing -= 1
        if not missing:
            context.reply(_response(results))

    for marker, topic, index in appends:
        broker.replicas.append_marker(
            topic_partition(topic, index),
            marker.producer_id,
            marker.producer_epoch,
            marker.transaction_result,
            marker.coordinator_epoch,
            marker.transaction_version,
            partial(appended, marker.producer_id, topic, index),
        )


def _response(results: Results) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic, [WritableTxnMarkerPartitionResult(index, code) for index, code in codes.items()]
                    )
                    for topic, codes in topics.items()
                ],
            )
            for producer_id, topics in results.items()
        ]
    )


def guard(access: Access, request: WriteTxnMarkersRequest) -> None:
    """Require ALTER on the cluster (administrators) or CLUSTER_ACTION (brokers)."""
    if access.may_cluster(AclOperation.ALTER) or access.may_cluster(AclOperation.CLUSTER_ACTION):
        access.proceed(request)
        return
    access.reply(
        WriteTxnMarkersResponse(
            [
                WritableTxnMarkerResult(
                    marker.producer_id,
                    [
                        WritableTxnMarkerTopicResult(
                            topic.name,
                            [
                                WritableTxnMarkerPartitionResult(index, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
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
