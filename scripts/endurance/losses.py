"""Check that sandboxes lose and duplicate nothing, with the clients of other vendors and a ledger of their answers.

    python -m scripts.endurance.losses [--faults 300] [--gap 1.5] [--seed 1] [--compiled]

Nothing of eosctl's own client or checkers takes part: three producers (librdkafka, kafka-python, aiokafka) write
transactions to three partitions each and note what they were answered, while brokers are killed with loss of what was
not on disk, torn writes, and restarts, are paused and cut off, and coordinators move. At the end, one consumer of
librdkafka and one of kafka-python read what is committed. Every transaction must be there once and whole if it was
acknowledged, not at all if it was aborted, and once or not at all if its outcome is unknown.

With `--compiled`, half of the faults act on a sandbox of this build, half on one with compiled modules, which takes a C
compiler and some minutes first. The exit status is 0 when nothing was violated.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

import confluent_kafka
import kafka
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from scripts.endurance.foreign_clients import WRITERS, Writer
from scripts.endurance.ledger import PARTITIONS, Ledger, Outcome, violations
from scripts.test_compiled import compile_copy

TOPIC: Final = "ledger"
ABORT_SHARE: Final = 0.15
FAULTS: Final = (
    "kill node={node} lose=3 torn=true for={s}s",
    "kill node={node} lose=20 for={s}s",
    "restart node={node} lose=5 torn=true",
    "stop node={node} for={s}s",
    "pause node={node} for={s}s",
    "cut node={node} for={s}s",
    "cut node={node} other=clients for={s}s",
    "disconnect node={node}",
    "disconnect api=EndTxn side=answer count=3 for={s}s",
    "disconnect api=Produce side=answer count=5 for={s}s",
    "late-markers ms=800 for={s}s",
    "late-end-txn ms=800 for={s}s",
    "late-produce ms=300 for={s}s",
    "slow-disk node={node} ms=50 for={s}s",
    "move-coordinator transactional-id={id}",
    "unload-coordinator transactional-id={id}",
)


class Sandbox:
    """A sandbox of three brokers in a process of its own, driven by the command line."""

    def __init__(self, folder: Path, sources: Path | None) -> None:
        paths = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "s"), "XDG_RUNTIME_DIR": str(folder)}
        self._environment = os.environ | paths | ({"PYTHONPATH": str(sources)} if sources else {})
        self._folder = folder

    def run(self, *words: str) -> str:
        """Run a command of eosctl; a fault that does not apply at the moment is refused."""
        done = subprocess.run(
            [sys.executable, "-m", "eosctl", *words],
            env=self._environment, cwd=self._folder, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        return done.stdout if done.returncode == 0 else ""

    def start(self) -> str:
        """Start it, and return its addresses."""
        words = ("sandbox", "up", "--name", "l", "--fast", "--ttl", "3h", "-o", "json")
        started = json.loads(self.run(*words, "--config", "min.insync.replicas=2"))
        return str(started["items"][0]["bootstrap"])


def produce(kind: str, bootstrap: str, ledger: Ledger, ended: threading.Event, rng: random.Random) -> None:
    """Write transactions until the end, and note each answer."""
    writer: Writer | None = None
    number = 0
    while not ended.is_set():
        name = f"{kind}:{number}"
        try:
            if writer is None:
                writer = WRITERS[kind](bootstrap, kind)
            commit = rng.random() >= ABORT_SHARE
            ledger[name] = Outcome.UNKNOWN
            writer.write(TOPIC, [f"{name}:{place}".encode() for place in range(PARTITIONS)], commit=commit)
            ledger[name] = Outcome.COMMITTED if commit else Outcome.ABORTED
        except Exception:  # noqa: BLE001 - clients raise what they like; the ledger has the outcome
            discard(writer)
            writer = None
        number += 1
    discard(writer)


def discard(writer: Writer | None) -> None:
    """Close a writer that may be broken."""
    try:
        if writer is not None:
            writer.close()
    except Exception:  # noqa: BLE001 - as above
        return


def disturb(sandbox: Sandbox, count: int, gap_s: float, rng: random.Random) -> Counter[str]:
    """Inject faults one after the other, so that at most one node is away, and return how many of each kind took."""
    done: Counter[str] = Counter()
    while done.total() < count:
        seconds = rng.choice((0.3, 1.0, 3.0))
        words = rng.choice(FAULTS).format(node=rng.randint(1, 3), s=seconds, id=rng.choice(list(WRITERS))).split()
        if sandbox.run("sandbox", "fault", *words, "--name", "l"):
            done[words[0]] += 1
            if done.total() % 25 == 0:
                print(f"{done.total()} faults", flush=True)
        time.sleep(seconds + gap_s)
    sandbox.run("sandbox", "heal", "--name", "l")
    return done


def read_with_librdkafka(bootstrap: str) -> list[str]:
    """Return every committed value."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "check", "isolation.level": "read_committed",
         "enable.auto.commit": False, "enable.partition.eof": True}
    )  # fmt: skip
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, place, 0) for place in range(PARTITIONS)])
    found: list[str] = []
    ends: set[int | None] = set()
    while len(ends) < PARTITIONS:
        message = consumer.poll(60)
        if message is None:
            raise SystemExit("The end of the topic is not reached: a transaction is still open.")
        error, value = message.error(), message.value()
        if error is None and value is not None:
            found.append(value.decode())
        elif error is not None and error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
            ends.add(message.partition())
    consumer.close()
    return found


def read_with_kafka_python(bootstrap: str) -> list[str]:
    """Return every committed value."""
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap, isolation_level="read_committed", consumer_timeout_ms=10_000,
        enable_auto_commit=False,
    )  # fmt: skip
    places = [kafka.TopicPartition(TOPIC, place) for place in range(PARTITIONS)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    found = [record.value.decode() for record in consumer]
    consumer.close()
    return found


def check(sandbox: Sandbox, fault_count: int, gap_s: float, rng: random.Random) -> int:
    """Run the clients and the faults on a sandbox, print what happened, and return the number of violations."""
    bootstrap = sandbox.start()
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(60)
    ledger: Ledger = {}
    ended = threading.Event()
    producers = [
        threading.Thread(target=produce, args=(kind, bootstrap, ledger, ended, random.Random(kind))) for kind in WRITERS
    ]
    for thread in producers:
        thread.start()
    faults = disturb(sandbox, fault_count, gap_s, rng)
    time.sleep(5)
    ended.set()
    for thread in producers:
        thread.join()
    for kind in WRITERS:  # What was left open is aborted.
        discard(WRITERS[kind](bootstrap, kind))
    readers = {"librdkafka": read_with_librdkafka(bootstrap), "kafka-python": read_with_kafka_python(bootstrap)}
    sandbox.run("sandbox", "down", "--name", "l")
    wrong = [f"read by {reader}: {text}" for reader, values in readers.items() for text in violations(ledger, values)]
    for line in wrong[:20]:
        print(line)
    outcomes = Counter(f"{name.partition(':')[0]} {outcome.value}" for name, outcome in ledger.items())
    print("transactions: " + ", ".join(f"{count:,} {name}" for name, count in sorted(outcomes.items())))
    print("faults: " + ", ".join(f"{count} {kind}" for kind, count in faults.most_common()))
    print(f"{faults.total()} faults, {len(ledger):,} transactions: {len(wrong)} violations", flush=True)
    return len(wrong)


def main() -> int:
    """Run the check, and return the exit status."""
    parser = argparse.ArgumentParser(description="See the module.")
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--gap", type=float, default=1.5, help="seconds between the end of a fault and the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", action="store_true", help="half of the faults on a compiled build")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    logging.disable()  # Clients log every fault.
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        builds: list[Path | None] = [None]
        if options.compiled:
            compile_copy(Path(folder) / "compiled")
            builds.append(Path(folder) / "compiled")
        for number, sources in enumerate(builds):
            print("compiled modules" if sources else "pure Python", flush=True)
            place = Path(folder) / str(number)
            place.mkdir()
            found += check(Sandbox(place, sources), options.faults // len(builds), options.gap, rng)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
