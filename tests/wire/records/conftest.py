"""Messages in the formats of before Kafka 0.11, as another implementation writes them."""

from __future__ import annotations

import pytest

from tests.wire.records.kafka_python import LegacyRecordBatchBuilder

RECORDS = [(b"key", b"value"), (None, b"no key"), (b"tombstone", None), (b"", b"")]


def build(magic: int, compressed: bool) -> bytes:
    builder = LegacyRecordBatchBuilder(magic, 1 if compressed else 0, 1 << 20)
    for offset, (key, value) in enumerate(RECORDS):
        builder.append(offset, 1000 + offset if magic else None, key, value)
    return bytes(builder.build())


@pytest.fixture(scope="session")
def legacy_set() -> dict[tuple[int, bool], bytes]:
    """Message sets of RECORDS by magic, plain and gzipped; offsets from 0, timestamps from 1000."""
    return {(magic, compressed): build(magic, compressed) for magic in (0, 1) for compressed in (False, True)}
