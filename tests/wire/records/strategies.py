"""Hypothesis strategies for records and batches."""

from __future__ import annotations

from hypothesis import strategies as st

from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record

TIMESTAMPS = st.integers(-1, 2**45)

headers = st.lists(st.tuples(st.text(max_size=12), st.none() | st.binary(max_size=20)), max_size=3).map(tuple)

records = st.builds(
    Record,
    offset=st.just(0),
    timestamp=TIMESTAMPS,
    key=st.none() | st.binary(max_size=150),
    value=st.none() | st.binary(max_size=300),
    headers=headers,
)

record_lists = st.lists(records, min_size=1, max_size=12)

codecs = st.sampled_from(Compression)


def numbered(found: list[Record], base_offset: int) -> list[Record]:
    """The records with the offsets that they get in a batch."""
    return [record._replace(offset=base_offset + index) for index, record in enumerate(found)]
