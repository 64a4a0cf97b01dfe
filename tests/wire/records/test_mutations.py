"""Mutated bytes are read as something else or refused with WireError, within bounded memory."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from msgspec.structs import replace

from eosctl.wire.errors import WireError
from eosctl.wire.records import legacy
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch, iter_headers
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.control import EndTxnMarker, decode_control, encode_marker_batch
from eosctl.wire.records.record import Record

MAX_BYTES = 1 << 20
MUTATIONS = 2000


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at] = chance.choice((0, 0x7F, 0x80, 0xFF))
            case 2:
                del changed[at : at + chance.randint(1, 8)]
            case _:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
        if not changed:
            break
    return bytes(changed)


def read_everything(data: bytes) -> None:
    try:
        for position, header in iter_headers(data):
            for record in decode_records(data, header, position, max_bytes=MAX_BYTES):
                if header.is_control:
                    decode_control(record)
    except WireError as error:
        assert error.field
        assert error.offset >= 0


@pytest.mark.parametrize("codec", Compression)
def test_mutated_batches(codec: Compression) -> None:
    chance = random.Random(codec)
    records = [
        Record(0, 1_700_000_000_000 + 7 * n, b"key %d" % n, b"value " * n, (("header", b"h"),)) for n in range(12)
    ]
    batch = encode_batch(records, codec=codec, producer_id=1, producer_epoch=0, base_sequence=0)
    tracemalloc.start()
    try:
        for _ in range(MUTATIONS):
            read_everything(mutated(batch, chance))
        assert tracemalloc.get_traced_memory()[1] < 8 * MAX_BYTES
    finally:
        tracemalloc.stop()


def test_mutated_sections_behind_a_right_header() -> None:
    chance = random.Random(1)
    batch = encode_batch([Record(n, n, b"k", b"v" * n, (("a", None),)) for n in range(8)])
    header = decode_header(batch)
    for _ in range(MUTATIONS):
        data = batch[:61] + mutated(batch[61:], chance)
        try:
            decode_records(data, replace(header, batch_length=len(data) - 12))
        except WireError as error:
            assert 0 <= error.offset <= len(data)


def test_mutated_markers() -> None:
    chance = random.Random(2)
    batch = encode_marker_batch(EndTxnMarker(True, 3), 1, 0, 0)
    for _ in range(MUTATIONS):
        read_everything(mutated(batch, chance))


@pytest.mark.parametrize("magic", [0, 1])
def test_mutated_legacy_messages(magic: int, legacy_set: dict[tuple[int, bool], bytes]) -> None:
    chance = random.Random(magic)
    for compressed in (False, True):
        for _ in range(MUTATIONS):
            read_everything(mutated(legacy_set[magic, compressed], chance))


def test_mutated_lz4_frame_headers() -> None:
    chance = random.Random(3)
    for _ in range(MUTATIONS):
        try:
            legacy.with_right_lz4_header(mutated(bytes.fromhex("04224d18604082"), chance))
        except WireError as error:
            assert error.field == "value"
