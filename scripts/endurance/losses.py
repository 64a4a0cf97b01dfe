"""Check that sandboxes lose and duplicate nothing, with the clients of other vendors and a ledger of their responses.

    python -m scripts.endurance.losses [--faults 300] [--gap 1.5] [--seed 1] [--compiled FOLDER] [--keep FOLDER]

Nothing of eosctl's own client, checkers, or reading of files takes part. Three producers (librdkafka, kafka-python,
aiokafka) write transactions to three partitions each and note the responses. Three applications of the same clients
copy that topic, records and consumed offsets in one transaction. Meanwhile the process is killed (kill -9, also during
a start), stopped by SIGSTOP, and restarted; the ends of its files are torn while it is down; single brokers are killed
with loss of what was not on disk, paused, and cut off; and coordinators move.

At the end, one consumer of librdkafka and one of kafka-python read what is committed. Every transaction must be there
once and whole if it was acknowledged, not at all if it was aborted or abandoned, and once or not at all if its outcome
is unknown, in the order in which its producer wrote. The copies must be exactly the records below the committed offsets
of their application. A consumer that reads during the faults must have seen nothing else.

With `--compiled`, half of the faults act on a sandbox of this build and half at the same time on one with compiled
modules. The copy of the sources is compiled when the folder does not exist, which takes a C compiler and some minutes.
The exit status is 0 when nothing was violated.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from scripts.endurance.foreign_clients import WRITERS, Writer, bounded
from scripts.endurance.foreign_copiers import COPIERS, Copier, positions_after
from scripts.endurance.foreign_readers import (
    commit_start,
    committed_offsets,
    read_with_kafka_python,
    read_with_librdkafka,
    watch,
)
from scripts.endurance.kept_sandbox import KeptSandbox, disturb
from scripts.endurance.ledger import PARTITIONS, Ledger, Outcome, copy_violations, vanished, violations
from scripts.test_compiled import compile_copy

TOPIC: Final = "ledger"
ABORT_SHARE: Final = 0.15
ABANDON_SHARE: Final = 0.03
#: Between two transactions of a producer, so that the topic stays small enough to read at the end.
PAUSE_S: Final = 0.02
#: Calls of clients that take longer are left behind; librdkafka's send_offsets_to_transaction outlasts its own limit.
HANG_S: Final = 40.0


class Closable(Protocol):
    """A client that is closed when it is broken."""

    def close(self) -> None:
        """Close without waiting."""


class Result(NamedTuple):
    """What happened on a sandbox."""

    faults: Counter[str]
    transactions: Counter[str]
    copies: Counter[str]
    violations: list[str]

    def text(self) -> str:
        """Return it as lines, with the first violations."""
        lines = self.violations[:20]
        for title, counts in (("transactions", self.transactions), ("copies", self.copies), ("faults", self.faults)):
            lines.append(f"{title}: " + ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())))
        total = self.transactions.total() + self.copies.total()
        lines.append(f"{self.faults.total()} faults, {total:,} transactions: {len(self.violations)} violations")
        return "\n".join(lines)


def produce(kind: str, bootstrap: str, ledger: Ledger, ended: threading.Event, rng: random.Random) -> None:
    """Write transactions until the end, and note each response."""
    writer: Writer | None = None
    number = 0
    while not ended.wait(PAUSE_S):
        name = f"{kind}:{number}"
        try:
            if writer is None:
                writer = WRITERS[kind](bootstrap, kind)
            wanted = choose_outcome(rng)
            ledger[name] = Outcome.UNKNOWN
            values = [f"{name}:{place}".encode() for place in range(PARTITIONS)]
            bounded(partial(writer.write, TOPIC, values, wanted), HANG_S)
            ledger[name] = wanted
        except Exception:  # noqa: BLE001 - clients raise what they like; the ledger has the outcome
            wanted = Outcome.UNKNOWN
        if wanted not in (Outcome.COMMITTED, Outcome.ABORTED):
            discard(writer)
            writer = None
        number += 1
    discard(writer)


def choose_outcome(rng: random.Random) -> Outcome:
    """Choose how a transaction ends."""
    chosen = rng.random()
    if chosen < ABANDON_SHARE:
        return Outcome.ABANDONED
    return Outcome.ABORTED if chosen < ABANDON_SHARE + ABORT_SHARE else Outcome.COMMITTED


def copy(
    kind: str,
    bootstrap: str,
    acknowledged: dict[int, int],
    counts: Counter[str],
    ended: threading.Event,
    rng: random.Random,
) -> None:
    """Copy the topic until the end, and note the offsets of acknowledged commits."""
    copier: Copier | None = None
    while not ended.wait(PAUSE_S):
        outcome = Outcome.UNKNOWN
        try:
            if copier is None:
                copier = COPIERS[kind](bootstrap, f"copier-{kind}", TOPIC, f"copies-{kind}")
            records = bounded(copier.read, HANG_S)
            if not records:
                continue
            wanted = Outcome.ABORTED if rng.random() < ABORT_SHARE else Outcome.COMMITTED
            bounded(partial(copier.write, records, commit=wanted is Outcome.COMMITTED), HANG_S)
            outcome = wanted
            if outcome is Outcome.COMMITTED:
                acknowledged |= positions_after(records)
        except Exception:  # noqa: BLE001 - as above
            outcome = Outcome.UNKNOWN
        counts[f"{kind} {outcome.value}"] += 1
        if outcome is not Outcome.COMMITTED:  # The next copier begins at the committed offsets.
            discard(copier)
            copier = None
    discard(copier)


def discard(client: Closable | None) -> None:
    """Close a client that may be broken."""
    try:
        if client is not None:
            bounded(client.close, HANG_S)
    except Exception:  # noqa: BLE001 - as above
        return


def check(sandbox: KeptSandbox, fault_count: int, gap_s: float, rng: random.Random) -> Result:
    """Run the clients and the faults on a sandbox, and compare the ledger with what is committed."""
    sandbox.start()
    bootstrap = sandbox.bootstrap
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    topics = [TOPIC, *(f"copies-{kind}" for kind in COPIERS)]
    for created in admin.create_topics([NewTopic(topic, PARTITIONS, 3) for topic in topics]).values():
        created.result(60)
    for kind in COPIERS:
        commit_start(bootstrap, f"copier-{kind}", TOPIC)
    ledger: Ledger = {}
    acknowledged: dict[str, dict[int, int]] = {kind: {} for kind in COPIERS}
    copies: Counter[str] = Counter()
    watched: dict[tuple[int, int], str] = {}
    ended = threading.Event()
    threads = [threading.Thread(target=watch, args=(bootstrap, TOPIC, watched, ended))]
    for kind in WRITERS:
        own = random.Random(rng.random())
        threads.append(threading.Thread(target=produce, args=(kind, bootstrap, ledger, ended, own)))
        threads.append(threading.Thread(target=copy, args=(kind, bootstrap, acknowledged[kind], copies, ended, own)))
    for thread in threads:
        thread.start()
    try:
        faults = disturb(sandbox, fault_count, gap_s, rng)
        time.sleep(gap_s)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    for kind in WRITERS:  # What was left open is aborted.
        discard(WRITERS[kind](bootstrap, kind))
        discard(WRITERS[kind](bootstrap, f"copier-{kind}"))
    found = []
    for reader, read in (("librdkafka", read_with_librdkafka), ("kafka-python", read_with_kafka_python)):
        source = read(bootstrap, TOPIC)
        texts = violations(ledger, source) + vanished(watched, source)
        for kind in COPIERS:
            offsets = committed_offsets(bootstrap, f"copier-{kind}", TOPIC)
            contradictions = copy_violations(source, read(bootstrap, f"copies-{kind}"), offsets, acknowledged[kind])
            texts += [f"copier of {kind}: {text}" for text in contradictions]
        found += [f"read by {reader}: {text}" for text in texts]
    transactions = Counter(f"{name.partition(':')[0]} {outcome.value}" for name, outcome in ledger.items())
    return Result(faults, transactions, copies, found)


def check_build(place: Path, sources: Path | None, options: argparse.Namespace, fault_count: int) -> int:
    """Run the check on one build, print what happened, and return the number of violations."""
    name = "compiled modules" if sources else "pure Python"
    sandbox = KeptSandbox(place, sources)
    try:
        result = check(sandbox, fault_count, options.gap, random.Random(f"{options.seed} {name}"))
    finally:
        sandbox.stop()
    print(f"{name}\n{result.text()}", flush=True)
    if result.violations and options.keep:
        shutil.copytree(place, options.keep / place.name)
    return len(result.violations)


def main() -> int:
    """Run the check, and return the exit status."""
    parser = argparse.ArgumentParser(description="See the module.")
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--gap", type=float, default=1.5, help="seconds between the end of a fault and the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", type=Path, metavar="FOLDER", help="half of the faults on this compiled copy")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy the files of a sandbox with violations here")
    options = parser.parse_args()
    logging.disable()  # Clients log every fault.
    sys.unraisablehook = lambda _: None  # Clients that were left behind fail to close when they are collected.
    builds: list[Path | None] = [None]
    if options.compiled:
        if not options.compiled.exists():
            compile_copy(options.compiled)
        builds.append(options.compiled.absolute())
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(builds)) as pool:
        checks = []
        for number, sources in enumerate(builds):
            place = Path(folder) / str(number)
            place.mkdir()
            checks.append(pool.submit(check_build, place, sources, options, options.faults // len(builds)))
        return 1 if sum(one.result() for one in checks) else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # Threads of clients that hang are left behind.
