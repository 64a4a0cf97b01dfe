"""Return incidents as a table: one task judges all events of a scan with ``eosctl.logs.incidents``.

An incident may explain another one in any file, so the verdict needs all events. These are only the relevant records,
and one task can hold some millions. The driver receives only the incidents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import SourceSummary
from eosctl.model.severity import Severity
from spark_log_analytics.rows import event_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

INCIDENT_COLUMNS: Final = (
    "kind string, root_cause string, severity string, confidence double, subject map<string,array<string>>, "
    "subject_lists array<string>, t_start_ms long, t_end_ms long, "
    "evidence array<struct<file:string,offset:long,line:long>>, "
    "explanation string, next_step string"
)
"""The columns of incidents; ``subject_lists`` names the subject's fields that are lists even with one value."""


def incidents(events: DataFrame, sources: Sequence[SourceSummary] = ()) -> DataFrame:
    """Judge the events of a scan, with lines numbered or not.

    Args:
        events: Rows with ``EVENT_COLUMNS``; other columns are ignored.
        sources: The summaries of the same files in scan order; they show when a server without relevant records was
            last alive.

    Returns:
        Rows of ``INCIDENT_COLUMNS``, earliest first: the incidents that ``judge_incidents`` returns for the same scan.
    """
    place = {source.file: number for number, source in enumerate(sources)}

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [event_of({**row, "fields": dict(row["fields"])}) for batch in batches for row in batch.to_pylist()]
        found.sort(key=lambda event: (place.get(event.file, len(place)), event.file, event.offset))
        judged = judge_incidents(found, sources)
        if judged:
            yield batch_of_rows([_row(one) for one in judged], _arrow_schema())

    # Not coalesce, which would also run the scan before it in one task.
    return events.repartition(1).mapInArrow(judge, INCIDENT_COLUMNS)


def incident_of(row: Mapping[str, Any]) -> Incident:
    """Turn a collected row back into an incident."""
    lists = frozenset(row["subject_lists"])
    return Incident(
        kind=row["kind"],
        root_cause=row["root_cause"],
        severity=Severity(row["severity"]),
        confidence=row["confidence"],
        subject={name: tuple(values) if name in lists else values[0] for name, values in row["subject"].items()},
        t_start_ms=row["t_start_ms"],
        t_end_ms=row["t_end_ms"],
        evidence=tuple(EvidenceLine(place["file"], place["offset"], place["line"]) for place in row["evidence"]),
        explanation=row["explanation"],
        next_step=row["next_step"],
    )


def _row(one: Incident) -> dict[str, Any]:
    subject = [(name, [value] if isinstance(value, str) else list(value)) for name, value in one.subject.items()]
    return {
        **one._asdict(),
        "severity": one.severity.value,
        "subject": subject,
        "subject_lists": [name for name, value in one.subject.items() if not isinstance(value, str)],
        "evidence": one.evidence,
    }


def _arrow_schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    return pa.schema(
        [
            *((name, text) for name in ("kind", "root_cause", "severity")),
            *(("confidence", pa.float64()), ("subject", pa.map_(text, pa.list_(text)))),
            *(("subject_lists", pa.list_(text)), ("t_start_ms", number), ("t_end_ms", number)),
            ("evidence", pa.list_(pa.struct([("file", text), ("offset", number), ("line", number)]))),
            *(("explanation", text), ("next_step", text)),
        ]
    )
