"""The records of streams groups in the files of a broker, in a form that can be compared between two brokers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eosctl.wire.internal.offsets import decode_key, decode_value
from eosctl.wire.records.batch import decode_records, iter_headers
from scripts.transcript_runner.plain import describe

#: The scenarios whose records are compared.
SCENARIOS = (
    "streams-groups/topology-initialization",
    "streams-groups/two-members",
    "streams-groups/endpoints-and-shutdown",
    "streams-groups/delays",
    "streams-groups/standby-tasks",
    "kafka-4.4/static-members",
)


def streams_group_records(broker_dir: Path, run: str) -> Iterator[dict[str, Any]]:
    """Yield the records of streams groups whose ids end with the run; a deleted group's ones as well.

    A run's name, times, and hashes of topic ids differ between brokers, so they are replaced.
    """
    for path in sorted(broker_dir.rglob("__consumer_offsets-*/*.log")):
        data = path.read_bytes().rstrip(b"\0")
        for position, header in iter_headers(data):
            for record in () if header.is_control else decode_records(data, header, position):
                key = decode_key(record.key)
                name = type(key).__name__.removesuffix("Key")
                if name.startswith("StreamsGroup") and str(getattr(key, "group_id", "")).endswith(f"-{run}"):
                    value = None if record.value is None else describe(decode_value(key, record.value))
                    yield _neutral({"record": name, "key": describe(key), "value": value}, run)


def _neutral(value: Any, run: str) -> Any:
    if isinstance(value, dict):
        return {name: "..." if _differs(name, item) else _neutral(item, run) for name, item in value.items()}
    if isinstance(value, list):
        return [_neutral(item, run) for item in value]
    return re.sub(rf"\b{run}\b", "RUN", value) if isinstance(value, str) else value


def _differs(name: str, value: Any) -> bool:
    return name in ("metadataHash", "assignmentTimestamp") and bool(value)
