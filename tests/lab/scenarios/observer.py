"""An independent view of a partition after a scenario, queried from the cluster."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

from eosctl.client import Client, connect, transaction_coordinator
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.outcome import any_error
from eosctl.lab.scenarios.steps.play import Step
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from tests.lab.scenarios.stage.stage import Stage

NOW_MS = 1_790_000_000_000


def stage_at(bootstrap: str, steps: list[Step], seed: int = 1) -> Stage:
    clock = itertools.count(NOW_MS)
    config = ClientConfig(parse_endpoints(bootstrap, "test"))
    return Stage(config, lambda: next(clock), random.Random(seed), report=steps.append)


@dataclass(frozen=True)
class Sight:
    """A partition as brokers describe it and as readers of both kinds see it."""

    committed: list[int]
    everything: list[int]
    open_transactions: dict[int, int]  # producer id to first offset
    state: str  # of the transactional id
    transaction_partitions: tuple[Any, ...]


async def look(bootstrap: str, partition: TopicPartition, transactional_id: str) -> Sight:
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        committed = await _offsets(client, partition, IsolationLevel.READ_COMMITTED)
        everything = await _offsets(client, partition, IsolationLevel.READ_UNCOMMITTED)
        question = DescribeProducersRequest([TopicRequest(partition.topic, [partition.partition])])
        producers = await client.request(partition, ApiKey.DESCRIBE_PRODUCERS, question)
        described = await client.request(
            transaction_coordinator(transactional_id),
            ApiKey.DESCRIBE_TRANSACTIONS,
            DescribeTransactionsRequest([transactional_id]),
            error_of=any_error,
        )
    transaction = described.transaction_states[0]
    active = producers.topics[0].partitions[0].active_producers
    return Sight(
        committed,
        everything,
        {p.producer_id: p.current_txn_start_offset for p in active if p.current_txn_start_offset >= 0},
        transaction.transaction_state,
        tuple(transaction.topics),
    )


async def _offsets(client: Client, partition: TopicPartition, isolation: IsolationLevel) -> list[int]:
    reader = await Reader.open(client, [partition], isolation=isolation)
    return [record.offset for record in (await reader.drain(10_000)).get(partition, [])]
