from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from eosctl.client import connect
from eosctl.client.client import Client
from eosctl.client.memory import MemoryNetwork
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import (
    ProducerFenced,
    Severity,
    TransactionFailed,
    classify_producer_error,
)
from eosctl.client.transactions import (
    TV1,
    TV2,
    GroupIdentity,
    OffsetToCommit,
    ProducerIdentity,
    TransactionDialect,
    wait_until_ended,
)
from eosctl.errors import AuthorizationDenied, RequestTimedOut, UsageError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from eosctl.wire.messages.api_versions import FinalizedFeatureKey, SupportedFeatureKey
from eosctl.wire.messages.describe_transactions import DescribeTransactionsResponse
from eosctl.wire.messages.describe_transactions import TransactionState as DescribedTransaction
from eosctl.wire.messages.end_txn import EndTxnResponse
from eosctl.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from eosctl.wire.messages.init_producer_id import InitProducerIdResponse
from eosctl.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from eosctl.wire.records.batch import decode_header
from tests.client.scripted_broker import HangUp, ScriptedBroker, scripted_cluster

ORDERS = TopicPartition("orders", 0)
NOW_MS = 1_700_000_000_000


def produced(error_code: int = 0, base_offset: int = 7) -> ProduceResponse:
    answer = PartitionProduceResponse(index=0, error_code=error_code, base_offset=base_offset)
    return ProduceResponse([TopicProduceResponse(name="orders", partition_responses=[answer])])


def added(*codes: int) -> AddPartitionsToTxnResponse:
    results = [AddPartitionsToTxnPartitionResult(index, code) for index, code in enumerate(codes)]
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[AddPartitionsToTxnTopicResult("orders", results)])


def offsets_committed(error_code: int = 0) -> TxnOffsetCommitResponse:
    partitions = [TxnOffsetCommitResponsePartition(0, error_code)]
    return TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic("orders", partitions=partitions)])


class Coordinated(ScriptedBroker):
    """One broker that plays every part and agrees to everything."""

    def agree(self) -> None:
        self.on(
            ApiKey.FIND_COORDINATOR,
            lambda m: FindCoordinatorResponse(coordinators=[Coordinator(key, 1) for key in m.coordinator_keys]),
        )
        self.on(ApiKey.INIT_PRODUCER_ID, lambda _: InitProducerIdResponse(0, 0, 4000, 5))
        self.on(ApiKey.ADD_PARTITIONS_TO_TXN, lambda _: added(0))
        self.on(ApiKey.ADD_OFFSETS_TO_TXN, lambda _: AddOffsetsToTxnResponse())
        self.on(ApiKey.PRODUCE, lambda _: produced())
        self.on(ApiKey.TXN_OFFSET_COMMIT, lambda _: offsets_committed())
        self.on(ApiKey.END_TXN, lambda m: EndTxnResponse(0, 0, m.producer_id, m.producer_epoch + 1))

    def sent(self) -> list[tuple[str, int]]:
        """Return the transactional requests that arrived, with versions."""
        ours = set(ApiKey) - {ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.FIND_COORDINATOR}
        return [(key.name, version) for key, version, _ in self.requests if key in ours]

    def batches(self) -> list[tuple[int, int, int]]:
        """Return producer id, epoch and base sequence of every batch that arrived."""
        headers = [decode_header(m.topic_data[0].partition_data[0].records) for m in self.messages(ApiKey.PRODUCE)]
        return [(h.producer_id, h.producer_epoch, h.base_sequence) for h in headers]


def play(
    scenario: Callable[[Coordinated, Client, TransactionalProducer], Awaitable[None]],
    dialect: TransactionDialect | None = TV1,
    prepare: Callable[[Coordinated], None] = lambda broker: None,
) -> None:
    async def run() -> None:
        network = MemoryNetwork()
        (plain,) = scripted_cluster(network, 1, orders=[1])
        broker = Coordinated(plain.endpoint, handlers=dict(plain.handlers))
        broker.agree()
        prepare(broker)
        broker.listen(network)
        config = ClientConfig(bootstrap=(Endpoint("broker-1", 9092),))
        async with connect(config, connector=network, chance=random.Random(0)) as client:
            producer = TransactionalProducer(client, "app", now_ms=lambda: NOW_MS, dialect=dialect)
            await scenario(broker, client, producer)

    run_virtual(run())


def one(text: bytes = b"v") -> list[OutgoingRecord]:
    return [OutgoingRecord(None, text)]


def test_tv1_declares_partitions_and_offsets_and_keeps_its_epoch() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        broker.on(ApiKey.END_TXN, lambda _: EndTxnResponse())
        assert await producer.init_transactions() == ProducerIdentity("app", 4000, 5)
        assert await producer.send(ORDERS, one() * 3) == 7
        await producer.send(ORDERS, one())
        await producer.send_offsets(GroupIdentity("g"), {ORDERS: OffsetToCommit(9)})
        await producer.send_offsets(GroupIdentity("g"), {ORDERS: OffsetToCommit(10)})
        assert await producer.commit() == ProducerIdentity("app", 4000, 5)
        await producer.send(ORDERS, one())
        assert broker.sent() == [
            ("INIT_PRODUCER_ID", 5),
            ("ADD_PARTITIONS_TO_TXN", 3),
            ("PRODUCE", 11),
            ("PRODUCE", 11),
            ("ADD_OFFSETS_TO_TXN", 4),
            ("TXN_OFFSET_COMMIT", 4),
            ("TXN_OFFSET_COMMIT", 4),
            ("END_TXN", 4),
            ("ADD_PARTITIONS_TO_TXN", 3),
            ("PRODUCE", 11),
        ]
        assert broker.batches() == [(4000, 5, 0), (4000, 5, 3), (4000, 5, 4)]

    play(scenario)


def test_tv2_declares_nothing_and_takes_the_epoch_of_every_end() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        await producer.init_transactions()
        await producer.send(ORDERS, one() * 3)
        await producer.send_offsets(GroupIdentity("g"), {ORDERS: OffsetToCommit(9)})
        assert await producer.commit() == ProducerIdentity("app", 4000, 6)
        await producer.send(ORDERS, one())
        assert (await producer.abort()).producer_epoch == 7
        assert broker.sent() == [
            ("INIT_PRODUCER_ID", 5),
            ("PRODUCE", 12),
            ("TXN_OFFSET_COMMIT", 5),
            ("END_TXN", 5),
            ("PRODUCE", 12),
            ("END_TXN", 5),
        ]
        assert broker.batches() == [(4000, 5, 0), (4000, 6, 0)]

    play(scenario, TV2)


@pytest.mark.parametrize(("level", "epoch", "version"), [(2, 0, 12), (2, -1, 11), (1, 3, 11), (0, 3, 11)])
def test_the_protocol_level_follows_the_finalized_feature(level: int, epoch: int, version: int) -> None:
    def finalize(broker: Coordinated) -> None:
        answer = replace(
            broker.api_versions(),
            supported_features=[SupportedFeatureKey("transaction.version", 0, 2)],
            finalized_features=[FinalizedFeatureKey("transaction.version", level, level)],
            finalized_features_epoch=epoch,
        )
        broker.on(ApiKey.API_VERSIONS, lambda _: answer)

    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        await producer.init_transactions()
        await producer.send(ORDERS, one())
        assert dict(broker.sent())["PRODUCE"] == version

    play(scenario, None, finalize)


def test_a_transaction_in_which_nothing_was_sent_needs_no_end() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        with pytest.raises(UsageError, match="not initialized"):
            await producer.commit()
        await producer.init_transactions()
        await producer.commit()
        await producer.abort()
        assert "END_TXN" not in dict(broker.sent())
        await producer.end(committed=False)
        assert "END_TXN" in dict(broker.sent())

    play(scenario)


def test_what_may_be_tried_again_is_tried_again() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        busy = ErrorCode.CONCURRENT_TRANSACTIONS
        broker.answers_in_turn(
            ApiKey.INIT_PRODUCER_ID,
            InitProducerIdResponse(error_code=busy),
            HangUp(),
            InitProducerIdResponse(0, 0, 1, 0),
        )
        broker.answers_in_turn(ApiKey.ADD_PARTITIONS_TO_TXN, added(busy), added(0))
        broker.answers_in_turn(
            ApiKey.PRODUCE,
            produced(ErrorCode.NOT_ENOUGH_REPLICAS),
            HangUp(),
            produced(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            produced(),
        )
        broker.answers_in_turn(ApiKey.END_TXN, EndTxnResponse(0, busy), HangUp(), EndTxnResponse())
        await producer.init_transactions()
        await producer.send(ORDERS, one())
        await producer.commit()
        assert broker.batches() == [(1, 0, 0)] * 4  # the same batch each time, so the broker can recognize it

    play(scenario)


def test_a_fenced_producer_learns_so_and_keeps_its_sequence() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        await producer.init_transactions()
        await producer.send(ORDERS, one())
        broker.on(ApiKey.PRODUCE, lambda _: produced(ErrorCode.INVALID_PRODUCER_EPOCH, -1))
        broker.on(ApiKey.END_TXN, lambda _: EndTxnResponse(0, ErrorCode.PRODUCER_FENCED))
        for _ in range(2):
            with pytest.raises(ProducerFenced, match="Produce to orders-0: INVALID_PRODUCER_EPOCH") as refused:
                await producer.send(ORDERS, one())
            assert refused.value.severity is Severity.ABORTABLE
        with pytest.raises(ProducerFenced, match="EndTxn of app: PRODUCER_FENCED") as fenced:
            await producer.commit()
        assert fenced.value.severity is Severity.FATAL
        assert [sequence for _, _, sequence in broker.batches()] == [0, 1, 1]

    play(scenario)


def test_only_the_cause_is_named() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        await producer.init_transactions()
        broker.on(ApiKey.ADD_PARTITIONS_TO_TXN, lambda _: added(55, 29, 55))
        with pytest.raises(AuthorizationDenied, match="TOPIC_AUTHORIZATION_FAILED"):
            await producer.send(ORDERS, one())
        broker.on(ApiKey.ADD_PARTITIONS_TO_TXN, lambda _: added(55))
        with pytest.raises(TransactionFailed, match="OPERATION_NOT_ATTEMPTED"):
            await producer.send(ORDERS, one())
        assert "PRODUCE" not in dict(broker.sent())

    play(scenario)


def test_continuing_from_an_identity_names_it() -> None:
    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        await producer.init_transactions()
        await producer.init_transactions(keep_identity=True)
        asked = [(m.producer_id, m.producer_epoch) for m in broker.messages(ApiKey.INIT_PRODUCER_ID)]
        assert asked == [(-1, -1), (4000, 5)]

    play(scenario)


def test_waiting_for_markers_ends_in_time() -> None:
    def described(state: str) -> DescribeTransactionsResponse:
        return DescribeTransactionsResponse(0, [DescribedTransaction(0, "app", state)])

    async def scenario(broker: Coordinated, client: Client, producer: TransactionalProducer) -> None:
        broker.answers_in_turn(
            ApiKey.DESCRIBE_TRANSACTIONS,
            DescribeTransactionsResponse(0, [DescribedTransaction(ErrorCode.NOT_COORDINATOR, "app")]),
            described("PrepareCommit"),
            described("CompleteCommit"),
        )
        assert await wait_until_ended(client, "app") is TransactionState.COMPLETE_COMMIT
        broker.on(ApiKey.DESCRIBE_TRANSACTIONS, lambda _: described("PrepareAbort"))
        with pytest.raises(RequestTimedOut, match="PrepareAbort"):
            await wait_until_ended(client, "app")

    play(scenario)


@pytest.mark.parametrize(
    ("api_key", "error", "severity"),
    [
        (ApiKey.PRODUCE, ErrorCode.INVALID_PRODUCER_EPOCH, Severity.ABORTABLE),
        (ApiKey.END_TXN, ErrorCode.INVALID_PRODUCER_EPOCH, Severity.FATAL),
        (ApiKey.PRODUCE, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, Severity.ABORTABLE),
        (ApiKey.PRODUCE, ErrorCode.INVALID_TXN_STATE, Severity.ABORTABLE),
        (ApiKey.END_TXN, ErrorCode.INVALID_TXN_STATE, Severity.FATAL),
        (ApiKey.TXN_OFFSET_COMMIT, ErrorCode.ILLEGAL_GENERATION, Severity.ABORTABLE),
        (ApiKey.TXN_OFFSET_COMMIT, ErrorCode.OFFSET_METADATA_TOO_LARGE, Severity.FATAL),
        (ApiKey.ADD_PARTITIONS_TO_TXN, ErrorCode.TRANSACTION_ABORTABLE, Severity.ABORTABLE),
        (ApiKey.ADD_PARTITIONS_TO_TXN, ErrorCode.INVALID_PRODUCER_ID_MAPPING, Severity.FATAL),
        (ApiKey.END_TXN, ErrorCode.CONCURRENT_TRANSACTIONS, Severity.RETRIABLE),
        (ApiKey.INIT_PRODUCER_ID, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, Severity.ABORTABLE),
        (ApiKey.END_TXN, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Severity.FATAL),
    ],
)
def test_errors_mean_what_they_mean_to_kafkas_producer(api_key: ApiKey, error: ErrorCode, severity: Severity) -> None:
    assert classify_producer_error(api_key, error) is severity
