"""Times that a report does not take from the logs: it says so, and never shows a file's last change as a fact."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eosctl.findings.log_times import assumption_texts, is_dated, period_text
from eosctl.logs.layout_catalog import LAYOUTS
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LAYOUTS_WITHOUT_DATE
from eosctl.model.log_findings import LogFindings
from eosctl.services.log_findings import judge_scan
from tests.logs.judging import judge

REFUSED = (
    "org.apache.kafka.common.KafkaException: Unexpected error in InitProducerIdResponse; The transaction timeout is "
    "larger than the maximum value allowed by the broker (as configured by transaction.max.timeout.ms).\n"
    "\tat org.apache.kafka.clients.producer.internals.TransactionManager$InitProducerIdHandler.handle(T.java:9)\n"
)
LOADED = (
    "[2026-03-02 01:00:02,120] INFO [TransactionCoordinator id=1] Startup complete. (kafka.coordinator.Coordinator)\n"
    "[2026-03-02 01:00:04,611] ERROR [Transaction State Manager 1]: Error loading transactions from transaction log "
    "__transaction_state-23 (kafka.coordinator.transaction.TransactionStateManager)\n"
    "org.apache.kafka.common.errors.CorruptRecordException: Record size 0 is less than the minimum (14)\n"
    "[2026-03-02 01:00:05,640] INFO [Transaction State Manager 1]: Loading is complete. (kafka.coordinator.Manager)\n"
)
CLOCK = (
    "08:15:04.330 [heartbeat | recon] INFO  o.a.k.Coordinator - [Consumer clientId=recon-1, groupId=recon] ready\n"
    "08:16:04.402 [main] ERROR c.a.recon.Loop - abort failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(false)\n"
)
SAVED_MS = 1_795_219_200_000 + 40_000_000


def findings(folder: Path, text: str) -> LogFindings:
    path = folder / "app.log"
    path.write_text(text)
    os.utime(path, (SAVED_MS / 1000, SAVED_MS / 1000))
    return judge_scan(scan_paths([path]))


def start_of(folder: Path, text: str) -> str:
    found = findings(folder, text)
    (incident,) = found.incidents
    return period_text(incident, found.sources)[:19]


def test_a_file_without_times_has_no_known_period(tmp_path: Path) -> None:
    found = findings(tmp_path, REFUSED)
    (incident,) = found.incidents
    assert not is_dated(incident, found.sources)
    assert period_text(incident, found.sources).startswith("unknown: its records have no time")
    assert any("have no time" in text for text in assumption_texts(found))


def test_a_clock_without_a_date_is_named(tmp_path: Path) -> None:
    texts = list(assumption_texts(findings(tmp_path, CLOCK)))
    assert any("without a date" in text for text in texts)
    assert not any("have no time" in text for text in texts)


def test_times_with_a_zone_need_no_assumption(tmp_path: Path) -> None:
    text = "2026-10-28T13:21:11.004Z ERROR [main] app.Loop - the transaction ended\n" + REFUSED
    assert list(assumption_texts(findings(tmp_path, text))) == []


@pytest.mark.parametrize("stamp", ["2026-10-28 13:21:11", "2026-10-28 13:21:11,004", "Oct 28, 2026 @ 13:21:11.004"])
def test_a_stamp_above_a_trace_is_its_time(stamp: str, tmp_path: Path) -> None:
    assert start_of(tmp_path, f"{stamp}\n{REFUSED}") == "2026-10-28T13:21:11"


@pytest.mark.parametrize("name", ["kfk-1", "broker1", "kafka.example.org", "prod-kafka-0"])
def test_a_name_and_a_blank_may_precede_lines(name: str, tmp_path: Path) -> None:
    assert start_of(tmp_path, "".join(f"{name} {line}\n" for line in LOADED.splitlines())) == "2026-03-02T01:00:04"


def test_quotes_of_quotes_are_removed(tmp_path: Path) -> None:
    quoted = "> On Tuesday:\n>\n" + "".join(f"> > {line}\n" for line in CLOCK.splitlines()) + "> which version?\n"
    assert start_of(tmp_path, quoted) == "2026-11-21T08:16:04"


def test_layouts_without_a_date_exist() -> None:
    assert {layout.name for layout in LAYOUTS} >= LAYOUTS_WITHOUT_DATE


WAITS = (
    "[INFO] fetch offsets failed with retryable partition error, waiting 1s and retrying; group: bins, topic: "
    "raw.bins, partition: 4, err: UNSTABLE_OFFSET_COMMIT: There are unstable offsets that need to be cleared.\n"
)
IDLE = "2024-02-11T03:{}:09.140Z WRN no records for 10m group=bins lag=7012\n"


@pytest.mark.parametrize("later", ["27", ""], ids=["blocked", "once"])
def test_a_programs_alarms_date_undated_retries(later: str, tmp_path: Path) -> None:
    alarms = [IDLE.format(minute) + WAITS for minute in ("17", later) if minute]
    found = judge(tmp_path, {"bins.log": "2024-02-11T03:07:08.900Z INF started\n" + 2 * WAITS + "".join(alarms)})
    assert [one.kind for one in found] == ["offsets_unstable"] * bool(later)
    if found:
        assert (found[0].subject["group"], found[0].subject["topic-partition"]) == ("bins", "raw.bins-4")
        assert found[0].t_end_ms - found[0].t_start_ms == 600_000
        assert "eosctl txn hanging" in found[0].next_step
