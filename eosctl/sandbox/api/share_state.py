"""The requests to the share coordinator (keys 83 to 87; KIP-932): the state of share-partitions.

- Brokers send them: the leader of a share-partition reads and writes, the group coordinator initializes and deletes.
- A request without topics, without partitions, or without a group gets an empty response.
- Errors are per partition, with a message; NOT_COORDINATOR (16) if this broker does not lead the state's partition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.share.coordinator import ShareCoordinator, StateDone, StateResult
from eosctl.sandbox.coordinator.share.shard import StateWrite
from eosctl.sandbox.coordinator.share.state import SharePartitionKey, StateBatch
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Guard, needs_cluster
from eosctl.sandbox.turns import gather
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)

#: Errors before a shard is found, which Kafka's service reports with the name of the operation.
ROUTING: Final = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

Operate = Callable[[ShareCoordinator, SharePartitionKey, Any, StateDone], None]


def _initialize(shares: ShareCoordinator, key: SharePartitionKey, part: Any, done: StateDone) -> None:
    shares.initialize(key, part.state_epoch, part.start_offset, done)


def _read(shares: ShareCoordinator, key: SharePartitionKey, part: Any, done: StateDone) -> None:
    shares.read(key, part.leader_epoch, done)


def _write(shares: ShareCoordinator, key: SharePartitionKey, part: Any, done: StateDone) -> None:
    batches = tuple(
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in part.state_batches
    )
    change = StateWrite(part.state_epoch, part.leader_epoch, part.start_offset, part.delivery_complete_count, batches)
    shares.write(key, change, done)


def _delete(shares: ShareCoordinator, key: SharePartitionKey, _: Any, done: StateDone) -> None:
    shares.delete(key, done)


def _summarize(shares: ShareCoordinator, key: SharePartitionKey, _: Any, done: StateDone) -> None:
    shares.summarize(key, done)


def _plain(result_type: Any) -> Callable[[int, StateResult], Any]:
    def build(partition: int, result: StateResult) -> Any:
        return result_type(partition, error_code=result.error, error_message=result.message)

    return build


def _state_result(partition: int, result: StateResult) -> read_share_group_state.PartitionResult:
    if result.error is not ErrorCode.NONE:
        return read_share_group_state.PartitionResult(partition, result.error, result.message)
    state = result.state
    batches = [read_share_group_state.StateBatch(*batch) for batch in state.state_batches]
    return read_share_group_state.PartitionResult(
        partition=partition, state_epoch=state.state_epoch, start_offset=state.start_offset, state_batches=batches
    )


def _summary_result(partition: int, result: StateResult) -> read_share_group_state_summary.PartitionResult:
    if result.error is not ErrorCode.NONE:
        return read_share_group_state_summary.PartitionResult(partition, result.error, result.message)
    state = result.state
    return read_share_group_state_summary.PartitionResult(
        partition=partition,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
    )


def _handler(
    operation: str,
    operate: Operate,
    partition_result: Callable[[int, StateResult], Any],
    topic_result: Callable[[bytes, list[Any]], Any],
    response: Callable[[list[Any]], Any],
) -> Handler:
    """Return the handler of a request: every partition by itself, and all results by topic."""

    def one(
        broker: BrokerServices, group_id: str, wanted: tuple[bytes, Any], done: Callable[[StateResult], None]
    ) -> None:
        topic_id, part = wanted

        def answered(result: StateResult) -> None:
            if result.error in ROUTING and result.message is None:
                result = result._replace(message=f"Unable to {operation}: {kafka_text(result.error)}")
            done(result)

        operate(broker.shares, SharePartitionKey(group_id, topic_id, part.partition), part, answered)

    def handle(broker: BrokerServices, context: RequestContext, request: Any) -> None:
        wanted = [(topic.topic_id, part) for topic in request.topics for part in topic.partitions]
        if not request.group_id or any(not topic.partitions for topic in request.topics):
            wanted = []

        def reply(results: list[StateResult]) -> None:
            topics: dict[bytes, list[Any]] = {}
            for (topic_id, part), result in zip(wanted, results, strict=True):
                topics.setdefault(topic_id, []).append(partition_result(part.partition, result))
            context.reply(response([topic_result(topic_id, parts) for topic_id, parts in topics.items()]))

        gather(broker.runtime, wanted, partial(one, broker, request.group_id), reply)

    return handle


DENIED: Final = StateResult(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, kafka_text(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))


def _guard(
    partition_result: Callable[[int, StateResult], Any],
    topic_result: Callable[[bytes, list[Any]], Any],
    response: Callable[[list[Any]], Any],
) -> Guard:
    """Return a guard that requires CLUSTER_ACTION, as all requests between brokers do."""

    def refuse(request: Any) -> Any:
        return response(
            [
                topic_result(topic.topic_id, [partition_result(part.partition, DENIED) for part in topic.partitions])
                for topic in request.topics
            ]
        )

    return needs_cluster(AclOperation.CLUSTER_ACTION, refuse)


class _Kind(NamedTuple):
    """One of the five requests: its operation, and how its response is built."""

    operation: str
    operate: Operate
    partition_result: Callable[[int, StateResult], Any]
    topic_result: Callable[[bytes, list[Any]], Any]
    response: Callable[[list[Any]], Any]


_KINDS: Mapping[int, _Kind] = {
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _Kind(
        "initialize share group state",
        _initialize,
        _plain(initialize_share_group_state.PartitionResult),
        initialize_share_group_state.InitializeStateResult,
        initialize_share_group_state.InitializeShareGroupStateResponse,
    ),
    ApiKey.READ_SHARE_GROUP_STATE: _Kind(
        "read share group state",
        _read,
        _state_result,
        read_share_group_state.ReadStateResult,
        read_share_group_state.ReadShareGroupStateResponse,
    ),
    ApiKey.WRITE_SHARE_GROUP_STATE: _Kind(
        "write share group state",
        _write,
        _plain(write_share_group_state.PartitionResult),
        write_share_group_state.WriteStateResult,
        write_share_group_state.WriteShareGroupStateResponse,
    ),
    ApiKey.DELETE_SHARE_GROUP_STATE: _Kind(
        "delete share group state",
        _delete,
        _plain(delete_share_group_state.PartitionResult),
        delete_share_group_state.DeleteStateResult,
        delete_share_group_state.DeleteShareGroupStateResponse,
    ),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _Kind(
        "read share group state summary",
        _summarize,
        _summary_result,
        read_share_group_state_summary.ReadStateSummaryResult,
        read_share_group_state_summary.ReadShareGroupStateSummaryResponse,
    ),
}

HANDLERS: Mapping[int, Handler] = {api_key: _handler(*kind) for api_key, kind in _KINDS.items()}
GUARDS: Mapping[int, Guard] = {api_key: _guard(*kind[2:]) for api_key, kind in _KINDS.items()}
