"""Lines made from columns: the same as those of the decoder of records, or none at all."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eosctl.analysis.decode.writers import RecordWriter
from eosctl.analysis.record_redactor import redact_records
from eosctl.render.decode.batches import TsvLogWriter, log_writer
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect
from eosctl.render.decode.kafka_text import KafkaLogWriter
from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.internal.metadata import encode_record
from eosctl.wire.messages.internal.metadata.remove_delegation_token_record import RemoveDelegationTokenRecord
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record

FILE = "100%-0/00000000000000000000.log"
LAST_SEQUENCE = 0x7FFF_FFFF
#: A metadata record whose id is masked.
TOKEN = encode_record(RemoveDelegationTokenRecord("abc"), 0)

contents = st.one_of(
    st.none(),
    st.text("abc %\\", max_size=80).map(str.encode),
    st.sampled_from([b"=1", b"+a", b"-5", b"-1", b"-", b"@a", b"a=b", b'"', b'{"a": "\\\\"}', b"##[x]"]),
    st.sampled_from([b"connector-a", b"task-1", b"session-key", b'{"properties":{"password":"abc"}}', TOKEN]),
    st.sampled_from([b"", b"x" * 63, b"x" * 64, b"x" * 8_191, b"x" * 8_192, b"\t", "ü".encode(), b"\xff\n"]),
)
records = st.builds(
    Record,
    st.just(0),
    st.sampled_from([0, 1, 63, 64, 8_192, 1_795_253_419_624]),
    contents,
    contents,
    st.sampled_from([(), (), (("trace", b"1"), ("empty", None))]),
)
batches = st.builds(
    encode_batch,
    st.lists(records, min_size=1, max_size=70),
    base_offset=st.sampled_from([0, 1 << 40]),
    codec=st.sampled_from([Compression.NONE, Compression.LZ4]),
    producer_id=st.just(7),
    base_sequence=st.sampled_from([-1, 0, LAST_SEQUENCE - 3]),
    log_append_time_ms=st.sampled_from([None, 5]),
)


def writer_of(form: DecodeFormat, *, with_content: bool) -> RecordWriter:
    shown = BytesForm.UTF8 if with_content else BytesForm.NONE
    kafka = form is DecodeFormat.KAFKA
    writer: RecordWriter = KafkaLogWriter(KafkaDialect.KAFKA_4_3) if kafka else log_writer(form, shown, shown)
    writer.start(FILE, 0)
    return writer


def general_and_quick(data: bytes, form: DecodeFormat, *, with_content: bool) -> tuple[str | None, str | None]:
    batch = LogBatch(0, decode_header(data), True, data, 0)
    general, quick = (writer_of(form, with_content=with_content) for _ in range(2))
    try:
        shown = general.records(batch, redact_records(batch.records(), in_metadata_log=False))
    except WireError:
        return None, quick.record_lines(batch)
    return shown, quick.record_lines(batch)


@given(batches, st.sampled_from(DecodeFormat), st.booleans())
def test_lines_are_those_of_the_decoder(data: bytes, form: DecodeFormat, with_content: bool) -> None:
    general, quick = general_and_quick(data, form, with_content=with_content)
    assert quick in (general, None)
    if general is not None and not with_content and form is DecodeFormat.TSV:
        assert quick == general


# Headers stay out: one that reads like a secret is the decoder's to mask.
plain = st.builds(Record, st.just(0), st.integers(0, 99), st.just(b"key"), st.just(b"v"), st.just(()))


@given(st.lists(plain, min_size=1), st.sampled_from(DecodeFormat))
def test_plain_records_never_need_the_decoder(content: list[Record], form: DecodeFormat) -> None:
    general, quick = general_and_quick(encode_batch(content, base_sequence=0), form, with_content=True)
    assert quick == general


@pytest.mark.parametrize("form", [DecodeFormat.JSON, DecodeFormat.KAFKA, DecodeFormat.TABLE])
@pytest.mark.parametrize("key", [None, b"k"])
def test_values_of_quotes_or_null_need_no_decoder(key: bytes | None, form: DecodeFormat) -> None:
    for value in (None, b'{"a": "\\\\n"}'):
        content = [Record(0, time, key, value) for time in (5, 1_005, 253_402_300_800_000)]
        general, quick = general_and_quick(encode_batch(content, base_sequence=0), form, with_content=True)
        assert quick == general


@given(batches, st.sampled_from(DecodeFormat), st.booleans(), st.data())
@example(encode_batch([Record(0, 0, b"k", b"v")]), DecodeFormat.TSV, False, None)
def test_what_the_decoder_refuses_has_no_lines(
    data: bytes, form: DecodeFormat, with_content: bool, choice: st.DataObject | None
) -> None:
    damaged = bytearray(data)
    if choice is None:
        struct.pack_into(">i", damaged, 57, -1)
    else:
        damaged[choice.draw(st.integers(57, len(data) - 1))] = choice.draw(st.integers(0, 255))
    general, quick = general_and_quick(bytes(damaged), form, with_content=with_content)
    assert quick in (general, None)


@pytest.mark.parametrize("text", ["=cmd()", "+1+cmd", "-x", "@SUM(A1)"])
def test_no_key_value_or_file_is_a_formula(text: str) -> None:
    data = encode_batch([Record(0, 1, text.encode(), text.encode()), Record(0, 1, None, None)], base_sequence=-1)
    batch = LogBatch(0, decode_header(data), True, data, 0)
    writer = TsvLogWriter(BytesForm.UTF8, BytesForm.UTF8)
    writer.start(text, 0)
    assert writer.record_lines(batch) is None
    shown = f"\\x{ord(text[0]):02x}{text[1:]}"
    assert writer.records(batch, batch.records()) == (
        f"record\t{shown}\t0\t1\t-1\t{shown}\t{shown}\nrecord\t{shown}\t1\t1\t-1\t-\t-\n"
    )


def test_a_batch_with_other_text_does_not_affect_later_lines() -> None:
    writer = TsvLogWriter(BytesForm.UTF8, BytesForm.UTF8)
    writer.start(FILE, 0)
    plain, other = (encode_batch([Record(0, 1, b"key", value)]) for value in (b"v", "ü".encode()))
    found = []
    for data in (plain, other, *[plain] * 20):
        found.append(writer.record_lines(LogBatch(0, decode_header(data), True, data, 0)))
    line = f"record\t{FILE}\t0\t1\t-1\tkey\tv\n"
    assert found[:2] == [line, None]
    assert set(found[2:]) == {line, None}
    assert found[-1] == line
    writer.start("ü", 0)
    shown = writer.record_lines(LogBatch(0, decode_header(plain), True, plain, 0))
    assert shown == "record\tü\t0\t1\t-1\tkey\tv\n"
