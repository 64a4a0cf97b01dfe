"""A cluster of two brokers, four partitions, and three transactional ids that a test changes step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from eosctl.errors import ClusterUnreachable
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import describe_producers, describe_transactions, list_transactions
from tests.analysis.scenes import NOW_MS, partition, state_topic

BROKERS = (1, 2)
PARTITIONS = tuple(TopicPartition("orders", index) for index in range(4))
NAMES = ("a", "b", "c")
STEPS = ("begin", "add", "prepare", "complete", "lose", "late", "move", "leave", "return", "expire", "wait")


@dataclass
class Id:
    """What a coordinator keeps of a transactional id."""

    producer_id: int
    coordinator_id: int = 1
    state: str = "Empty"
    epoch: int = 0
    start_ms: int = -1
    partitions: set[TopicPartition] = field(default_factory=set)


class World:
    """Answers as brokers do; ``step`` changes it."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.timeout_ms = 60_000
        self.ids = {name: Id(number) for number, name in enumerate(NAMES, 1)}
        #: First offset and epoch by partition and producer id.
        self.open: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        self.offset = 100
        self.away: set[int] = set()
        self.before_coordinators: Callable[[], None] = lambda: None

    def leader(self, where: TopicPartition) -> int:
        return where.partition % 2 + 1

    def infos(self) -> list[PartitionInfo]:
        return [partition(where, leader_id=self.leader(where)) for where in PARTITIONS]

    def topics(self) -> tuple[Topic, ...]:
        return (state_topic((1, 2)), Topic("orders", "o", False, tuple(self.infos())))

    def step(self, kind: str, name: str, where: TopicPartition, broker_id: int) -> None:  # noqa: C901 - one case each
        """Change the cluster; a step that does not apply changes nothing."""
        one = self.ids.get(name)
        self.offset += 1
        match kind:
            case "wait":
                self.now_ms += 40_000
            case "leave":
                self.away.add(broker_id)
            case "return":
                self.away.discard(broker_id)
            case "begin" if one is None:
                self.ids[name] = Id(self.offset)
            case _ if one is None:
                return
            case "begin" if one.state in ("Empty", "CompleteCommit"):
                one.state, one.start_ms, one.epoch, one.partitions = "Ongoing", self.now_ms, one.epoch + 1, set()
                self._write(one, where)
            case "add" if one.state == "Ongoing":
                self._write(one, where)
            case "prepare" if one.state == "Ongoing":
                one.state = "PrepareCommit"
            case "complete" if one.state == "PrepareCommit":
                for written in one.partitions:
                    self.open.pop((written, one.producer_id), None)
                one.state, one.partitions = "CompleteCommit", set()
            case "lose" if one.state == "PrepareCommit":
                one.state, one.partitions = "CompleteCommit", set()
            case "late" if one.state != "Ongoing":
                self.open.setdefault((where, one.producer_id), (self.offset, one.epoch))
            case "move":
                one.coordinator_id = broker_id
            case "expire" if one.state in ("Empty", "CompleteCommit"):
                del self.ids[name]

    def _write(self, one: Id, where: TopicPartition) -> None:
        one.partitions.add(where)
        self.open.setdefault((where, one.producer_id), (self.offset, one.epoch))

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        if node_id in self.away:
            raise ClusterUnreachable(f"broker {node_id} is down")
        match api_key:
            case ApiKey.DESCRIBE_PRODUCERS:
                return self._producers(message)
            case ApiKey.LIST_TRANSACTIONS:
                self.before_coordinators()
                return self._listed(node_id, message)
            case ApiKey.DESCRIBE_TRANSACTIONS:
                return self._described(node_id, message)
        raise AssertionError(api_key.name)

    async def request_any(self, api_key: ApiKey, message: Any) -> Any:
        raise AssertionError(api_key.name)

    def _producers(self, message: Any) -> Any:
        state = describe_producers.ProducerState
        return describe_producers.DescribeProducersResponse(
            topics=[
                describe_producers.TopicResponse(
                    topic.name,
                    [
                        describe_producers.PartitionResponse(
                            index,
                            active_producers=[
                                state(producer_id, epoch, 1, NOW_MS, 0, first)
                                for (where, producer_id), (first, epoch) in sorted(self.open.items())
                                if where == (topic.name, index)
                            ],
                        )
                        for index in topic.partition_indexes
                    ],
                )
                for topic in message.topics
            ]
        )

    def _listed(self, node_id: int, message: Any) -> Any:
        return list_transactions.ListTransactionsResponse(
            transaction_states=[
                list_transactions.TransactionState(name, one.producer_id, one.state)
                for name, one in sorted(self.ids.items())
                if one.coordinator_id == node_id
                and (not message.state_filters or one.state in message.state_filters)
                and (not message.producer_id_filters or one.producer_id in message.producer_id_filters)
            ]
        )

    def _described(self, node_id: int, message: Any) -> Any:
        found = []
        for name in message.transactional_ids:
            one = self.ids.get(name)
            if one is None or one.coordinator_id != node_id:
                found.append(describe_transactions.TransactionState(105 if one is None else 16, name))
                continue
            topics = [describe_transactions.TopicData(w.topic, [w.partition]) for w in sorted(one.partitions)]
            found.append(
                describe_transactions.TransactionState(
                    0, name, one.state, self.timeout_ms, one.start_ms, one.producer_id, one.epoch, topics
                )
            )
        return describe_transactions.DescribeTransactionsResponse(transaction_states=found)


CHANGES = st.lists(
    st.tuples(st.sampled_from(STEPS), st.sampled_from(NAMES), st.sampled_from(PARTITIONS), st.sampled_from(BROKERS)),
    max_size=12,
)
