"""A client that was refused without its id, next to the coordinator's rollback of a transaction that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

BROKER = (
    "[2026-05-06 08:26:52,640] INFO [TransactionCoordinator id=0] Completed rollback of ongoing transaction for "
    "transactionalId {} due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
CLIENT = (
    "2026/05/06 08:12:04 producer {0}: transactions initialized\n"
    "2026/05/06 {1}:08 producer {0}: commit: Transactional API operation (commit_transaction) timed out\n"
    "2026/05/06 {1}:10 [rdkafka#producer-1] [thrd:main]: Fatal error: Broker: Producer attempted an operation with an "
    "old epoch: Failed to end transaction: Broker: Producer attempted an operation with an old epoch\n"
)


@pytest.mark.parametrize(
    ("named", "minute", "count"),
    [("meter-7", "08:27", 2), ("other-1", "08:27", 3), ("meter-7", "08:59", 3)],
    ids=["its own", "another one", "much later"],
)
def test_a_refused_client_belongs_to_its_rollback(named: str, minute: str, count: int, tmp_path: Path) -> None:
    logs = {
        "server.log": BROKER.format("meter-7") + BROKER.format("gauge-2"),
        "ingest.log": CLIENT.format(named, minute),
    }
    found = judge(tmp_path, logs)
    assert len(found) == count
    first = next(one for one in found if one.subject.get("transactional.id") == "meter-7")
    assert ("its program learned so at" in first.explanation) == (count == 2)
    assert ("Add the client's log" in first.next_step) != (count == 2)
