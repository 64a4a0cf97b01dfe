"""Records that journalctl and grep print: over many lines, without a message, and with lines of context."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths

INITIALIZED = (
    "[2026-10-08 21:14:02,330] INFO [TransactionCoordinator id=3] Initialized transactionalId kiosk-4 with producerId "
    "8120 and producer epoch 6 on partition __transaction_state-17 "
    "(kafka.coordinator.transaction.TransactionCoordinator)"
)
ROLLED_BACK = (
    "\x1b[32m[2026-10-08 21:15:07,912] INFO [TransactionCoordinator id=3] Completed rollback of ongoing transaction "
    "for transactionalId kiosk-4 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\x1b[0m"
)
FORMS = {
    "json": lambda entry: json.dumps(entry),
    "json-pretty": lambda entry: json.dumps(entry, indent=8),
    "json-seq": lambda entry: f"\x1e{json.dumps(entry)}",
    "json-sse": lambda entry: f"data: {json.dumps(entry)}\n",
}
REFUSED = """\
{0}:[2026-11-20 10:00:06,160] INFO [ReplicaManager broker=1] Error processing append operation on partition crates-7 \
(kafka.server.ReplicaManager)
{1}-org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 6230 at offset 70411 in crates-7 \
is 8, which is smaller than the last seen epoch 9
--
{2}-2026-11-20 10:00:07,160 INFO quiet (a.B)
{0}:[2026-11-20 10:00:09,377] INFO [ReplicaManager broker=1] Error processing append operation on partition crates-2 \
(kafka.server.ReplicaManager)
{1}-org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 6231 at offset 70190 in crates-2 \
is 8, which is smaller than the last seen epoch 9
"""


def entry(message: object, stamp: str) -> dict[str, object]:
    values: dict[str, object] = {"__REALTIME_TIMESTAMP": stamp, "_HOSTNAME": "kafka-3", "SYSLOG_IDENTIFIER": "kafka"}
    names = [*values, "MESSAGE", "PRIORITY"]
    random.Random(stamp).shuffle(names)
    return {name: (values | {"MESSAGE": message, "PRIORITY": "6"})[name] for name in names}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2), (1, 1, 0, 2)])
@pytest.mark.parametrize("in_bytes", [False, True])
def test_journald_entries_keep_their_times(tmp_path: Path, form: str, order: tuple[int, ...], in_bytes: bool) -> None:
    entries = (
        entry(INITIALIZED, "1791494042331000"),
        entry(None, "1791494050000000"),
        entry(list(ROLLED_BACK.encode()) if in_bytes else ROLLED_BACK, "1791494107913000"),
    )
    path = tmp_path / "journal.json"
    path.write_text("".join(f"{FORMS[form](entries[number])}\n" for number in order))
    assert [(one.category, one.time_ms) for one in scan_paths([path]).events] == [
        ("INIT_PRODUCER_ID", 1791494042330),
        ("TXN_TIMEOUT_ABORT", 1791494107912),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("/logs/kafka-1/server.log", "kafka-1-a/server.log", "server.log.2026-11-20-10", "./app-2026-11-20.log"),
        *("server.log.1", "catalina.out", "old/server.log-2026-11-20.gz"),
    ],
)
@pytest.mark.parametrize("is_numbered", [False, True])
def test_lines_of_context_belong_to_their_records(tmp_path: Path, name: str, is_numbered: bool) -> None:
    numbers = (":12", "-13", "-11") if is_numbered else ("", "", "")
    path = tmp_path / "hits.txt"
    path.write_text(REFUSED.format(*(f"{name}{number}" for number in numbers)))
    found = [(one.category, one.fields["producer_id"], one.fields["partition"]) for one in scan_paths([path]).events]
    assert found == [("INVALID_PRODUCER_EPOCH", "6230", "crates-7"), ("INVALID_PRODUCER_EPOCH", "6231", "crates-2")]
    assert all(one.time_ms for one in scan_paths([path]).events)
