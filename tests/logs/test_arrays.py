"""Arrays of Python values equal those of pyarrow, and a scan never imports pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.arrays import array_of, batch_of_rows, indices_of, is_true, numbers_of

LEAVES = {
    pa.string(): st.text(),
    pa.binary(): st.binary(),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
}


def _values_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Draw values of a type in the form that ``array_of`` accepts."""
    if pa.types.is_struct(kind):
        fields = [_values_of(kind.field(number).type) for number in range(kind.num_fields)]
        return st.none() | st.tuples(*fields)
    if pa.types.is_list(kind):
        return st.none() | st.lists(_values_of(kind.value_type), max_size=4)
    if pa.types.is_map(kind):
        return st.none() | st.lists(st.tuples(LEAVES[kind.key_type], _values_of(kind.item_type)), max_size=4)
    return st.none() | LEAVES[kind]


def _nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    structs = st.lists(inner, min_size=1, max_size=3).map(
        lambda kinds: pa.struct([(f"f{number}", kind) for number, kind in enumerate(kinds)])
    )
    maps = st.tuples(st.sampled_from([pa.string(), pa.int64()]), inner).map(lambda kinds: pa.map_(*kinds))
    return inner.map(pa.list_) | structs | maps


KINDS = st.recursive(st.sampled_from(list(LEAVES)), _nested, max_leaves=4)


@given(st.data())
def test_arrays_equal_those_of_pyarrow(data: st.DataObject) -> None:
    kind = data.draw(KINDS)
    values = data.draw(st.lists(_values_of(kind), max_size=20))
    made = array_of(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


def test_texts_that_utf8_cannot_hold_are_written_out() -> None:
    texts = ["in/\udcff\u00e4.log", None, "half \ud83d", "b\u00e4d"]
    made = array_of(texts, pa.string())
    made.validate(full=True)
    assert made.to_pylist() == ["in/\\xff\u00e4.log", None, "half \\ud83d", "b\u00e4d"]


def test_a_column_that_a_row_does_not_name_is_null() -> None:
    schema = pa.schema([("file", pa.string()), ("offset", pa.int64())])
    assert batch_of_rows([{"offset": 3}, {"file": "a"}], schema).to_pylist() == [
        {"file": None, "offset": 3},
        {"file": "a", "offset": None},
    ]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_number_beyond_64_bits_is_refused(value: int) -> None:
    with pytest.raises(OverflowError):
        array_of([value], pa.int64())


def test_a_type_that_no_job_has_is_refused() -> None:
    with pytest.raises(TypeError, match="duration"):
        array_of([1], pa.duration("s"))


@given(st.lists(st.booleans()), st.integers(0, 9))
def test_booleans_are_read_from_any_slice(flags: list[bool], start: int) -> None:
    assert is_true(array_of(flags, pa.bool_())[start:]).tolist() == flags[start:]


@given(st.lists(st.text(max_size=2), min_size=1))
def test_numbers_of_a_dictionary_are_read(texts: list[str]) -> None:
    coded = array_of(texts, pa.string()).dictionary_encode()
    found = indices_of(coded.indices)
    assert coded.dictionary.take(numbers_of(found.astype(np.int64))).to_pylist() == texts


def test_a_search_without_lines_finds_nothing() -> None:
    assert is_true(pc.match_substring_regex(array_of([], pa.binary()), "a")).tolist() == []


def test_a_scan_and_its_rows_do_without_pandas(tmp_path: Path) -> None:
    # Large enough for the engine that recognizes kinds of lines, with more kinds than it checks one by one.
    line = "[2026-03-01 10:00:00,%03d] %s Number %s (kafka.server.KafkaServer)\n"
    texts = [line % (n % 1000, "ERROR" if n % 900 == 0 else "INFO", "x" * (n % 700)) for n in range(40_000)]
    log = tmp_path / "server.log"
    log.write_text("".join(texts))
    program = """
import sys
from pathlib import Path
from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.scan import plan_scan
from spark_log_analytics.rows import scan_batches
from eosctl.logs.scan import plan_splits, scan_split
[source], _ = plan_scan([Path(sys.argv[1])])
for split in plan_splits(source):
    scan = scan_split(split, own_classifier())
    print(sum(len(one) for one in scan_batches("a", 0, scan)), scan.counts.event_count)
print("pandas" in sys.modules, "pyarrow.compute" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program, str(log)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["46", "40000", "False", "True"]
