"""Convert Python values to Arrow arrays, and Arrow arrays to numpy, without pandas.

``pyarrow.array`` and ``to_numpy`` import pandas to check whether a value belongs to it, which takes each new Spark
worker 0.3 s before its first row. This module builds and reads the buffers of Arrow's columnar format directly.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def batch_of_rows(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Turn rows into a batch; a column is null in rows that do not name it."""
    return batch_of_columns([[row.get(name) for row in rows] for name in schema.names], schema)


def batch_of_columns(columns: Iterable[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Turn columns, in the order of the schema, into a batch."""
    import pyarrow as pa

    arrays = [array_of(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Turn values into an array of a type: text, bytes, 64-bit numbers, booleans, and lists, maps, and structs of them.

    Args:
        values: ``None`` for null; a map as pairs, a struct as a tuple of its fields.
        kind: The type.

    Raises:
        OverflowError: The texts of an array are longer than 2 GiB, or a number is beyond 64 bits.
        TypeError: A value does not have the type, or the type is not supported.
    """
    import pyarrow as pa

    nulls = None
    if None in values:
        nulls = pa.py_buffer(_bits(value is not None for value in values))
        nothing = _nothing(kind)
        values = [nothing if value is None else value for value in values]
    buffers, children = _parts(values, kind)
    return pa.Array.from_buffers(kind, len(values), [nulls, *map(pa.py_buffer, buffers)], children=children)


def numbers_of(numbers: NDArray[np.int64]) -> pa.Array:
    """Wrap 64-bit numbers, without a copy."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


def is_true(flags: pa.Array) -> NDArray[np.bool_]:
    """Turn booleans without nulls into a numpy array."""
    import numpy as np

    bits = np.frombuffer(flags.buffers()[1], dtype=np.uint8)
    found: NDArray[np.bool_] = np.unpackbits(bits, count=flags.offset + len(flags), bitorder="little").view(np.bool_)
    return found[flags.offset :]


def indices_of(numbers: pa.Array) -> NDArray[np.int32]:
    """Read 32-bit numbers without nulls, as dictionaries use them, without a copy."""
    import numpy as np

    return np.frombuffer(numbers.buffers()[1], dtype=np.int32)[numbers.offset : numbers.offset + len(numbers)]


def _nothing(kind: pa.DataType) -> Any:
    """Return the value in an array's buffers at null positions."""
    from pyarrow import types

    if types.is_struct(kind):
        return (None,) * kind.num_fields
    kinds = ((types.is_string, ""), (types.is_binary, b""), (types.is_nested, ()))
    return next((nothing for is_kind, nothing in kinds if is_kind(kind)), 0)


def _parts(values: Sequence[Any], kind: pa.DataType) -> tuple[list[Any], list[pa.Array]]:
    """Return the buffers after the one of nulls, and the child arrays."""
    from pyarrow import types

    if types.is_string(kind):
        return _texts(values), []
    if types.is_binary(kind):
        return [_ends(values), b"".join(values)], []
    if types.is_int64(kind):
        return [array("q", values)], []
    if types.is_float64(kind):
        return [array("d", values)], []
    if types.is_boolean(kind):
        return [_bits(values)], []
    if types.is_struct(kind):
        return [], _fields(values, kind)
    if types.is_list(kind):
        return [_ends(values)], [array_of(list(chain.from_iterable(values)), kind.value_type)]
    if types.is_map(kind):
        return [_ends(values)], [_pairs(list(chain.from_iterable(values)), kind)]
    raise TypeError(f"arrays of {kind} are not supported")


def _texts(texts: Sequence[str]) -> list[Any]:
    joined = "".join(texts)
    try:
        whole = joined.encode()
    except UnicodeEncodeError:  # The name of a file that is not UTF-8, or an escape of JSON.
        return _texts([_SURROGATE.sub(_escaped, text) for text in texts])
    # Usually a character is one byte, so that a text's length is known without encoding it.
    return [_ends(texts if len(whole) == len(joined) else [text.encode() for text in texts]), whole]


def _escaped(surrogate: re.Match[str]) -> str:
    r"""Write a byte of a file's name as ``\xff``, as commands show it, and half of a pair as ``\ud800``."""
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def _fields(structs: Sequence[tuple[Any, ...]], kind: pa.DataType) -> list[pa.Array]:
    columns = zip(*structs, strict=True) if structs else [()] * kind.num_fields
    return [array_of(column, kind.field(place).type) for place, column in enumerate(columns)]


def _pairs(pairs: Sequence[tuple[Any, Any]], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    keys, values = zip(*pairs, strict=True) if pairs else ((), ())
    fields = [pa.field("key", kind.key_type, nullable=False), pa.field("value", kind.item_type)]
    return pa.StructArray.from_arrays([array_of(keys, kind.key_type), array_of(values, kind.item_type)], fields=fields)


def _ends(values: Iterable[Sequence[Any]]) -> array[int]:
    """Return the offsets of values in their concatenation: the start of the first one, then each end."""
    return array("i", accumulate(map(len, values), initial=0))


def _bits(flags: Iterable[object]) -> bytes:
    """Pack flags into bits, the first one lowest."""
    digits = "".join("1" if flag else "0" for flag in flags)
    return int(digits[::-1] or "0", 2).to_bytes((len(digits) + 7) // 8, "little")
