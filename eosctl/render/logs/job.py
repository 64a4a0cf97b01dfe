"""What the result of a job on Spark says, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eosctl.render.escaping import visible
from eosctl.render.logs.floods import shorten
from eosctl.text import count_text


def incident_lines(incidents: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each incident of a scan of logs; of many with one kind and cause, for the first ones."""
    shown, counted = shorten(incidents, lambda one: (one["severity"], one["kind"], one["root_cause"]))
    for one in shown:
        about = visible(", ".join(f"{name} {value}" for name, value in one["subject"].items()))
        yield f"{one['severity'].upper()}  {one['kind']}: {one['root_cause']}  {about}"
    for rest in counted:
        head = rest[0]
        count = count_text(len(rest), "more incident")
        yield f"{head['severity'].upper()}  {head['kind']}: {head['root_cause']}  {count}; the table has all"


def topic_lines(summary: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each topic of a reading of Kafka's files."""
    for one in summary["topics"]:
        yield (
            f"{one['topic']}: {one['record_count']} records, {one['committed_count']} committed, "
            f"{one['aborted_count']} aborted, {one['open_count']} open, {one['sequence_gap_count']} sequence gaps"
        )
    if summary["duplicate_key_count"]:
        yield f"{summary['duplicate_key_count']} business keys are there more than once"
