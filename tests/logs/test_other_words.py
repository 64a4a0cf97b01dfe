"""Messages of other releases and clients about faults that the recorded logs have in one form."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

STARTED = "2026-11-21 09:29:30,629 INFO [MainThread] push: up with transactional.id=stock-5\n"
FAILED = "2026-11-21 09:29:34,801 ERROR [MainThread] push: send failed: {}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            (
                "kafka: invalid configuration (Attempt to produce message larger than configured "
                "Producer.MaxMessageBytes: 2000000 > 1000000)"
            ),
            "client",
        ),
        (
            (
                "[Error 10] MessageSizeTooLargeError: The message is 2000000 bytes when serialized which is larger "
                "than the maximum request size you have configured with the max_request_size configuration"
            ),
            "client",
        ),
        (
            (
                "The message is 2000000 bytes when serialized which is larger than the total memory buffer you have "
                "configured with the buffer.memory configuration."
            ),
            "client",
        ),
        ("kafka server: Message was too large, server rejected it to avoid allocation error", "broker"),
    ],
)
def test_the_limit_of_the_client_or_the_broker_is_named(text: str, cause: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"push.log": STARTED + FAILED.format(text)})
    assert (found.root_cause, found.subject["transactional.id"]) == (f"record-above-{cause}-limit", "stock-5")


@pytest.mark.parametrize(
    "text",
    [
        "read_committed consumer is stuck on ledger-1 for {} s: last stable offset 82, high watermark 300",
        "no progress on ledger-1 for {} s: position=82, lastStable=82, highWatermark=300",
        "stalled at LSO=82 of partition ledger-1 since {}s, end offset 300",
        "ledger-1 has not moved for {} s: position=82 last-stable-offset=82 high-watermark=300",
        "partition ledger-1 hasn't advanced for {} s (LSO 82, HW 300)",
        "no rows from ledger-1 for {} s; last stable offset 82, high watermark 300",
        "position of ledger-1 unchanged for {} s, LSO=82 HW=300",
        "ledger-1: 82 again for {} s, last-stable-offset=82, end offset 300",
    ],
)
def test_a_stalled_reader(text: str, tmp_path: Path) -> None:
    line = "2026-11-21 09:29:{} WARN [main] a.Reader - {}\n"
    log = "".join(line.format(f"{20 + waited}.100", text.format(waited)) for waited in (5, 10, 15))
    (found,) = judge(tmp_path, {"reader.log": log})
    assert (found.kind, found.subject) == (
        "hanging_transaction",
        {"topic-partition": "ledger-1", "startOffset": "82"},
    )


def test_a_disk_error_without_its_logger(tmp_path: Path) -> None:
    broker = (
        "[2026-11-21 09:29:35,437] ERROR Error while appending records to a-0 in dir /var/lib/kafka/data-1\n"
        "[2026-11-21 09:29:35,537] WARN [ReplicaManager broker=2] Stopping serving replicas in dir "
        "/var/lib/kafka/data-1 with uuid Some(abc) because the log directory has failed.\n"
    )
    (found,) = judge(tmp_path, {"broker-2/server.log": broker})
    assert (found.kind, found.subject) == ("log_dir_failure", {"broker": "2", "log.dir": "/var/lib/kafka/data-1"})
    assert len(found.evidence) == 2


def test_a_checkpoint_file_is_not_a_directory(tmp_path: Path) -> None:
    broker = (
        "[2026-11-21 09:29:35,437] ERROR Error while writing to checkpoint file /d/1/replication-offset-checkpoint "
        "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
    )
    (found,) = judge(tmp_path, {"broker-2/server.log": broker})
    assert (found.kind, found.subject) == ("log_dir_failure", {"log.dir": "/d/1", "host": "broker-2"})


def test_an_unreadable_record_is_a_poison_pill(tmp_path: Path) -> None:
    log = (
        "2026-11-21 09:29:05.000 ERROR [main] o.a.k.s.KafkaStreams - stream-client "
        "[clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9] Encountered the following exception during processing and the "
        "registered exception handler opted to SHUTDOWN_CLIENT.\n"
        "org.apache.kafka.streams.errors.StreamsException: Deserialization exception handler is set to fail upon a "
        "deserialization error.\n"
    )
    (found,) = judge(tmp_path, {"clicks.log": log})
    assert (found.kind, found.root_cause, found.subject["application.id"]) == (
        "streams_uncaught_exception",
        "poison-record",
        "clicks",
    )


def test_a_broker_that_lost_all_of_its_directories(tmp_path: Path) -> None:
    broker = "[2026-11-21 09:29:35,437] ERROR Shutdown broker because all log dirs in /d/1, /d/2 have failed "
    (found,) = judge(tmp_path, {"broker-2/server.log": f"{broker}(kafka.log.LogManager)\n"})
    assert (found.kind, found.subject) == ("log_dir_failure", {"log.dir": "/d/1", "host": "broker-2"})
