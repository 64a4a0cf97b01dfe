"""Messages of magic 0 and 1 for clients from before 0.11, as recorded from 3.9.2; 4.x serves no such version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.log.message_formats import BATCH_OVERHEAD, UnsupportedCodec, batch_of, messages_of
from eosctl.sandbox.log.validation import Refusal
from eosctl.sandbox.ports import Emulation
from eosctl.wire.errors import WireError
from eosctl.wire.records import legacy
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.legacy_writer import encode_message_set
from eosctl.wire.records.record import Record
from tests.sandbox.broker.old_format_conversation import Conversation
from tests.sandbox.harness import Harness

RECORDED = Path(__file__).parents[2] / "fixtures" / "sandbox" / "old-formats-3.9.json"
AFTER_ALL_RECORDS_MS = 1_795_000_000_000
CODECS = st.sampled_from([Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
CONTENTS = st.lists(
    st.tuples(st.none() | st.binary(max_size=20), st.none() | st.binary(max_size=40)), min_size=1, max_size=20
)


def test_old_clients_are_served_as_recorded(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(emulation=Emulation("3.9")), start_ms=AFTER_ALL_RECORDS_MS)
    steps = json.loads(json.dumps(Conversation(harness).run()))
    harness.close()
    recorded = json.loads(RECORDED.read_text())
    assert len(recorded) > 60
    assert [(ours, theirs) for ours, theirs in zip(steps, recorded, strict=True) if ours != theirs] == []


def numbered(contents: list[tuple[bytes | None, bytes | None]], first: int) -> list[Record]:
    return [Record(first + at, 1_000 + at, key, value) for at, (key, value) in enumerate(contents)]


def read_messages(data: bytes) -> list[Record]:
    """Read the complete messages of a set."""
    found: list[Record] = []
    position = 0
    while position + 26 <= len(data):
        if data[position : position + 8] == b"\xff" * 8:
            break  # The start of a message that is too large.
        try:
            header = legacy.decode_header(data, position)
        except WireError:
            break  # The start of a message of magic 1.
        if position + header.size_bytes > len(data):
            break
        assert legacy.check_crc(data, header, position)
        found += legacy.decode_records(data, header, position, max_bytes=1 << 20)
        position += header.size_bytes
    return found


@given(CONTENTS, CODECS, st.sampled_from([0, 1]))
def test_messages_become_one_batch(
    contents: list[tuple[bytes | None, bytes | None]], codec: Compression, magic: int
) -> None:
    records = numbered(contents, 0)
    batch = batch_of(encode_message_set(magic, records, codec))
    assert isinstance(batch, bytes)
    header = decode_header(batch)
    assert (header.size_bytes, header.codec, header.records_count) == (len(batch), codec, len(records))
    timeless = [record if magic else record._replace(timestamp=-1) for record in records]
    assert decode_records(batch, header) == timeless


@given(st.lists(st.tuples(CONTENTS, CODECS), min_size=1, max_size=4), st.sampled_from([0, 1]), st.data())
def test_batches_become_messages_of_their_size(
    batches: list[tuple[list[tuple[bytes | None, bytes | None]], Compression]], magic: int, data: st.DataObject
) -> None:
    log, expected, first = b"", [], 100
    for contents, codec in batches:
        records = numbered(contents, first)
        log += encode_batch(records, base_offset=first, codec=codec)
        expected += [record if magic else record._replace(timestamp=-1) for record in records]
        first += len(records)
    start = data.draw(st.integers(100, 99 + len(batches[0][0])))
    converted = messages_of(log, magic, start)
    found = [record for record in read_messages(converted) if record.offset >= start]
    wanted = [record for record in expected if record.offset >= start]
    assert found == wanted[: len(found)]
    assert found
    assert len(converted) >= len(log)
    if len(converted) > len(log):  # The first batch alone exceeds the size.
        assert len(found) <= len(batches[0][0])


def test_magic_0_has_its_own_lz4_checksum() -> None:
    records = numbered([(b"k", b"v")], 0)
    frames = {magic: encode_message_set(magic, records, Compression.LZ4) for magic in (0, 1)}
    starts = {magic: frame.index(b"\x04\x22\x4d\x18") for magic, frame in frames.items()}
    headers = {magic: frame[starts[magic] : starts[magic] + 7] for magic, frame in frames.items()}
    # Checked with the reference implementation of XXH32, over six bytes and over two.
    assert headers == {0: bytes.fromhex("04224d187040ec"), 1: bytes.fromhex("04224d187040ad")}
    assert legacy.with_right_lz4_header(frames[0][starts[0] :])[6] == frames[1][starts[1] + 6]


@given(st.binary(max_size=200))
def test_no_set_of_messages_raises(data: bytes) -> None:
    result = batch_of(data)
    assert isinstance(result, (bytes, Refusal))


def test_what_has_no_messages_is_not_sent() -> None:
    records = numbered([(b"k", b"v")], 0)
    with pytest.raises(UnsupportedCodec):
        messages_of(encode_batch(records, codec=Compression.ZSTD), 1, 0)
    assert messages_of(b"", 1, 0) == b""
    commit = encode_batch([Record(0, 1_000, b"\0\0\0\1", b"\0" * 6)], producer_id=1, transactional=True, control=True)
    assert len(commit) > BATCH_OVERHEAD
    assert read_messages(messages_of(commit, 1, 0)) == []
