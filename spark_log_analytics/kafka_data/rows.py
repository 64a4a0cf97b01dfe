"""Convert facts to rows, with one column for each kind of fact; only one column of a row is set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from eosctl.logs.arrays import batch_of_rows
from eosctl.model.kafka_data import CoordinatedTransaction, Damage, KeyUse, PartitionTransaction, SequenceBreak
from spark_log_analytics.kafka_data.facts import Fact, Tally

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION: Final = 1
KINDS: Final[Mapping[str, type[Fact]]] = {
    "partition_transaction": PartitionTransaction,
    "coordinated_transaction": CoordinatedTransaction,
    "tally": Tally,
    "sequence_break": SequenceBreak,
    "key_use": KeyUse,
    "damage": Damage,
}
"""The columns of a row, and the type of each."""

_DDL: Final[Mapping[Any, str]] = {
    str: "string",
    int: "long",
    int | None: "long",
    Mapping[str, int]: "map<string,long>",
    Mapping[int, int]: "map<long,long>",
}
_FIELDS: Final = {kind: tuple(get_type_hints(kind)) for kind in KINDS.values()}
_COLUMN_OF: Final = {kind: name for name, kind in KINDS.items()}


def columns() -> str:
    """Return the columns as Spark's DDL."""
    return ", ".join(
        f"{name} struct<{','.join(f'{field}:{_DDL[hint]}' for field, hint in get_type_hints(kind).items())}>"
        for name, kind in KINDS.items()
    )


def arrow_schema() -> pa.Schema:
    """Return the Arrow form of the columns."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    types = {
        "string": text,
        "long": number,
        "map<string,long>": pa.map_(text, number),
        "map<long,long>": pa.map_(number, number),
    }
    return pa.schema(
        [
            (name, pa.struct([(field, types[_DDL[hint]]) for field, hint in get_type_hints(kind).items()]))
            for name, kind in KINDS.items()
        ]
    )


def fact_batches(facts: Iterable[Fact], batch_size: int = 4096) -> Iterator[pa.RecordBatch]:
    """Yield facts as Arrow batches."""
    schema = arrow_schema()
    rows: list[dict[str, Any]] = []
    for fact in facts:
        rows.append({_COLUMN_OF[type(fact)]: _plain(fact)})
        if len(rows) >= batch_size:
            yield batch_of_rows(rows, schema)
            rows = []
    if rows:
        yield batch_of_rows(rows, schema)


def fact_of(row: Mapping[str, Any]) -> Fact:
    """Turn a collected row back into a fact."""
    name, values = next((name, values) for name, values in row.items() if values is not None)
    return KINDS[name](**values)


def _plain(fact: Fact) -> tuple[Any, ...]:
    return tuple(
        list(value.items()) if isinstance(value, Mapping) else str(value) if isinstance(value, str) else value
        for value in (getattr(fact, name) for name in _FIELDS[type(fact)])
    )
