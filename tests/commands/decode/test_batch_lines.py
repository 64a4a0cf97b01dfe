"""Batches written in runs: the same lines as one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.analysis.decode.batch_state import state_of
from eosctl.render.decode import batches as written
from eosctl.render.decode.batches import log_writer
from eosctl.render.decode.formats import BytesForm, DecodeFormat
from eosctl.storage import scan
from eosctl.storage.scan import LogBatch, LogRun, scan_log, scan_runs
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record

FILE = "100%-0/00000000000000000000.log"
LAST_SEQUENCE = 0x7FFF_FFFF

producers = {"producer_id": st.sampled_from([-1, 7, 8]), "producer_epoch": st.integers(-1, 1)}
data = st.builds(
    encode_batch,
    st.lists(st.just(Record(0, 5, b"k", b"v")), min_size=1, max_size=4),
    codec=st.sampled_from([Compression.NONE, Compression.LZ4]),
    base_sequence=st.sampled_from([-1, 0, LAST_SEQUENCE - 1]),
    transactional=st.booleans(),
    **producers,
)
markers = st.builds(
    encode_marker_batch,
    st.builds(EndTxnMarker, st.booleans(), st.integers(0, 2)),
    producer_id=st.just(7),
    producer_epoch=st.just(0),
    timestamp=st.just(9),
)
logs = st.lists(st.tuples(st.one_of(data, markers), st.integers(0, 1)), max_size=8).map(
    lambda batches: b"".join(with_offset(batch, 10 * n, leader) for n, (batch, leader) in enumerate(batches))
)


@settings(max_examples=50)
@given(content=logs, form=st.sampled_from([DecodeFormat.TSV, DecodeFormat.TABLE, DecodeFormat.JSON]))
def test_lines_of_a_run_are_those_of_its_batches(
    content: bytes, form: DecodeFormat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "runs.log"
    path.write_bytes(content)
    writer = log_writer(form, BytesForm.UTF8, BytesForm.UTF8)
    writer.start(FILE, 0)
    in_runs = [writer.run(fact) for fact in scan_runs(path) if isinstance(fact, LogRun)]
    single = [writer.batch(fact, state_of(fact)) for fact in scan_log(path) if isinstance(fact, LogBatch)]
    assert "".join(in_runs) == "".join(single)


def test_few_lines_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_MOST_LINES", 3)
    path = tmp_path / "0.log"
    records = [Record(0, 5, b"k", b"v")]
    path.write_bytes(b"".join(encode_batch(records, producer_id=n % 7, base_offset=n) for n in range(50)))
    writer = written.TsvLogWriter(BytesForm.UTF8, BytesForm.UTF8)
    writer.start(FILE, 0)
    lines = "".join(writer.run(fact) for fact in scan_runs(path) if isinstance(fact, LogRun)).splitlines()
    assert [int(line.split("\t")[9]) for line in lines] == [n % 7 for n in range(50)]
    assert len(writer._lines) <= 3


def test_a_run_ends_where_a_chunk_does_and_the_next_begins_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = encode_batch([Record(0, 5, b"k", b"v")])
    monkeypatch.setattr(scan, "_CHUNK_BYTES", 3 * len(batch) + 20)
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(with_offset(batch, n, 0) for n in range(10)) + b"end")
    runs = [fact for fact in scan_runs(path) if isinstance(fact, LogRun)]
    assert [(run.position, run.end) for run in runs] == [
        (at * len(batch), min(at + 3, 10) * len(batch)) for at in (0, 3, 6, 9)
    ]
    assert [fact.header.base_offset for run in runs for fact in run.batches()] == list(range(10))
