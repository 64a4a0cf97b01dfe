"""Produce (key 0, versions 3 to 13; 3.9 serves 0 to 11): append one batch per partition.

KIP-98 (idempotence, transactions), KIP-467 (record errors from version 8), KIP-890 (verification; from version 12 the
partition is added to the transaction), KIP-951 (current leader from version 10), KIP-516 (topic ids in version 13).

- Exactly one v2 batch per partition. acks is 0, 1, or -1; with -1 the response waits for the high watermark.
- A transactional batch in a request without transactional id, or of several producers, fails the whole request.
- A partition without records (null) gets no response, as in Kafka.
- acks=0 gets no response; an error closes the connection so that the client refreshes its metadata.
- Versions 0 to 2 carry messages of magic 0 or 1, which become one batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition, topic_partition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.transaction.add_partitions_to_txn_manager import produce_error
from eosctl.sandbox.log.message_formats import batch_of
from eosctl.sandbox.log.validation import SLICE_RECORDS, RecordsCheck, Refusal, check_request_batch, is_large
from eosctl.sandbox.ports import AppendResult, RequestContext
from eosctl.sandbox.replication.appends import ClientBatch, append_client_batch, begin_check, refused_batch, renew_guard
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.purgatory import ReplicationWait
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import SLICE, Wait, in_turns
from eosctl.wire.error_codes import NO_ERROR, ErrorCode
from eosctl.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from eosctl.wire.records.header import TRANSACTIONAL

ACKS_ALL: Final = -1
FIRST_BATCH_VERSION: Final = 3
FIRST_ABORTABLE_VERSION: Final = 11
FIRST_IMPLICIT_ADD_VERSION: Final = 12
FIRST_TOPIC_ID_VERSION: Final = 13
FIRST_CURRENT_LEADER_VERSION: Final = 10

Slot = int  # Position of a partition in the request, counted over all topics.


def handle(broker: BrokerServices, context: RequestContext, request: ProduceRequest) -> None:
    """Append every batch, and respond when all are acknowledged as the request's acks require."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            if partition.records is None:
                return  # Kafka fails on it without a response.
    Produce(broker, context, request).start()


class Produce:
    """A produce request, from its batches to its response."""

    def __init__(self, broker: BrokerServices, context: RequestContext, request: ProduceRequest) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._partitions = [data for topic in request.topic_data for data in topic.partition_data]
        self._open_count = len(self._partitions)
        self._responses: list[PartitionProduceResponse | None] = [None] * self._open_count
        self._started = False
        self._records_left = SLICE_RECORDS
        self._queue: deque[tuple[Slot, TopicPartition, ClientBatch]] = deque()

    def start(self) -> None:
        """Append the batches that need no verification, and start the verification of the others."""
        in_turns(self._broker.runtime, self._steps())

    def _steps(self) -> Iterator[None]:
        """Handle a slice of the batches in each step."""
        if self._request.acks not in (0, 1, ACKS_ALL):
            self._refuse_all(ErrorCode.INVALID_REQUIRED_ACKS)
        else:
            parsed: list[tuple[Slot, TopicPartition | ErrorCode, ClientBatch | Refusal]] = []
            yield from self._parse(parsed)
            if self._open_count:  # Otherwise, the whole request was rejected.
                for slot, target, found in parsed:
                    if slot and slot % SLICE == 0:
                        yield
                    self._begin(slot, target, found)
        self._started = True
        self._maybe_reply()

    def _parse(self, parsed: list[tuple[Slot, TopicPartition | ErrorCode, ClientBatch | Refusal]]) -> Iterator[None]:
        """Check the form of every batch, and reject the whole request where one decides on all."""
        request, version = self._request, self._context.api_version
        producers = set()
        for topic in request.topic_data:
            name: str | None = topic.name
            if version >= FIRST_TOPIC_ID_VERSION:
                name = self._broker.metadata.topic_name(topic.topic_id)
            for data in topic.partition_data:
                records = data.records or b""
                batch = _checked(records, version)
                if isinstance(batch, ClientBatch) and batch.header.attributes & TRANSACTIONAL:
                    producers.add((batch.header.producer_id, batch.header.producer_epoch))
                target = ErrorCode.UNKNOWN_TOPIC_ID if name is None else topic_partition(name, data.index)
                parsed.append((len(parsed), target, batch))
                if len(parsed) % SLICE == 0:
                    yield
        if producers:
            if request.transactional_id is None:
                self._refuse_all(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            elif len(producers) > 1:
                text = "Transactional records contained more than one producer ID"
                self._refuse_all(ErrorCode.INVALID_PRODUCER_ID_MAPPING, text)

    def _begin(self, slot: Slot, target: TopicPartition | ErrorCode, given: ClientBatch | Refusal) -> None:
        broker = self._broker
        if isinstance(target, ErrorCode):
            self._refuse(slot, Refusal(target))
            return
        if broker.metadata.leadership(target) is None:
            self._refuse(slot, Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            return
        if isinstance(given, Refusal):
            self._refuse(slot, given)
            return
        if not broker.may_produce_to(target.topic, self._context):
            self._refuse(slot, Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION))
            return
        header = given.header
        if header.attributes & TRANSACTIONAL:
            partition = broker.replicas.leader(target)
            if isinstance(partition, Partition) and self._verify(slot, target, partition, given):
                return
        self._append(slot, target, given)

    def _verify(self, slot: Slot, target: TopicPartition, partition: Partition, given: ClientBatch) -> bool:
        """Start the verification that the batch needs; return False if it needs none."""
        header, version = given.header, self._context.api_version
        policy = self._broker.replicas.verification
        adds_partition = version >= FIRST_IMPLICIT_ADD_VERSION
        guard = policy.begin(
            partition, header.producer_id, header.producer_epoch, header.base_sequence, adds_partition=adds_partition
        )
        if guard is None:
            return False
        if isinstance(guard, ErrorCode):
            self._refuse(slot, Refusal(guard))
            return True
        given.guard = guard
        self._broker.verification.verify_partition(
            self._request.transactional_id or "",
            header.producer_id,
            header.producer_epoch,
            target,
            add_partition=adds_partition,
            done=partial(self._verified, slot, target, given),
            renew=partial(renew_guard, self._broker.replicas.leader, policy, target, given),
            knows_abortable=version >= FIRST_ABORTABLE_VERSION,
        )
        return True

    def _verified(self, slot: Slot, target: TopicPartition, given: ClientBatch, error: ErrorCode) -> None:
        if error:
            implicit = self._context.api_version >= FIRST_IMPLICIT_ADD_VERSION
            shown = produce_error(error, add_partition=implicit)
            self._refuse(slot, Refusal(shown, _verification_text(error, shown)))
        else:
            self._append(slot, target, given)
        self._maybe_reply()

    def _append(self, slot: Slot, target: TopicPartition, given: ClientBatch) -> None:
        """Append a batch in this turn, or in a later one if the request has had its records for one turn."""
        self._records_left -= given.header.records_count
        if self._records_left >= 0 and not is_large(given.header):
            self._append_now(slot, target, given)
        else:
            self._queue.append((slot, target, given))
            if len(self._queue) == 1:
                self._broker.runtime.call_later(0, partial(in_turns, self._broker.runtime, self._queued()))

    def _append_now(self, slot: Slot, target: TopicPartition, given: ClientBatch) -> None:
        broker = self._broker
        partition = broker.replicas.leader(target)
        if isinstance(partition, ErrorCode):
            self._refuse(slot, Refusal(partition))
            return
        acks = self._request.acks
        if acks == ACKS_ALL and partition.is_below_min_isr:
            partition.traffic.append_count += 1
            broker.replicas.refusals.refused(partition, ErrorCode.NOT_ENOUGH_REPLICAS, refused_batch(given.header))
            self._refuse(slot, Refusal(ErrorCode.NOT_ENOUGH_REPLICAS))
            return
        try:
            outcome = append_client_batch(partition, given, broker.runtime.now_ms(), broker.replicas.verification)
        except OSError:
            self._refuse(slot, Refusal(ErrorCode.KAFKA_STORAGE_ERROR))
            return
        if isinstance(outcome, Refusal):
            self._reject(slot, partition, given, outcome)
            return
        result, last_offset = outcome
        if acks != ACKS_ALL or last_offset < partition.log.high_watermark:
            self._appended(slot, result, NO_ERROR)
            return
        deadline = broker.runtime.loop.time() + self._request.timeout_ms / 1000
        wait = ReplicationWait(last_offset, deadline, partial(self._replicated, slot, result))
        broker.replicas.deadlines.add(wait)
        partition.wait_for(wait)

    def _queued(self) -> Iterator[Wait | None]:
        """Check and append the queued batches, a slice of records in each step."""
        left = SLICE_RECORDS
        while self._queue:
            slot, target, given = self._queue[0]  # The batch stays first until it is done.
            count = given.header.records_count
            if left < min(count, SLICE_RECORDS):
                yield None
                left = SLICE_RECORDS
            left -= count
            check = self._begin_check(target, given) if is_large(given.header) else None
            refusal = None if check is None else (yield from check)
            partition = self._broker.replicas.leader(target)
            if refusal is not None and isinstance(partition, Partition):
                self._reject(slot, partition, given, refusal)
            else:
                given.has_valid_records = check is not None and refusal is None
                self._append_now(slot, target, given)
            self._queue.popleft()
            self._maybe_reply()

    def _begin_check(self, target: TopicPartition, given: ClientBatch) -> RecordsCheck | None:
        """Begin the check of a large batch; None if it is rejected without one."""
        partition = self._broker.replicas.leader(target)
        if isinstance(partition, ErrorCode) or (self._request.acks == ACKS_ALL and partition.is_below_min_isr):
            return None
        runtime = self._broker.runtime
        return begin_check(partition, given, runtime.now_ms(), runtime.compute)

    def _reject(self, slot: Slot, partition: Partition, given: ClientBatch, refusal: Refusal) -> None:
        rejected = refused_batch(given.header, refusal.message)
        self._broker.replicas.refusals.refused(partition, refusal.error, rejected)
        self._refuse(slot, refusal, partition)

    def _replicated(self, slot: Slot, result: AppendResult, error: ErrorCode) -> None:
        self._appended(slot, result, error)
        self._maybe_reply()

    def _appended(self, slot: Slot, result: AppendResult, error: ErrorCode) -> None:
        self._finish(
            slot,
            PartitionProduceResponse(
                self._partitions[slot].index, error, result.base_offset, result.append_time_ms, result.log_start_offset
            ),
        )

    def _refuse(self, slot: Slot, refusal: Refusal, partition: Partition | None = None) -> None:
        start = partition.log.start_offset if partition is not None and refusal.knows_log else -1
        self._finish(
            slot,
            PartitionProduceResponse(
                self._partitions[slot].index,
                refusal.error,
                -1,
                -1,
                start,
                [BatchIndexAndErrorMessage(error.batch_index, error.message) for error in refusal.record_errors],
                refusal.message,
            ),
        )

    def _refuse_all(self, error: ErrorCode, text: str | None = None) -> None:
        for slot in range(len(self._partitions)):
            self._refuse(slot, Refusal(error, text))

    def _finish(self, slot: Slot, response: PartitionProduceResponse) -> None:
        if self._responses[slot] is None:
            self._responses[slot] = response
            self._open_count -= 1

    def _maybe_reply(self) -> None:
        if not self._started or self._open_count:
            return
        self._started = False  # Respond once.
        answered = [response for response in self._responses if response is not None]
        throttle_ms = self._throttle() if self._broker.metadata.quotas else 0
        if self._request.acks == 0:
            if any(response.error_code for response in answered):
                self._context.reply(None)
            else:
                self._broker.end_without_answer(self._context)
            return
        endpoints: dict[int, NodeEndpoint] = {}
        returns_leader = self._context.api_version >= FIRST_CURRENT_LEADER_VERSION
        topics: list[TopicProduceResponse] = []
        after = 0
        for topic in self._request.topic_data:
            before, after = after, after + len(topic.partition_data)
            if before == after:
                continue
            responses = answered[before:after]
            if returns_leader:
                responses = [self._with_leader(topic.name, response, endpoints) for response in responses]
            topics.append(TopicProduceResponse(topic.name, topic.topic_id, responses))
        self._context.reply(ProduceResponse(topics, throttle_ms, list(endpoints.values())))

    def _throttle(self) -> int:
        """Count the request for its client's quota, and return the throttle time."""
        broker, context = self._broker, self._context
        throttle_ms = broker.produce_quota.record(
            context.principal, context.client_id, context.size_bytes, broker.runtime.now_ms()
        )
        broker.throttle(context, throttle_ms)
        return throttle_ms

    def _with_leader(
        self, topic: str, response: PartitionProduceResponse, endpoints: dict[int, NodeEndpoint]
    ) -> PartitionProduceResponse:
        if not response.error_code or response.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
            return response
        broker = self._broker
        leadership = broker.metadata.leadership(topic_partition(topic, response.index))
        if leadership is None:
            return response
        endpoint = broker.endpoint_of(leadership.leader_id, self._context.listener)
        if endpoint is not None:
            node_id = leadership.leader_id
            endpoints[node_id] = NodeEndpoint(node_id, endpoint.host, endpoint.port, endpoint.rack)
        return replace(response, current_leader=LeaderIdAndEpoch(leadership.leader_id, leadership.leader_epoch))


def _checked(records: bytes, version: int) -> ClientBatch | Refusal:
    """Return a batch of a client, from messages of an old one."""
    given = batch_of(records) if version < FIRST_BATCH_VERSION else records
    if isinstance(given, Refusal):
        return given
    header = check_request_batch(given, version)
    return header if isinstance(header, Refusal) else ClientBatch(given, header)


def _verification_text(error: ErrorCode, shown: ErrorCode) -> str | None:
    if shown is ErrorCode.INVALID_TXN_STATE:
        return "Partition was not added to the transaction"
    if shown is ErrorCode.NOT_ENOUGH_REPLICAS:
        return f"Unable to verify the partition has been added to the transaction. Underlying error: {error.name}"
    return None


ATTRIBUTES_AT = 21  # Two bytes, in a record batch of magic 2.
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: ProduceRequest) -> None:
    """Require WRITE on the transactional id of transactional batches, and on each topic."""
    error = DENIED
    allowed, denied = access.part(
        request.topic_data,
        lambda topic: access.may_topic(
            AclOperation.WRITE, access.topic_name(topic.name, topic.topic_id, FIRST_TOPIC_ID_VERSION)
        ),
    )
    if _is_transactional(request) and not (
        request.transactional_id is not None and access.may_transact(AclOperation.WRITE, request.transactional_id)
    ):
        error, allowed, denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, [], list(request.topic_data)
    if not denied:
        access.proceed(request)
        return
    refused = [
        TopicProduceResponse(
            topic.name,
            topic.topic_id,
            [PartitionProduceResponse(data.index, error, -1) for data in topic.partition_data],
        )
        for topic in denied
    ]
    if not allowed:
        access.reply(ProduceResponse(refused) if request.acks else None)
        return
    access.proceed(
        replace(request, topic_data=allowed),
        lambda response: replace(response, responses=[*refused, *response.responses]),
    )


def _is_transactional(request: ProduceRequest) -> bool:
    return any(
        data.records is not None
        and len(data.records) > ATTRIBUTES_AT + 1
        and (data.records[ATTRIBUTES_AT] << 8 | data.records[ATTRIBUTES_AT + 1]) & TRANSACTIONAL
        for topic in request.topic_data
        for data in topic.partition_data
    )
