"""A task that scans stored files: the members of archives, and files that changed since they were listed."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import PurePosixPath
from typing import Any

import pytest

from eosctl.logs.files.sources import OTHER_NAME
from spark_log_analytics.stored_files import EMPTY_ARCHIVE, Reading, scanner_of

pa = pytest.importorskip("pyarrow")

FENCED = (
    b"[2026-11-20 10:00:00,000] ERROR [Producer clientId=a, transactionalId=pay-1] Aborting producer batches due to "
    b"fatal error (org.apache.kafka.clients.producer.internals.Sender)\n"
    b"org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
)
LISTED_MS = 1_794_000_000_000


def scanned(
    name: str,
    content: bytes,
    listed_length: int | None = None,
    modified_ms: int = LISTED_MS,
    reading: Reading = Reading(),  # noqa: B008 (it cannot be changed)
) -> tuple[list[str], dict[str, Any]]:
    """Return the files of the events, and the reports by file, of a task with one file."""
    row = {
        "path": f"s3a://logs/{name}",
        "content": content,
        "modified_ms": modified_ms,
        "listed_length": len(content) if listed_length is None else listed_length,
        "listed_ms": LISTED_MS,
    }
    rows: list[dict[str, Any]] = []
    for batch in scanner_of(reading)(iter([pa.RecordBatch.from_pylist([row])])):
        rows += batch.to_pylist()
    reports = [row["report"] for row in rows if row["report"]]
    events = [row["file"] for row in rows if row["report"] is None and row["counts"] is None]
    return events, {report["summary"]["file"]: report for report in reports}


def zipped(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, FENCED)
    return target.getvalue()


def test_an_unchanged_file_has_no_change() -> None:
    events, reports = scanned("a.log", FENCED)
    assert events == ["s3a://logs/a.log"]
    report = reports["s3a://logs/a.log"]
    assert (report["archive"], report["change"], report["reason"]) == ("", "", "")
    assert report["summary"]["event_count"] == 1


@pytest.mark.parametrize(
    ("listed_length", "modified_ms", "change"),
    [
        (len(FENCED) + 7, LISTED_MS, f"it has become smaller: {len(FENCED)} bytes of {len(FENCED) + 7}"),
        (9, LISTED_MS, f"it has grown or was replaced: {len(FENCED)} bytes, when listed 9"),
        (len(FENCED), LISTED_MS + 1, "it was replaced by one of the same size: changed at 2026-11-06T"),
    ],
)
def test_a_file_that_changed_since_its_listing_is_named(listed_length: int, modified_ms: int, change: str) -> None:
    _, reports = scanned("a.log", FENCED, listed_length, modified_ms)
    assert reports["s3a://logs/a.log"]["change"].startswith(change)


@pytest.mark.parametrize(
    ("content", "named", "reason"),
    [
        (b"# It stopped\n\n" + FENCED, "", ""),
        (b"# How to start\n", "", OTHER_NAME),
        (b"# How to start\n", "/ticket.md", ""),
    ],
)
def test_a_ticket_is_read_for_its_records_or_its_name(content: bytes, named: str, reason: str) -> None:
    reading = Reading(named=frozenset({PurePosixPath(named)}))
    _, reports = scanned("ticket.md", content, reading=reading)
    assert reports["s3a://logs/ticket.md"]["reason"] == reason


def test_members_of_a_zip_are_read_below_its_url() -> None:
    events, reports = scanned("b.zip", zipped("app/a.log", "app/notes.py"))
    assert events == ["s3a://logs/b.zip/app/a.log"]
    other = reports.pop("s3a://logs/b.zip/app/notes.py")
    assert (other["reason"], other["is_failure"]) == (OTHER_NAME, False)
    assert reports.keys() == set(events)
    assert reports[events[0]]["archive"] == "s3a://logs/b.zip"


def test_members_of_a_compressed_tar_are_read_below_its_url() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name in ("a.log", "b.log"):
            member = tarfile.TarInfo(name)
            member.size = len(FENCED)
            archive.addfile(member, io.BytesIO(FENCED))
    events, reports = scanned("logs.tar.gz", target.getvalue(), listed_length=1)
    assert events == ["s3a://logs/logs.tar.gz/a.log", "s3a://logs/logs.tar.gz/b.log"]
    assert all(report["change"].startswith("it has grown or was replaced") for report in reports.values())


def test_a_damaged_archive_is_a_failure() -> None:
    events, reports = scanned("b.zip", zipped("a.log")[:-30])
    assert events == []
    assert "not read to its end (zip)" in reports["s3a://logs/b.zip"]["reason"]
    assert reports["s3a://logs/b.zip"]["is_failure"]


def test_an_archive_without_logs_is_named() -> None:
    _, reports = scanned("b.zip", zipped("notes.py"))
    assert reports["s3a://logs/b.zip"]["reason"] == EMPTY_ARCHIVE
    assert not reports["s3a://logs/b.zip"]["is_failure"]
