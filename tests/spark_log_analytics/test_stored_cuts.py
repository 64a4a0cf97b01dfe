"""Records that rotation cut are read as a whole in stored logs, too, also between the members of archives."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from eosctl.model.log_event import SourceSummary
from spark_log_analytics.rows import programs_of
from spark_log_analytics.stored_cuts import continued_files, cut_reader_of
from spark_log_analytics.stored_files import FileReport, Reading, Seam, scanner_of
from tests.logs.test_seams import BEFORE, BEHIND, CUT, LATER, STAMP, cri

pa = pytest.importorskip("pyarrow")

URL = "s3a://logs"
PLACE = CUT.index("\tat")
PARTS = {"app.log.1": BEFORE + CUT[:PLACE], "app.log": CUT[PLACE:] + BEHIND}


def zipped(files: Mapping[str, str]) -> dict[str, bytes]:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return {"bundle.zip": target.getvalue()}


def plain(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


def wrapped(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: cri(text, LATER if name == "app.log" else STAMP).encode() for name, text in files.items()}


def rows_of(task: Callable[[Any], Any], files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    state = {"modified_ms": 1_794_000_000_000, "listed_ms": 1_794_000_000_000}
    rows = [
        {"path": f"{URL}/{name}", "content": content, "listed_length": len(content), **state}
        for name, content in files.items()
    ]
    return [row for batch in task(iter([pa.RecordBatch.from_pylist(rows)])) for row in batch.to_pylist()]


def reports_of(files: Mapping[str, bytes]) -> list[FileReport]:
    reports = [row["report"] for row in rows_of(scanner_of(Reading()), files) if row["report"]]
    return [
        FileReport(
            **{
                **report,
                "summary": SourceSummary(
                    **{**report["summary"], "programs": programs_of(report["summary"]["programs"])}
                ),
                "seam": None if report["seam"] is None else Seam(**report["seam"]),
            }
        )
        for report in reports
    ]


@pytest.mark.parametrize(
    ("form", "folder"), [(plain, URL), (zipped, f"{URL}/bundle.zip"), (wrapped, URL)], ids=["plain", "zip", "cri"]
)
def test_a_stored_record_that_rotation_cut_is_one(
    form: Callable[[Mapping[str, str]], dict[str, bytes]], folder: str
) -> None:
    files = form(PARTS)
    continued = continued_files(reports_of(files))
    assert {older: one.newer for older, one in continued.items()} == {f"{folder}/app.log.1": f"{folder}/app.log"}
    [cut] = rows_of(cut_reader_of(continued, Reading()), files)
    assert (cut["older"], cut["newer"]) == (f"{folder}/app.log.1", f"{folder}/app.log")
    [event] = pa.ipc.open_stream(cut["events"]).read_all().to_pylist()
    assert (event["file"], event["category"]) == (f"{folder}/app.log.1", "PRODUCER_FENCED")
    assert (event["offset"], event["line"]) == (cut["offset"], 2)


def test_whole_records_are_not_read_again() -> None:
    whole = {"app.log.1": BEFORE + CUT, "app.log": BEHIND}
    assert continued_files(reports_of(plain(whole))) == {}
