"""Pack batches of rows into single values, which Spark moves without converting their columns.

Spark's JVM converts nested columns row by row, on each way to Python and back; for events, that costs several times as
much as what Python does with them. A packed batch is a stream of Arrow, compressed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from spark_log_analytics.planning import changed_settings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

PACKED_ROWS: Final = 4096
_LARGEST_BATCH: Final = "spark.sql.execution.arrow.maxBytesPerBatch"
_UNLIMITED: Final = str(2**31 - 1)
"""The value with which Spark does not measure batches."""

Label = TypeVar("Label", bound=Hashable)


def pack(batches: Sequence[pa.RecordBatch]) -> bytes:
    """Pack batches of one schema."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batches[0].schema, options=options) as stream:
        for batch in batches:
            stream.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes | pa.Buffer) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a packed value."""
    import pyarrow as pa

    yield from pa.ipc.open_stream(packed)


class Packer(Generic[Label]):
    """Collects batches of one schema by their label, so that few large values are packed instead of many small ones."""

    def __init__(self) -> None:
        self._waiting: dict[Label, list[pa.RecordBatch]] = defaultdict(list)
        self._counts: dict[Label, int] = defaultdict(int)

    def add(self, label: Label, batch: pa.RecordBatch) -> Iterator[tuple[Label, bytes]]:
        """Add rows; yield their label and what has been packed when enough rows have the label."""
        self._waiting[label].append(batch)
        self._counts[label] += batch.num_rows
        if self._counts[label] >= PACKED_ROWS:
            del self._counts[label]
            yield label, pack(self._waiting.pop(label))

    def rest(self) -> Iterator[tuple[Label, bytes]]:
        """Yield what remains."""
        for label, batches in self._waiting.items():
            yield label, pack(batches)
        self._waiting.clear()
        self._counts.clear()


@contextmanager
def unmeasured_batches(spark: SparkSession) -> Iterator[None]:
    """Let Spark limit the batches for Python by their number of rows only, in the jobs that begin meanwhile.

    From release 4.1 on, it measures a batch after each row, which takes longer than to convert the row. Rows with
    files need that limit, events do not.
    """
    with changed_settings(spark, {_LARGEST_BATCH: _UNLIMITED}):
        yield
