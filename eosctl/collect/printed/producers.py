"""Convert what describe-producers and kafka-dump-log.sh print about producers to a part of a cluster's snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from eosctl.collect.printed.part import Part
from eosctl.collect.printed.sections import DUMP, PRODUCERS, Section, rows_of
from eosctl.model.evidence import EvidenceKind
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition

UNNAMED: Final = "(topic not printed)"
"""The topic of an output that shows neither the tool's call nor a file's folder."""
_TOPIC: Final = re.compile(r"--topic[ =]['\"]?(?P<topic>[\w.-]+)")
_PARTITION: Final = re.compile(r"--partition[ =](?P<number>\d+)")
_FOLDER: Final = re.compile(r"(?:^|/)(?P<topic>[\w.-]+)-(?P<number>\d+)/\d{20}\.(?:log|snapshot)\b")
_FIELD: Final = re.compile(r"(?P<name>\w+): (?P<value>\S+)")
_OFFSET: Final = re.compile(r"(?:Some\(|OptionalLong\[)(?P<offset>\d+)")


def _described(section: Section) -> Part:
    states = [
        ProducerState(
            producer_id=_number(row.get("ProducerId")),
            producer_epoch=_number(row.get("ProducerEpoch")),
            last_sequence=_number(row.get("LastSequence")),
            last_timestamp_ms=_number(row.get("LastTimestamp")),
            coordinator_epoch=_number(row.get("LatestCoordinatorEpoch")),
            current_txn_start_offset=_offset(row.get("CurrentTransactionStartOffset")),
        )
        for row in rows_of(section)
    ]
    topic, number = _TOPIC.search(section.command), _PARTITION.search(section.command)
    where = TopicPartition(topic["topic"] if topic else UNNAMED, int(number["number"]) if number else 0)
    return _part(where, states)


def _dumped(section: Section) -> Part | None:
    """Read the batches of a dumped segment, or the entries of a dumped snapshot of producers."""
    states: dict[int, ProducerState] = {}
    folder: re.Match[str] | None = None
    for line in (section.header, *section.lines):
        folder = _FOLDER.search(line) or folder
        fields = {match["name"]: match["value"] for match in _FIELD.finditer(line)}
        producer_id = _number(fields.get("producerId"))
        if producer_id < 0 or not {"isTransactional", "currentTxnFirstOffset"} & fields.keys():
            coordinator = fields.get("coordinatorEpoch")
            if coordinator is not None and "endTxnMarker" in fields and states:
                states = _ended(states, _number(coordinator))
            continue
        # The batch that was read last stands at the end.
        states[producer_id] = _after(states.pop(producer_id, None), producer_id, fields)
    if not states:
        return None
    where = TopicPartition(folder["topic"], int(folder["number"])) if folder else TopicPartition(UNNAMED, 0)
    return _part(where, states.values())


def _after(before: ProducerState | None, producer_id: int, fields: Mapping[str, str]) -> ProducerState:
    """Return the state of a producer after a batch of it."""
    start = None if before is None else before.current_txn_start_offset
    if "currentTxnFirstOffset" in fields:
        start = _offset(fields["currentTxnFirstOffset"])
    elif fields["isTransactional"] == "true":
        is_marker = fields.get("isControl") == "true"
        first = _number(fields.get("baseOffset"))
        start = None if is_marker else first if start is None else start
    return ProducerState(
        producer_id=producer_id,
        producer_epoch=_number(fields.get("producerEpoch")),
        last_sequence=_number(fields.get("lastSequence")),
        last_timestamp_ms=_number(fields.get("CreateTime") or fields.get("lastTimestamp") or fields.get("timestamp")),
        coordinator_epoch=_number(
            fields.get("coordinatorEpoch", "" if before is None else str(before.coordinator_epoch))
        ),
        current_txn_start_offset=start,
    )


def _ended(states: Mapping[int, ProducerState], coordinator_epoch: int) -> dict[int, ProducerState]:
    """Return the states with the epoch of the marker that the last batch holds."""
    *others, last = states.values()
    marked = ProducerState(
        producer_id=last.producer_id,
        producer_epoch=last.producer_epoch,
        last_sequence=last.last_sequence,
        last_timestamp_ms=last.last_timestamp_ms,
        coordinator_epoch=coordinator_epoch,
        current_txn_start_offset=last.current_txn_start_offset,
    )
    return {one.producer_id: one for one in (*others, marked)}


def _part(where: TopicPartition, states: Iterable[ProducerState]) -> Part:
    given = tuple(states)
    newest = max((state.last_timestamp_ms for state in given), default=-1)
    return Part(
        frozenset({EvidenceKind.PRODUCERS}),
        {EvidenceKind.PRODUCERS: "of these partitions alone"},
        producers=(PartitionProducers(where, -1, given),),
        captured_at_ms=newest if newest > 0 else None,
    )


def _offset(text: str | None) -> int | None:
    if text is not None and text.isdecimal():
        return int(text)
    found = _OFFSET.match(text or "")
    return int(found["offset"]) if found else None


def _number(text: str | None) -> int:
    try:
        return int(text) if text else -1
    except ValueError:
        return -1


PRODUCER_READERS: Final[Mapping[str, Callable[[Section], Part | None]]] = {PRODUCERS: _described, DUMP: _dumped}
