"""What a planned stop cuts off is not a fault; the same words without a stop are."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

JAVA = "2026-01-19 22:00:0{} {} {} [] - {}\n"
SENDER = "org.apache.kafka.clients.producer.internals.Sender"
ABORTED = "[Producer clientId=p, transactionalId=out-0-1] Aborting producer batches due to fatal error\n{}"
FORCED = "org.apache.kafka.common.KafkaException: Producer is closed forcefully."
CORRUPT = "org.apache.kafka.common.errors.CorruptRecordException: The message failed its CRC checksum."
SPARK = "26/05/21 04:30:0{} {} {}: {}\n"
ENDED = "Query rates [id = 11, runId = 12] terminated with error\norg.apache.spark.SparkException: {}"
CANCELED = "Job 1201 cancelled because SparkContext was shut down"
LOST = "Job aborted: KafkaException: Failed to construct kafka consumer"
OTEL = "2026-03-30T01:22:{}.120Z\tinfo\tretry_sender.go:118\tExporting failed. {}\t{}\n"
NO_LEADER = (
    '{"kind": "exporter", "name": "kafka", "error": "Failed to deliver 12 messages due to kafka server: Tried to send '
    'a message to a replica that is not the leader for some partition. Your metadata is out of date"}'
)


def _worst(folder: Path, text: str) -> Severity:
    found = judge(folder, {"app.log": text})
    return min((one.severity for one in found), key=lambda severity: severity.rank, default=Severity.INFO)


@pytest.mark.parametrize(("cause", "severity"), [(FORCED, Severity.INFO), (CORRUPT, Severity.ERROR)])
def test_a_producer_that_is_closed_while_it_sends(cause: str, severity: Severity, tmp_path: Path) -> None:
    text = JAVA.format(3, "ERROR", SENDER, ABORTED.format(cause)) + JAVA.format(4, "INFO", "x.Job", "state FINISHED")
    assert _worst(tmp_path, text) is severity


@pytest.mark.parametrize(("cause", "severity"), [(CANCELED, Severity.INFO), (LOST, Severity.ERROR)])
def test_a_query_that_ends_with_its_context(cause: str, severity: Severity, tmp_path: Path) -> None:
    text = SPARK.format(0, "ERROR", "MicroBatchExecution", ENDED.format(cause))
    assert _worst(tmp_path, text) is severity


@pytest.mark.parametrize(
    ("words", "severity"),
    [
        ("Will retry the request after interval.", Severity.INFO),
        ("No more retries left. Dropping data.", Severity.ERROR),
    ],
)
def test_a_batch_that_is_sent_again_was_not_given_up(words: str, severity: Severity, tmp_path: Path) -> None:
    lines = [OTEL.format(second, words, NO_LEADER) for second in (10, 13)]
    rest = "2026-03-30T05:00:00.000Z\tinfo\tservice.go:228\tStarting shutdown...\n"
    assert _worst(tmp_path, "".join(lines) + rest) is severity
