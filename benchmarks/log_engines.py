"""Measure the detection of relevant log lines with several engines on the same lines.

    python -m benchmarks.log_engines [MEGABYTES]

The scan of the whole catalog decides for every line whether it starts a record, and whether its record may match
a category. `eosctl` decides once for each kind of line (`eosctl.logs.records.kinds`). The other engines apply the
same expressions to every line, or to lines that differ in more than digits. polars is not part of eosctl; its rows
show whether it would pay (`pip install polars`). Each engine uses one thread. Figures are GB per second of
processor time, the best of three rounds after a warm-up. All results are compared.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.log_scan import write_log
from eosctl.logs.layouts import header_expressions
from eosctl.logs.records.anchors import meaning_anchors
from eosctl.logs.records.kinds import HEADER, MEANING, kinds_of, lines_of
from eosctl.logs.records.sieve import WINDOW_BYTES
from eosctl.logs.scan import plan_scan

if TYPE_CHECKING:
    import polars as pl

ROUNDS = 3


class LineCounts(NamedTuple):
    """The number of lines that start a record, and of those that may be relevant."""

    headers: int
    meanings: int


class Log(NamedTuple):
    """The windows of a log, each of whole lines, and the expressions of its headers."""

    windows: tuple[bytes, ...]
    headers: tuple[str, ...]


def read_log(path: Path) -> Log:
    """Split a file as the scanner does."""
    data, position, windows = path.read_bytes(), 0, list[bytes]()
    while position < len(data):
        end = data.find(b"\n", min(position + WINDOW_BYTES, len(data) - 1)) + 1
        windows.append(data[position:end])
        position = end
    [source] = plan_scan([path])[0]
    return Log(tuple(windows), header_expressions(source.verdict.layouts))


def by_kinds(log: Log) -> LineCounts:
    """Match once per kind of lines, as eosctl does."""
    kinds, headers, meanings = kinds_of(log.headers), 0, 0
    for window in log.windows:
        found = kinds.classify(lines_of(np.frombuffer(window, dtype=np.uint8)))
        headers += int(np.count_nonzero(found & HEADER))
        meanings += int(np.count_nonzero(found & MEANING))
    return LineCounts(headers, meanings)


def by_arrow(log: Log) -> LineCounts:
    """Match every line with pyarrow's RE2."""
    headers = meanings = 0
    for window in log.windows:
        texts = lines_of(np.frombuffer(window, dtype=np.uint8)).texts
        headers += pc.sum(pc.match_substring_regex(texts, "|".join(log.headers))).as_py()
        meanings += pc.sum(pc.match_substring_regex(texts, "|".join(meaning_anchors()))).as_py()
    return LineCounts(headers, meanings)


def by_polars(log: Log) -> LineCounts:
    """Match every line with polars' expressions."""
    import polars as pl

    line, headers, meanings = pl.col("line").str, 0, 0
    asked = (line.contains("|".join(log.headers)).sum(), line.contains("|".join(meaning_anchors())).alias("m").sum())
    for window in log.windows:
        here = _polars_lines(window).select(*asked).row(0)
        headers += here[0]
        meanings += here[1]
    return LineCounts(headers, meanings)


def cut_by_polars(log: Log) -> int:
    """Split into lines without matching: the minimum cost of polars."""
    return sum(len(_polars_lines(window)) for window in log.windows)


def apart_by_polars(log: Log) -> int:
    """Split and normalize as eosctl does, but group the kinds with polars."""
    import polars as pl

    blurred = (lines_of(np.frombuffer(window, dtype=np.uint8)).blurred for window in log.windows)
    return sum(pl.Series(lines).n_unique() for lines in blurred)


def apart_by_arrow(log: Log) -> int:
    """Split and normalize, and group the kinds with pyarrow, as eosctl does."""
    blurred = (lines_of(np.frombuffer(window, dtype=np.uint8)).blurred for window in log.windows)
    return sum(len(lines.dictionary_encode().dictionary) for lines in blurred)


def _polars_lines(window: bytes) -> pl.DataFrame:
    import polars as pl

    # Its fastest reader: a table of one column with a separator that occurs in no line.
    return pl.read_csv(
        io.BytesIO(window), has_header=False, schema={"line": pl.String}, separator="\x01", quote_char=None
    )


def rows(log: Log) -> Iterator[tuple[str, float]]:
    """Yield the name of an engine and its processor time per GB, in seconds."""
    expected = by_arrow(log)
    # Lines of rare kinds that are not matched yet count as relevant.
    yield (
        "eosctl: each kind of lines asked once",
        _cost(log, by_kinds, lambda found: found.headers == expected.headers and found.meanings >= expected.meanings),
    )
    yield "pyarrow: every line asked", _cost(log, by_arrow, expected.__eq__)
    if find_spec("polars") is not None:
        yield "polars: every line asked", _cost(log, by_polars, expected.__eq__)
        yield "polars: cut into lines, nothing asked", _cost(log, cut_by_polars, bool)
    kinds = apart_by_arrow(log)
    yield "pyarrow: lines distinguished except for digits", _cost(log, apart_by_arrow, kinds.__eq__)
    if find_spec("polars") is not None:
        yield "polars: lines distinguished except for digits", _cost(log, apart_by_polars, kinds.__eq__)


def _cost(log: Log, work: Callable[[Log], Any], is_right: Callable[[Any], bool]) -> float:
    work(log)  # Kinds are learned and expressions compiled.
    costs = []
    for _ in range(ROUNDS):
        began = time.process_time()
        found = work(log)
        costs.append(time.process_time() - began)
        assert is_right(found), f"{work.__name__} found {found}"
    return min(costs) / sum(map(len, log.windows)) * 1e9


def main(size_mb: int) -> None:
    """Print the table."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.log"
        write_log(path, size_mb * 1_000_000)
        log = read_log(path)
    print(f"{time.strftime('%Y-%m-%d')}: {size_mb} MB, pyarrow {pa.__version__}, polars {_polars_version()}")
    for name, seconds in rows(log):
        print(f"{name:<44} {1 / seconds:>6.2f} GB/s {seconds:>6.2f} s/GB", flush=True)


def _polars_version() -> str:
    if find_spec("polars") is None:
        return "is missing"
    import polars as pl

    return str(pl.__version__)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250)
