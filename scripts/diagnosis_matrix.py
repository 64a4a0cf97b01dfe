"""Inject faults into clusters of the sandbox, one and two at a time, and hold the diagnoses against them.

Three diagnoses are asked: ``txn hanging`` on the running cluster, ``txn blame`` for every id, and ``fsck`` over the
data directories of all brokers. Names are drawn by chance. Prints for each kind of verdict how many were right, wrong
and missing, and exits with 1 when precision or recall is not 1.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from itertools import combinations
from typing import Any, Final, NamedTuple

from eosctl.client import Client, connect
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, produce, wait_until_ended
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.scenario import Stage
from eosctl.lab.scenarios.zombie import run_zombie
from eosctl.model.client_config import ClientConfig
from eosctl.settings.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record

#: A broker that verifies would refuse what comes late. The sandbox makes a partition's directory when it is first
#: written; with one partition the state log is whole on disk, as Kafka's always is.
SETTINGS: Final = {
    "transaction.partition.verification.enable": "false",
    "transaction.state.log.num.partitions": "1",
}
#: A producer id that no coordinator has given out.
_STRANGER: Final = 7_777_777
_LONG_S: Final = 300


class Verdict(NamedTuple):
    """What a diagnosis says of one subject: a partition, or a transactional id."""

    source: str
    kind: str
    subject: str


class Site(NamedTuple):
    """A cluster, and a source of names and choices."""

    cluster: SandboxThread
    chance: random.Random

    def name(self, kind: str) -> str:
        """Draw a name that tells nothing."""
        return f"{kind}-{self.chance.getrandbits(32):08x}"

    def stage(self) -> Stage:
        """Return where scenarios of the lab can play."""
        return Stage(self.config(), _now_ms, self.chance)

    def config(self) -> ClientConfig:
        """Return how the cluster is reached."""
        return ClientConfig(parse_endpoints(self.cluster.bootstrap, "sandbox"), client_id=self.name("c"))


class Planted(NamedTuple):
    """A fault that was made: the id that it is about, and the verdicts that must come of it, no others."""

    transactional_id: str | None
    verdicts: frozenset[Verdict]


Fault = Callable[[Site], Planted]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _record(site: Site) -> OutgoingRecord:
    return OutgoingRecord(site.name("k").encode(), b"{}")


def _on(site: Site, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with connect(site.config(), chance=site.chance) as client:
            return await work(client)

    return asyncio.run(run())


def _hangs(partition: object, cause: str) -> frozenset[Verdict]:
    return frozenset(
        {Verdict("hanging", cause, str(partition)), Verdict("fsck", "hanging-transaction", str(partition))}
    )


def nothing(site: Site) -> Planted:
    """Commit a transaction: a near miss of all others."""
    name = site.name("t")

    async def commit(client: Client) -> None:
        found = await ensure_topic(client, site.name("topic"), partition_count=1, replica_count=1)
        producer = TransactionalProducer(client, name, now_ms=_now_ms)
        await producer.init_transactions()
        await producer.send(found.partitions[0].partition, [_record(site)])
        await producer.commit()
        await wait_until_ended(client, name)

    _on(site, commit)
    return Planted(name, frozenset())


def open_transaction(site: Site) -> Planted:
    """Leave a transaction open that its coordinator knows: it is not hanging, and files alone tell so."""
    name = site.name("t")

    async def begin(client: Client) -> str:
        found = await ensure_topic(client, site.name("topic"), partition_count=1, replica_count=1)
        partition = found.partitions[0].partition
        producer = TransactionalProducer(client, name, now_ms=_now_ms, transaction_timeout_ms=600_000)
        await producer.init_transactions()
        await producer.send(partition, [_record(site)])
        return str(partition)

    return Planted(name, frozenset({Verdict("fsck", "open-transaction", _on(site, begin))}))


def late_batch(site: Site) -> Planted:
    """Deliver a batch after its transaction has ended."""
    name = site.name("t")
    report = asyncio.run(run_hanging(site.stage(), topic=site.name("topic"), transactional_id=name))
    return Planted(name, _hangs(report.partition, "partition-not-in-transaction"))


def stranger(site: Site) -> Planted:
    """Append transactional records of a producer id that no coordinator knows, where there are coordinators."""
    nothing(site)

    async def append(client: Client) -> str:
        found = await ensure_topic(client, site.name("topic"), partition_count=1, replica_count=1)
        partition = found.partitions[0].partition
        batch = encode_batch(
            [Record(0, _now_ms(), None, b"{}")],
            producer_id=_STRANGER,
            producer_epoch=0,
            base_sequence=0,
            transactional=True,
        )
        await produce(client, partition, batch, transactional_id=site.name("t"), bounds=TV1.produce)
        return str(partition)

    return Planted(None, _hangs(_on(site, append), "unknown-to-coordinator"))


def skipped_marker(site: Site) -> Planted:
    """End a transaction while its partition has no leader, and bring the leader back (KAFKA-20734)."""
    name = site.name("t")
    committed = site.chance.random() < 0.5

    async def end(client: Client) -> tuple[str, int]:
        found = await ensure_topic(client, site.name("topic"), partition_count=6, replica_count=1)
        producer = TransactionalProducer(client, name, now_ms=_now_ms)
        await producer.init_transactions()
        coordinator = await client.node_id(transaction_coordinator(name))
        leader, partition = next(
            (p.leader_id, p.partition) for p in found.partitions if p.leader_id not in (None, coordinator)
        )
        await producer.send(partition, [_record(site)])
        await asyncio.to_thread(site.cluster.stop_broker, leader)
        await producer.end(committed=committed)
        await wait_until_ended(client, name)
        return str(partition), leader or 0

    partition, leader = _on(site, end)
    site.cluster.start_broker(leader)
    return Planted(name, _hangs(partition, "partition-not-in-transaction"))


def takeover(site: Site) -> Planted:
    """Let a second producer take an id over in the middle of the first one's transaction."""
    name = site.name("t")
    asyncio.run(run_zombie(site.stage(), topic=site.name("topic"), transactional_id=name))
    return Planted(name, frozenset({Verdict("blame", "newer-instance", name)}))


def empty_commit(site: Site) -> Planted:
    """Commit with a partition in which nothing was written."""
    name = site.name("t")

    async def commit(client: Client) -> str:
        found = await ensure_topic(client, site.name("topic"), partition_count=1, replica_count=1)
        partition = found.partitions[0].partition
        producer = TransactionalProducer(client, name, now_ms=_now_ms, dialect=TV1)
        await producer.init_transactions()
        await producer.declare(partition)
        await producer.end(committed=True)
        await wait_until_ended(client, name)
        return str(partition)

    return Planted(name, frozenset({Verdict("fsck", "commit-without-data", _on(site, commit))}))


FAULTS: Final[tuple[Fault, ...]] = (
    nothing,
    open_transaction,
    late_batch,
    stranger,
    skipped_marker,
    takeover,
    empty_commit,
)


def diagnose(cluster: SandboxThread, transactional_ids: Iterable[str]) -> set[Verdict]:
    """Ask everything that can be asked, as an operator would."""
    address = ("-b", cluster.bootstrap)
    found = {
        Verdict("hanging", item["cause"], f"{item['topic']}-{item['partition']}")
        for item in _items("txn", "hanging", *address)
    }
    for name in transactional_ids:
        found |= {Verdict("blame", item["cause"], name) for item in _items("txn", "blame", name, *address)}
    directories = sorted(str(path) for path in cluster.data_dir.glob("broker-*"))
    found |= {Verdict("fsck", item["kind"], item["partition"]) for item in _items("fsck", *directories)}
    return found


def _items(*arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "eosctl", *arguments, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LONG_S)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
    items: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return items


class Outcome(NamedTuple):
    """What the diagnoses said of one cluster."""

    expected: frozenset[Verdict]
    found: frozenset[Verdict]

    @property
    def is_exact(self) -> bool:
        """Whether nothing is wrong and nothing missing."""
        return self.expected == self.found


def play(faults: Iterable[Fault], seed: int) -> Outcome:
    """Make faults on a cluster of their own, in an order of chance, and diagnose it."""
    chance = random.Random(seed)
    order = list(faults)
    chance.shuffle(order)
    with SandboxThread(brokers=3, fast=False, config=SETTINGS) as cluster:
        planted = [fault(Site(cluster, chance)) for fault in order]
        ids = [one.transactional_id for one in planted if one.transactional_id is not None]
        found = diagnose(cluster, ids)
    return Outcome(frozenset().union(*(one.verdicts for one in planted)), frozenset(found))


def score(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Count right, wrong and missing verdicts by source and kind."""
    right: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    missing: Counter[tuple[str, str]] = Counter()
    for expected, found in outcomes:
        right.update(verdict[:2] for verdict in expected & found)
        wrong.update(verdict[:2] for verdict in found - expected)
        missing.update(verdict[:2] for verdict in expected - found)
    return {key: (right[key], wrong[key], missing[key]) for key in sorted(right | wrong | missing)}


def main() -> int:
    """Play every fault alone and every pair of two."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().getrandbits(32)
    print(f"seed {seed}")
    outcomes = []
    for number, faults in enumerate([*combinations(FAULTS, 1), *combinations(FAULTS, 2)]):
        outcome = play(faults, seed + number)
        outcomes.append(outcome)
        print(f"{'ok' if outcome.is_exact else 'WRONG':6}{' + '.join(fault.__name__ for fault in faults)}", flush=True)
        for verdict in sorted(outcome.expected ^ outcome.found):
            print(f"      {'missing' if verdict in outcome.expected else 'not planted'}: {' '.join(verdict)}")
    print(f"\n{'VERDICT':50} RIGHT  WRONG  MISSING  PRECISION  RECALL")
    for (source, kind), (right, wrong, missing) in score(outcomes).items():
        precision, recall = (right / (right + more) if right else 0.0 for more in (wrong, missing))
        print(f"{source + ': ' + kind:50} {right:5}  {wrong:5}  {missing:7}  {precision:9.2f}  {recall:6.2f}")
    return 0 if all(outcome.is_exact for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
