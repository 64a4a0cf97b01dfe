"""Inject faults into a separate cluster, run the diagnoses, and count the results."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.cli import main as eosctl
from eosctl.testing import SandboxThread
from scripts.diagnosis_matrix.site import Fault, Site, Verdict

#: A verifying broker would reject late records. The sandbox creates a partition's directory with its first write; with
#: one partition, the coordinators' logs are complete on disk, as in Kafka.
SETTINGS: Final = {
    "transaction.partition.verification.enable": "false",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}


class Outcome(NamedTuple):
    """The result of the diagnoses of a cluster."""

    expected: frozenset[Verdict]
    found: frozenset[Verdict]

    @property
    def is_exact(self) -> bool:
        """Return whether nothing is wrong or missing."""
        return self.expected == self.found


def groups_of(faults: Iterable[Fault]) -> Iterator[tuple[Fault, ...]]:
    """Yield every fault alone, and every pair that one cluster can have."""
    chosen = list(faults)
    yield from ((fault,) for fault in chosen)
    for one, other in combinations(chosen, 2):
        if not (one.alone or other.alone or (one.lasts and other.lasts)):
            yield one, other


def play(faults: Iterable[Fault], seed: int) -> Outcome:
    """Inject faults into a separate cluster in random order, lasting ones last, and run the diagnoses."""
    chance = random.Random(seed)
    order = list(faults)
    chance.shuffle(order)
    order.sort(key=lambda fault: fault.lasts)
    settings = dict(SETTINGS)
    for fault in order:
        settings |= fault.settings
    with SandboxThread(brokers=3, fast=False, config=settings) as cluster:
        return plant_and_diagnose(
            Site(cluster.bootstrap, chance, cluster), order, lambda: sorted(cluster.data_dir.glob("broker-*"))
        )


def plant_and_diagnose(site: Site, order: Sequence[Fault], directories: Callable[[], Iterable[Path]]) -> Outcome:
    """Inject faults one after the other, and run the diagnoses.

    Args:
        site: A cluster with the settings that the faults need.
        order: The faults, lasting ones last.
        directories: Returns the data directories of all brokers.
    """
    planted = [fault.plant(site) for fault in order]
    names = [name for one in planted for name in one.transactional_ids]
    found = diagnose(site.bootstrap, directories(), names, max(fault.second_look_ms for fault in order))
    return Outcome(frozenset().union(*(one.verdicts for one in planted)), frozenset(found))


def diagnose(
    bootstrap: str, directories: Iterable[Path], transactional_ids: Iterable[str], second_look_ms: int
) -> set[Verdict]:
    """Run all diagnoses."""
    looks = ("--second-look-after", f"{second_look_ms}ms")
    address = ("-b", bootstrap)
    found: set[Verdict] = set()
    for item in _items("txn", "hanging", "--all", *looks, *address):
        where = f"{item['topic']}-{item['partition']}"
        found.add(Verdict("hanging", item["cause"], where))
        if item["status"] == "hanging":
            found.add(Verdict("abort", "allowed" if item["can_abort"] else "refused", where))
    for item in _items("group", "pending", *looks, *address):
        found |= {Verdict("pending", holder["cause"], item["group_id"]) for holder in item["holders"]}
    for name in transactional_ids:
        found |= {Verdict("blame", item["cause"], name) for item in _items("txn", "blame", name, *address)}
    for item in _items("fsck", *map(str, directories)):
        found.add(Verdict("fsck", item["kind"], item["partition"] or item["transactional_id"]))
    return found


def _items(*arguments: str) -> list[dict[str, Any]]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = eosctl([*arguments, "-o", "json"])
    if code not in (0, 3):
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}: {err.getvalue().strip()}")
    items: list[dict[str, Any]] = json.loads(out.getvalue())["items"]
    return items


def score(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Count right, wrong, and missing verdicts by source and kind."""
    right: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    missing: Counter[tuple[str, str]] = Counter()
    for expected, found in outcomes:
        right.update(verdict[:2] for verdict in expected & found)
        wrong.update(verdict[:2] for verdict in found - expected)
        missing.update(verdict[:2] for verdict in expected - found)
    return {key: (right[key], wrong[key], missing[key]) for key in sorted(right | wrong | missing)}
