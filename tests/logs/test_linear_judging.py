"""The judge's work grows linearly with the logs, measured in bytecodes, not in seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from benchmarks.hot_paths import bytecodes
from eosctl.logs.incidents.joining.repeats import LISTED
from eosctl.logs.incidents.judge import judge_logs
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "logs"
KEPT: Final = 6
"""Number of events of one file and category that a scenario keeps: more repetitions only slow down the count."""
PAUSE_MS: Final = 1_800_000
IDS: Final = frozenset({"transactional_id", "producer_id", "group", "application_id", "client_id", "member_client"})


@cache
def scenarios() -> list[tuple[Sequence[LogEvent], Sequence[SourceSummary]]]:
    found = []
    for folder in sorted(one for one in FIXTURES.iterdir() if one.is_dir()):
        scan = scan_paths([folder])
        count: Counter[tuple[str, str]] = Counter()
        kept = []
        for event in scan.events:
            count[event.file, event.category] += 1
            if count[event.file, event.category] <= KEPT:
                kept.append(event)
        found.append((kept, scan.sources))
    return found


def judge_counted(events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> tuple[Sequence[Incident], int]:
    """Judge, and count the executed bytecodes."""
    incidents: list[Incident] = []
    count = bytecodes(lambda: incidents.extend(judge_logs(events, sources).incidents))
    return incidents, count


def repeated(copy_count: int, *, with_other_ids: bool) -> tuple[list[LogEvent], list[SourceSummary]]:
    """Return the events of all scenarios, repeated in the same files, with the same clients or with others."""
    events, sources, start_ms = [], [], 0
    for recorded, files in scenarios():
        times = [event.time_ms for event in recorded if event.time_ms is not None]
        span_ms = max(times) - min(times) + PAUSE_MS
        for number in range(copy_count):
            by_ms = start_ms + number * span_ms - min(times)
            for event in recorded:
                other = {name: f"{value}{number}" for name, value in event.fields.items() if name in IDS}
                fields = {**event.fields, **other} if with_other_ids else event.fields
                time_ms = None if event.time_ms is None else event.time_ms + by_ms
                events.append(event._replace(time_ms=time_ms, offset=event.offset + number * 10**8, fields=fields))
        end_ms = start_ms + span_ms * copy_count
        sources += [source._replace(first_ms=start_ms, last_ms=end_ms - PAUSE_MS) for source in files]
        start_ms = end_ms + PAUSE_MS
    return events, sources


@pytest.mark.parametrize("with_other_ids", [False, True], ids=["same clients", "other clients"])
def test_twice_the_logs_take_twice_the_work(*, with_other_ids: bool) -> None:
    def work(copy_count: int) -> int:
        events, sources = repeated(copy_count, with_other_ids=with_other_ids)
        incidents, count = judge_counted(events, sources)
        kinds = {one.kind for one in incidents}
        assert {"coordinator_failover", "hanging_transaction", "not_enough_replicas", "producer_fenced"} <= kinds
        return count

    work(1)  # reads the catalogs, once
    assert work(4) < 2.1 * work(2)


def coordinator_log(refusal_count: int) -> str:
    """Return a broker's log: each second a producer is initialized, and refused with the previous epoch."""
    lines = []
    for number in range(refusal_count):
        minute, second = divmod(number, 60)
        stamp = f"[2026-11-26 {10 + minute // 60}:{minute % 60:02d}:{second:02d}"
        lines.append(
            f"{stamp},000] INFO [TransactionCoordinator id=1] Initialized transactionalId t-{number} with producerId "
            f"{1000 + number} and producer epoch 5 on partition __transaction_state-{number % 50} "
            "(kafka.coordinator.transaction.TransactionCoordinator)"
        )
        lines.append(
            f"{stamp},500] ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-0 "
            "(kafka.server.ReplicaManager)"
        )
        lines.append(
            "org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer "
            f"{1000 + number} at offset {number} in orders-0 is 4, which is smaller than the last seen epoch 5"
        )
    return "\n".join(lines) + "\n"


def test_twice_the_refusals_take_twice_the_work(tmp_path: Path) -> None:
    def work(count: int) -> int:
        path = tmp_path / str(count) / "server.log"
        path.parent.mkdir()
        path.write_text(coordinator_log(count))
        scan = scan_paths([path])
        incidents, executed = judge_counted(scan.events, scan.sources)
        writers = [one for one in incidents if one.root_cause == "zombie-writer"]
        names = [name for one in writers for name in one.subject.get("transactional.ids", ("t-0",))]
        assert names == [f"t-{number}" for number in range(min(count, LISTED))]
        assert count == 1 or f"{count} transactional ids" in writers[0].explanation
        return executed

    work(1)  # reads the catalogs, once
    assert work(200) < 2.1 * work(100)


THROWN = "org.apache.kafka.common.errors"
AT_ONCE = {
    "fenced": f"Transiting to fatal error state due to {THROWN}.ProducerFencedException: There is a newer producer",
    "unanswered": f"Aborting producer batches due to {THROWN}.TimeoutException: Timeout expired after 60000ms while "
    "awaiting InitProducerId",
}


@pytest.mark.parametrize("words", AT_ONCE.values(), ids=AT_ONCE)
def test_twice_the_clients_of_one_moment_take_twice_the_work(words: str, tmp_path: Path) -> None:
    def work(count: int) -> int:
        path = tmp_path / str(count) / "app.log"
        path.parent.mkdir()
        clients = (f"[Producer clientId=p-{one}, transactionalId=t-{one}]" for one in range(count))
        logger = "org.apache.kafka.clients.producer.internals.TransactionManager"
        path.write_text("".join(f"[2026-11-21 09:00:00,123] ERROR {one} {words} ({logger})\n" for one in clients))
        scan = scan_paths([path])
        incidents, executed = judge_counted(scan.events, scan.sources)
        assert incidents
        return executed

    work(1)  # reads the catalogs, once
    assert work(400) < 2.1 * work(200)
