"""Measure how long a producer waits after the failure of its coordinator, on the sandbox and real Kafka.

    python -m benchmarks.failover [--engine sandbox] [--engine fast] [--engine apache] [--rounds 5]

Each cluster has three brokers, three replicas, and default timings (`fast`: a sandbox with `--fast`). A producer
commits transactions of one record. Its coordinator's broker is killed or shut down, and the longest time between
two commits is measured. All nodes are up and in sync before the next round. Two producers are measured:
confluent-kafka's, which looks for a coordinator by its own timers, and one that is recreated after every error and
so waits only for the cluster.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import pairwise, product
from pathlib import Path
from statistics import median
from typing import Final

import confluent_kafka
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from eosctl.client import connect, transaction_coordinator
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.errors import EosctlError
from eosctl.lab.apache.cluster import PROGRAM, START_TIMEOUT_S
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.settings.clusters.endpoints import parse_endpoints

NAMES: Final = {"sandbox": "sandbox", "fast": "sandbox --fast", "apache": "Kafka {}"}
ENDINGS: Final = {"kill": "killed", "stop": "shut down"}
TARGETS_S: Final = {("sandbox", "kill"): 5.0, ("fast", "kill"): 0.5}
TOPIC: Final = "failover"
TRANSACTIONAL_ID: Final = "failover"
CALM_S: Final = 1.0
PATIENCE_S: Final = 90.0
LOOK_S: Final = 0.01
RESTLESS_MS: Final = 250


class Application(threading.Thread):
    """Commits transactions one after the other; `commits_s` are their times (`time.perf_counter`)."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.bootstrap = bootstrap
        self.commits_s: list[float] = []
        self.problem: KafkaException | None = None
        self.is_over = threading.Event()

    def has_committed(self) -> None:
        """Record a commit."""
        self.commits_s.append(time.perf_counter())

    def work_until_after(self, moment_s: float) -> None:
        """Wait until a transaction was committed after a time.

        Raises:
            KafkaException: The producer has ended.
            TimeoutError: Nothing was committed.
        """
        while not self.commits_s or self.commits_s[-1] < moment_s:
            if self.problem is not None:
                raise self.problem
            if time.perf_counter() > moment_s + PATIENCE_S:
                raise TimeoutError(f"nothing was committed for {PATIENCE_S:.0f} s")
            time.sleep(LOOK_S)

    def longest_gap_s(self) -> float:
        """Return the longest time between two commits."""
        return max(later - earlier for earlier, later in pairwise(self.commits_s))


class Librdkafka(Application):
    """A producer of confluent-kafka, which aborts if necessary and uses its own retry delays."""

    def run(self) -> None:
        """Run until stopped, or until an error ends the producer."""
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": TRANSACTIONAL_ID,
                "linger.ms": 0,
                "enable.metrics.push": False,
                "log_level": 0,
            }
        )
        try:
            producer.init_transactions(PATIENCE_S)
            while not self.is_over.is_set():
                producer.begin_transaction()
                producer.produce(TOPIC, bytes(100), partition=0)
                if self._has_ended(producer.commit_transaction):
                    self.has_committed()
                else:
                    self._has_ended(producer.abort_transaction)
        except KafkaException as error:
            self.problem = error

    @staticmethod
    def _has_ended(end: Callable[[float], None]) -> bool:
        """Retry until the call succeeds; return False if the transaction must be aborted."""
        while True:
            try:
                end(PATIENCE_S)
            except KafkaException as problem:
                error = problem.args[0]
                if error.txn_requires_abort():
                    return False
                if not error.retriable():
                    raise
            else:
                return True


class Restless(Application):
    """A producer that is immediately recreated after any error, so it waits only for the cluster."""

    def run(self) -> None:
        """Run until stopped."""
        while not self.is_over.is_set():
            with suppress(EosctlError):
                asyncio.run(self._work())
            time.sleep(LOOK_S)

    async def _work(self) -> None:
        config = ClientConfig(
            parse_endpoints(self.bootstrap, "failover"),
            connect_timeout_ms=RESTLESS_MS,
            request_timeout_ms=RESTLESS_MS,
            timeout_ms=RESTLESS_MS,
            retry_backoff_ms=10,
        )
        async with connect(config) as client:
            producer = TransactionalProducer(client, TRANSACTIONAL_ID, now_ms=lambda: int(time.time() * 1_000))
            await producer.init_transactions()
            while not self.is_over.is_set():
                await producer.send(TopicPartition(TOPIC, 0), [OutgoingRecord(None, bytes(100))])
                await producer.commit()
                self.has_committed()


CLIENTS: Final[dict[type[Application], str]] = {Librdkafka: "librdkafka", Restless: "restless"}


@contextmanager
def cluster(engine: str, kafka: str) -> Iterator[RunningSandbox]:
    """Run three brokers with a topic that is replicated on all of them."""
    with tempfile.TemporaryDirectory(prefix="eosctl-failover-") as directory:
        spec = SandboxSpec(
            f"failover-{engine}-{os.getpid()}",
            str(Path(directory) / "data"),
            brokers=3,
            fast=engine == "fast",
            ephemeral=True,
            kafka=kafka if engine == "apache" else None,
        )
        if engine == "apache":
            running = manage.start(spec, program=PROGRAM, timeout_s=START_TIMEOUT_S)
        else:
            running = manage.start(spec)
        try:
            admin = AdminClient({"bootstrap.servers": running.bootstrap})
            admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(PATIENCE_S)
            yield running
        finally:
            manage.stop(running, timeout_s=PATIENCE_S)


def measure(running: RunningSandbox, kind: type[Application], ending: str) -> float:
    """Stop or kill the coordinator's broker; return the longest time between two commits, in seconds."""
    wait_until_in_sync(running)
    application = kind(running.bootstrap)
    application.start()
    try:
        application.work_until_after(time.perf_counter() + CALM_S)
        broker_id = asyncio.run(coordinator(running))
        manage.send_command(running, "inject", PATIENCE_S, words=[ending, f"node={broker_id}"])
        while asyncio.run(coordinator(running)) == broker_id:
            time.sleep(LOOK_S)
        application.work_until_after(time.perf_counter() + CALM_S)
        return application.longest_gap_s()
    finally:
        application.is_over.set()
        application.join(PATIENCE_S)
        manage.send_command(running, "end-faults", START_TIMEOUT_S)


async def coordinator(running: RunningSandbox) -> int:
    """Return the id of the broker that coordinates the producer's transactions."""
    async with connect(ClientConfig(parse_endpoints(running.bootstrap, running.name))) as client:
        return await client.node_id(transaction_coordinator(TRANSACTIONAL_ID))


def wait_until_in_sync(running: RunningSandbox) -> None:
    """Wait until every partition has three replicas in sync.

    Raises:
        TimeoutError: Some have not.
    """
    admin = AdminClient({"bootstrap.servers": running.bootstrap, "log_level": 0})
    deadline_s = time.perf_counter() + PATIENCE_S
    while time.perf_counter() < deadline_s:
        topics = admin.list_topics(timeout=PATIENCE_S).topics.values()
        if all(len(partition.isrs) == 3 for topic in topics for partition in topic.partitions.values()):
            return
        time.sleep(10 * LOOK_S)
    raise TimeoutError(f"some replicas were not in sync after {PATIENCE_S:.0f} s")


def table(engines: list[str], kafka: str, rounds: int) -> Iterator[str]:
    """Yield the rows; all clusters run concurrently, and rounds alternate."""
    yield "| Cluster | Its coordinator's broker is | Producer | s between two commits, least first | Median | Target |"
    yield "|---|---|---|---|---:|---|"
    with ExitStack() as stack:
        running = {engine: stack.enter_context(cluster(engine, kafka)) for engine in engines}
        for ending, kind in product(ENDINGS, CLIENTS):
            took: dict[str, list[float]] = {engine: [] for engine in engines}
            for _ in range(rounds):
                for engine in engines:
                    took[engine].append(measure(running[engine], kind, ending))
            for engine, times in took.items():
                target = TARGETS_S.get((engine, ending))
                shown = ", ".join(f"{time_s:.2f}" for time_s in sorted(times))
                yield (
                    f"| {NAMES[engine].format(kafka)} | {ENDINGS[ending]} | {CLIENTS[kind]} | {shown} "
                    f"| {median(times):.2f} | {'' if target is None else f'< {target:g} s'} |"
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=NAMES, help="repeatable; all of them")
    parser.add_argument("--kafka", default="4.3.1", help="the release of --engine apache")
    parser.add_argument("--rounds", type=int, default=5, help="how often each broker ends")
    options = parser.parse_args()
    engines = options.engine or list(NAMES)
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"librdkafka {confluent_kafka.libversion()[0]}, load {os.getloadavg()[0]:.1f} at the start.\n"
    )
    for line in table(engines, options.kafka, options.rounds):
        print(line, flush=True)
    print(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
