"""Measure librdkafka's transactions of one record on the sandbox, kfake, and optionally real Kafka.

    python -m benchmarks.librdkafka [--engine sandbox] [--engine kfake] [--engine apache] [--seconds 5] [--rounds 3]

Producers are confluent-kafka's, a thread each, and commit before they write more. All of it runs on
this machine: the servers share its processors with their clients.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from statistics import median, quantiles
from typing import Final, NamedTuple

import confluent_kafka
import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.peers.rivals import ENGINES, Rival, check_engines, running, workplace

TOPIC: Final = "librdkafka"
PARTITIONS: Final = 12
PRODUCERS: Final = (1, 8, 16)
TARGET_PER_S: Final = 4_000  # Of eight producers.
WARM_UP: Final = 100  # Number of transactions of each.
CALL_TIMEOUT_S: Final = 30


class Outcome(NamedTuple):
    """Results of a loop: transactions per second, duration (ms), and processor time per transaction (us)."""

    per_s: float
    p50_ms: float
    p99_ms: float
    server_us: float
    client_us: float


def measure(rival: Rival, producer_count: int, seconds: float) -> Outcome:
    """Run producers that commit transactions one after the other for a duration."""
    server, client = psutil.Process(rival.pid), psutil.Process()
    took: list[list[float]] = [[] for _ in range(producer_count)]
    ready = threading.Barrier(producer_count + 1, timeout=2 * CALL_TIMEOUT_S)  # A failed producer stops all.
    ends_at = [0.0]

    def produce(number: int) -> None:
        producer = Producer(
            {
                "bootstrap.servers": rival.bootstrap,
                "transactional.id": f"librdkafka-{number}",
                "linger.ms": 0,
                "socket.nagle.disable": True,
                "enable.metrics.push": False,
            }
        )
        producer.init_transactions(CALL_TIMEOUT_S)
        for _ in range(WARM_UP):
            _transact(producer, number)
        ready.wait()
        ready.wait()
        while (began := time.perf_counter()) < ends_at[0]:
            _transact(producer, number)
            took[number].append(time.perf_counter() - began)

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(producer_count)]
    for thread in threads:
        thread.start()
    ready.wait()
    ends_at[0] = time.perf_counter() + seconds
    server_before, client_before = _cpu_s(server), _cpu_s(client)
    ready.wait()
    for thread in threads:
        thread.join()
    times = [one for each in took for one in each]
    hundredths = quantiles(times, n=100)
    return Outcome(
        len(times) / seconds,
        hundredths[49] * 1e3,
        hundredths[98] * 1e3,
        (_cpu_s(server) - server_before) / len(times) * 1e6,
        (_cpu_s(client) - client_before) / len(times) * 1e6,
    )


def _transact(producer: Producer, number: int) -> None:
    producer.begin_transaction()
    producer.produce(TOPIC, bytes(100), partition=number % PARTITIONS)
    producer.commit_transaction(CALL_TIMEOUT_S)


def _cpu_s(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


def make_topic(rival: Rival) -> None:
    """Create the topic of all producers."""
    admin = AdminClient({"bootstrap.servers": rival.bootstrap})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(CALL_TIMEOUT_S)


def table(engines: list[str], kafka: str, seconds: float, rounds: int) -> Iterator[str]:
    """Yield the rows; all engines run concurrently, and loops alternate."""
    yield "| Server | Producers | Transactions/s | P50, P99 ms | us of the server | us of the clients |"
    yield "|---|---:|---|---|---:|---:|"
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(running(engine, stack.enter_context(workplace()), kafka, random.Random()))
            for engine in engines
        ]
        for rival in rivals:
            make_topic(rival)
        for count in PRODUCERS:
            found: dict[str, list[Outcome]] = {rival.name: [] for rival in rivals}
            for _ in range(rounds):
                for rival in rivals:
                    found[rival.name].append(measure(rival, count, seconds))
            for name, outcomes in found.items():
                rates = ", ".join(f"{one.per_s:,.0f}" for one in sorted(outcomes))
                middle = Outcome(*(median(column) for column in zip(*outcomes, strict=True)))
                yield (
                    f"| {name} | {count} | {rates} | {middle.p50_ms:.1f}, {middle.p99_ms:.1f} "
                    f"| {middle.server_us:.0f} | {middle.client_us:.0f} |"
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", metavar="NAME", help=f"one of {', '.join(ENGINES)}; repeatable")
    parser.add_argument("--kafka", default="4.3.1", help="the release of --engine apache")
    parser.add_argument("--seconds", type=float, default=5, help="length of each loop")
    parser.add_argument("--rounds", type=int, default=3, help="loops of each kind")
    options = parser.parse_args()
    engines = options.engine or ["sandbox", "kfake"]
    check_engines(engines)
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"librdkafka {confluent_kafka.libversion()[0]}, load {os.getloadavg()[0]:.1f} at the start; "
        f"target {TARGET_PER_S:,} transactions a second from eight producers.\n"
    )
    for line in table(engines, options.kafka, options.seconds, options.rounds):
        print(line, flush=True)
    print(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
