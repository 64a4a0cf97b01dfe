"""Transactions of confluent-kafka, whose librdkafka ends them with EndTxn up to version 4; the history is the same.

The calls of librdkafka block, so each producer has a thread. Producer ids are its own secret: what needs them is not
checked here.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from eosctl.errors import UsageError
from eosctl.history.events import Ended, EndInvoked, Outcome, SendInvoked, Sent
from eosctl.lab.recording import Recorder
from eosctl.model.client_config import ClientConfig, SecurityProtocol
from eosctl.model.transaction import TopicPartition
from eosctl.verify.plan import VerifyPlan, Workload
from eosctl.verify.scene import Scene

_ASK_S: Final = 5.0
_TRIES: Final = 20
_ABORT_SHARE: Final = 0.2
#: As in eosctl's own applications: some take their time between two records.
_THINK_SHARE: Final = 0.15
_THINK_S: Final = (0.02, 0.25)


#: What librdkafka has to say about the faults of a run is in the history.
_SILENT: Final = logging.getLogger(f"{__name__}.silent")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def check_librdkafka(plan: VerifyPlan, config: ClientConfig) -> None:
    """Refuse what these clients cannot do here.

    Raises:
        UsageError: Another workload, or a cluster that asks for more than an address.
    """
    if plan.workloads != (Workload.APPENDS,):
        raise UsageError(
            "librdkafka has the workload appends here and no other.",
            "The others are of eosctl's own client, whose every request they can choose.",
            "Add: --workload appends",
        )
    if config.security_protocol is not SecurityProtocol.PLAINTEXT:
        raise UsageError(
            "librdkafka is used here without TLS and SASL alone.",
            "Its settings for them are others than Kafka's.",
            "Use --clients tv1, which speaks the same protocol.",
        )


async def append(scene: Scene, chance: random.Random, *, index: int, bootstrap: str) -> None:
    """Write transactions until the run is over, in a thread of its own."""
    work = partial(_Writer(scene, chance, f"librdkafka-{index}", bootstrap).run)
    with_thread = ThreadPoolExecutor(1, thread_name_prefix=f"librdkafka-{index}")
    try:
        await asyncio.get_running_loop().run_in_executor(with_thread, work)
    finally:
        with_thread.shutdown(wait=False)


class _Writer:
    def __init__(self, scene: Scene, chance: random.Random, name: str, bootstrap: str) -> None:
        self._plan = scene.plan
        self._recorder: Recorder = scene.recorder
        self._is_over = scene.is_over
        self._chance = chance
        self._name = name
        self._places = scene.partitions("appends")
        transactional_id = f"{scene.plan.prefix}-{name}"
        scene.transactional_ids.add(transactional_id)
        self._settings = {
            "bootstrap.servers": bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": scene.plan.transaction_timeout_ms,
            "socket.timeout.ms": 3_000,
            "message.timeout.ms": scene.plan.transaction_timeout_ms,
            "linger.ms": 0,
        }

    def run(self) -> None:
        """Begin one transaction after the other; take a new producer when one cannot go on."""
        from confluent_kafka import KafkaException, Producer

        life, interval_s = 0, self._plan.id_count / self._plan.rate_per_s
        while not self._is_over():
            life += 1
            producer = Producer(self._settings, logger=_SILENT)
            try:
                producer.init_transactions(_ASK_S)
                number = 0
                while not self._is_over():
                    if self._transaction(producer, f"{self._name}.{life}", number) is Outcome.UNKNOWN:
                        break
                    number += 1
                    producer.poll(interval_s)
            except KafkaException:
                continue

    def _transaction(self, producer: Any, actor: str, number: int) -> Outcome:
        name = f"{actor}/{number}"
        places = self._chance.choices(
            self._places, self._plan.weights, k=self._chance.randint(1, self._plan.max_records)
        )
        aborts = self._chance.random() < _ABORT_SHARE
        producer.begin_transaction()
        outcome = self._play(producer, actor, name, places, aborts=aborts)
        self._recorder.tell(Ended(self._recorder.now_ms(), actor, name, outcome))
        return outcome

    def _play(self, producer: Any, actor: str, name: str, places: Sequence[TopicPartition], *, aborts: bool) -> Outcome:
        from confluent_kafka import KafkaException

        tell, now_ms = self._recorder.tell, self._recorder.now_ms
        think_s = self._chance.uniform(*_THINK_S) if self._chance.random() < _THINK_SHARE else 0.0
        try:
            for index, place in enumerate(places):
                self._send(producer, actor, name, place, f"{name}/{index}")
                producer.poll(think_s)
            if not aborts:
                tell(EndInvoked(now_ms(), actor, name, True))
                _until_done(lambda: producer.commit_transaction(_ASK_S))
                return Outcome.COMMITTED
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                return Outcome.UNKNOWN
        tell(EndInvoked(now_ms(), actor, name, False))
        try:
            _until_done(lambda: producer.abort_transaction(_ASK_S))
        except KafkaException:
            return Outcome.UNKNOWN
        return Outcome.ABORTED

    def _send(self, producer: Any, actor: str, transaction: str, place: TopicPartition, value: str) -> None:
        from confluent_kafka import KafkaException

        tell, now_ms = self._recorder.tell, self._recorder.now_ms
        failed: list[Any] = []

        def delivered(error: Any, message: Any) -> None:
            if error is None:
                tell(Sent(now_ms(), actor, place, value, message.offset()))
            else:
                failed.append(error)

        tell(SendInvoked(now_ms(), actor, transaction, place, value))
        content = value.encode().ljust(self._plan.record_bytes)
        producer.produce(place.topic, content, partition=place.partition, on_delivery=delivered)
        while producer.flush(_ASK_S):
            if self._is_over():
                break
        if failed:
            raise KafkaException(failed[0])


def _until_done(ask: Any) -> None:
    """Ask again as long as the error allows it: librdkafka goes on with the same request."""
    from confluent_kafka import KafkaException

    for _ in range(_TRIES - 1):
        try:
            ask()
            return
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
    ask()
