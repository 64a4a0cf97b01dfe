"""Lines of coordinators' records: the same as those of the general decoder, or none at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.analysis.decode.entries import offsets_row, transaction_row
from eosctl.analysis.decode.outcomes import Outcome
from eosctl.render.decode.formats import DecodeFormat
from eosctl.render.decode.rows import OFFSET_COLUMNS, TRANSACTION_COLUMNS, row_writer
from eosctl.render.decode.state_lines import OffsetLines, TransactionLines
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record

FILE = "100%-0/00000000000000000000.log"
HEADER = decode_header(encode_batch([Record(0, 0, b"", b"")], partition_leader_epoch=3))

numbers = st.integers(-1, 2**63 - 1)
transactions = st.builds(
    TransactionValue,
    producer_id=numbers,
    producer_epoch=st.integers(-1, 32_767),
    transaction_timeout_ms=st.just(60_000),
    transaction_status=st.integers(0, 8),
    transaction_partitions=st.sampled_from(
        [(), (TransactionPartitions("a", (0, 1)),), (TransactionPartitions("b\t", (2,)),), None]
    ),
    transaction_last_update_timestamp_ms=numbers,
    transaction_start_timestamp_ms=numbers,
    previous_producer_id=st.sampled_from([-1, 256]),
    next_producer_id=st.sampled_from([-1, -1, 256 << 40]),
    client_transaction_version=st.sampled_from([0, 2]),
    next_producer_epoch=st.sampled_from([-1, 7]),
    unknown_tags=st.just(()),
)
commits = st.builds(
    lambda offset, epoch, metadata, time: OffsetCommitValue(offset, epoch, metadata, time),
    numbers,
    st.integers(-1, 9),
    st.sampled_from(["", "note", "ü"]),
    numbers,
)
damage = st.one_of(st.none(), st.none(), st.binary(max_size=3), st.integers(0, 40))


def damaged(data: bytes, how: bytes | int | None) -> bytes:
    """Append bytes, or cut some off."""
    return data if how is None else data[: len(data) - how] if isinstance(how, int) else data + how


def check(lines: Any, row: Any, columns: Any, records: list[Record]) -> int:
    """Compare every record's line with that of the general decoder; return how many were quick."""
    write, quick = row_writer(columns, DecodeFormat.TSV), 0
    lines.start(FILE)
    for record in records:
        found = lines.of(record, HEADER, Outcome.COMMITTED)
        try:
            general = row(record)
        except WireError:
            assert found is None
            continue
        if found is not None:
            quick += 1
            assert found == write(FILE, general)
        lines.learn(record, general)
    return quick


@given(
    st.lists(
        st.tuples(st.sampled_from(["id-1", "id-2\n"]), st.none() | transactions, st.sampled_from([0, 1, 1]), damage),
        max_size=30,
    )
)
def test_transactions(content: list[tuple[str, TransactionValue | None, int, Any]]) -> None:
    records = []
    for number, (name, value, version, how) in enumerate(content):
        data = None if value is None else damaged(transaction_log.encode_value(value, version), how)
        records.append(Record(number, number, transaction_log.encode_key(TransactionKey(name)), data))
    check(TransactionLines(), lambda record: transaction_row(record, HEADER), TRANSACTION_COLUMNS, records)


@given(
    st.lists(st.tuples(st.sampled_from(["group", "g\t"]), st.none() | commits, st.integers(0, 4), damage), max_size=30)
)
def test_offsets(content: list[tuple[str, OffsetCommitValue | None, int, Any]]) -> None:
    records = []
    for number, (group, value, version, how) in enumerate(content):
        data = None if value is None else damaged(offsets.encode_value(value, version), how)
        records.append(Record(number, number, offsets.encode_key(OffsetCommitKey(group, "topic", number % 3)), data))
    check(OffsetLines(), lambda record: offsets_row(record, HEADER, Outcome.COMMITTED), OFFSET_COLUMNS, records)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("tagged", [False, True])
def test_what_repeats_is_quick(version: int, tagged: bool) -> None:
    records = []
    for number in range(20):
        value = TransactionValue(
            producer_id=number,
            producer_epoch=number,
            transaction_timeout_ms=60_000,
            transaction_status=number % 6,
            transaction_partitions=(TransactionPartitions("payments", (0, 1, 2)),),
            transaction_last_update_timestamp_ms=number,
            transaction_start_timestamp_ms=number,
            client_transaction_version=2 if tagged else 0,
        )
        key = transaction_log.encode_key(TransactionKey("id"))
        records.append(Record(number, number, key, transaction_log.encode_value(value, version)))
    quick = check(TransactionLines(), lambda record: transaction_row(record, HEADER), TRANSACTION_COLUMNS, records)
    assert quick == len(records) - 1


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_repeated_commits_are_quick(version: int) -> None:
    key = offsets.encode_key(OffsetCommitKey("group", "topic", 0))
    records = [
        Record(n, n, key, offsets.encode_value(OffsetCommitValue(n, 0, "note", n, -1), version)) for n in range(20)
    ]
    row = lambda record: offsets_row(record, HEADER, Outcome.COMMITTED)  # noqa: E731
    assert check(OffsetLines(), row, OFFSET_COLUMNS, records) == len(records) - 1
