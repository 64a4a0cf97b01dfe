"""Logs that were read from pictures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eosctl.logs.carriers.misread import unwrap_misread
from eosctl.logs.carriers.wrappers import detect_wrapper
from tests.logs.judging import judge

FENCED = (
    "Transiting to fatal error state due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer "
    "producer with the same transactionalld which fences the current one."
)
LOGGER = "(org.apache.kafka.clients.producer.internals.TransactionManager)"


@pytest.mark.parametrize(
    ("line", "corrected"),
    [
        (
            b"[2O26-O3-l4 l0:22:3l,9O4] lNFO [Producer clientld=a]",
            b"[2026-03-14 10:22:31,904] INFO [Producer clientId=a]",
        ),
        (b"2026-03-14 10;22;31.904 ERROR", b"2026-03-14 10:22:31.904 ERROR"),
        (b"20Z6-03-14 10;22;31.904 ERR0R lnvalidTxnState", b"2026-03-14 10:22:31.904 ERROR InvalidTxnState"),
        (b"l0:22:31 INF0 memberld=oil-10", b"10:22:31 INFO memberId=oil-10"),
        (b"[2026-03-14 10:22:31,904] INFO [Producer clientId=a]", None),
        (b"00:1B:44:11:3A:B7 is the address of oil-1", None),
        (b"OO:II:ll are letters", None),
        (b"", None),
    ],
)
def test_only_misread_stamps_are_corrected(line: bytes, corrected: bytes | None) -> None:
    found = unwrap_misread(line)
    assert (found.text if found else None) == corrected


def test_a_picture_of_a_log_has_its_incident(tmp_path: Path) -> None:
    text = (
        "[2O26-O3-l4 lO:22:31,9O4] lNFO [Producer clientld=producer-mast-3, transactionalld=mast-3] "
        f"{FENCED} {LOGGER}\n"
        "java.lang.IllegalStateException: closed\n"
        "\tat com.acme.Mast.send(Mast.java:71)\n"
    )
    [found] = judge(tmp_path, {"picture.txt": text})
    assert found.kind == "producer_fenced"
    assert found.subject["transactional.id"] == "mast-3"
    assert datetime.fromtimestamp(found.t_start_ms / 1000, UTC).isoformat() == "2026-03-14T10:22:31.904000+00:00"


def test_a_log_of_a_program_is_left_as_it_is() -> None:
    assert detect_wrapper(b"[2026-03-14 10:22:31,904] INFO Kafka version: 4.1.0 (AppInfoParser)\n") == ""
