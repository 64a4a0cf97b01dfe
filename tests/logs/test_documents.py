"""Records in one JSON document, as exported by consoles and search servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.carriers.documents import holds_records, pieces_of
from eosctl.logs.scan import scan_paths

THROWN = "org.apache.kafka.common.errors.ProducerFencedException: newer epoch\n\tat a.B.c(B.java:1)"
RECORDS = [
    {"timestamp": f"2026-11-21T09:31:2{second}.658Z", "severity": level, "message": text, "hostname": "web-ä"}
    for second, level, text in ((1, "INFO", "on"), (2, "ERROR", f"failed\n{THROWN}"), (3, "INFO", "off"))
]
FORMS = {
    "one below the other": "\n".join(json.dumps(one, indent=2, ensure_ascii=False) for one in RECORDS),
    "a list": json.dumps(RECORDS, indent=1, ensure_ascii=False),
    "a list in one line": json.dumps(RECORDS, ensure_ascii=False),
    "an answer of a service": json.dumps({"events": RECORDS, "nextToken": "x"}, indent=2, ensure_ascii=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_records_of_a_document_keep_their_positions(form: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(FORMS[form], encoding="utf-8")
    scan = scan_paths([path])
    (event,) = scan.events
    assert event.exception is not None and event.exception.class_name.endswith("ProducerFencedException")
    assert (event.level, event.host, event.time_assumed) == ("ERROR", "web-ä", False)
    data = path.read_bytes()
    assert data[event.offset :].lstrip().startswith(b"{") and b'"ERROR"' in data[event.offset : event.offset + 120]
    assert event.line == data[: event.offset].count(b"\n") + 1
    assert (scan.sources[0].event_count, scan.sources[0].unmatched_line_count) == (3, 0)


def test_exported_lines_are_read_as_the_original_lines(tmp_path: Path) -> None:
    entries = [
        {"timestamp": "2026-11-21T09:31:22Z", "textPayload": f"2026-11-21 09:31:22,658 ERROR [main] a.B - {text}"}
        for text in (f"failed\n{THROWN}", "late")
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(entries, indent=2))
    assert [(event.logger, event.exception is not None) for event in scan_paths([path]).events] == [
        ("a.B", True),
        ("a.B", False),
    ]


def test_results_of_splunk_graylog_and_azure_are_read(tmp_path: Path) -> None:
    stamp = "2026-11-21T09:31:22.000+00:00"
    lines = [f"2026-11-21 09:31:22,658 ERROR [main] a.B - {text}" for text in (f"failed\n{THROWN}", "late")]
    rows = [{"_time": stamp, "host": "web-1", "source": "/var/log/b.log", "_raw": line} for line in lines]
    hits = [{"index": "g-0", "message": {"timestamp": stamp, "source": "web-1", "message": line}} for line in lines]
    documents = {
        "export": "\n".join(json.dumps({"preview": False, "offset": n, "result": row}) for n, row in enumerate(rows)),
        "results": json.dumps({"preview": False, "messages": [], "results": rows}),
        "over many lines": json.dumps({"init_offset": 0, "results": rows}, indent=1),
        "hits": json.dumps({"query": "*", "messages": hits}),
        "azure": json.dumps([{"TimeGenerated": stamp, "Computer": "web-1", "LogMessage": line} for line in lines]),
    }
    for name, text in documents.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text)
        found = [(one.logger, one.exception is not None, one.host) for one in scan_paths([path]).events]
        assert found == [("a.B", True, "web-1"), ("a.B", False, "web-1")], name


def test_a_truncated_document_keeps_its_records_and_counts_rest(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(FORMS["a list"][:-30])
    scan = scan_paths([path])
    assert len(scan.events) == 1
    assert (scan.sources[0].event_count, scan.sources[0].unmatched_line_count) == (3, 1)


@pytest.mark.parametrize(
    "value", [{"name": "relay", "version": 2}, [{"id": 1}, {"id": 2}], {"message": "no time"}, [1, 2]], ids=str
)
def test_other_documents_are_not_logs(value: Any) -> None:
    assert not holds_records(json.dumps(value, indent=2).encode())


@given(
    st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=6), max_size=3), max_size=5),
    st.sampled_from((None, 1)),
)
def test_any_list_of_objects_is_split_into_its_objects(values: list[dict[str, str]], indent: int | None) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=False).encode("utf-8", "surrogateescape")
    pieces = list(pieces_of(data))
    assert [piece.values for piece in pieces] == values
    assert all(data[piece.offset : piece.offset + 1] == b"{" for piece in pieces)
