"""A batch at or below the last sequence of its producer was numbered twice; only one above it leaves a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

LINE = (
    "[2023-02-11 05:{minute:02}:09,{at:03}] ERROR [ReplicaManager broker=4] Error processing append operation on "
    "partition tolls-2 (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 610 at "
    "offset {offset} in partition tolls-2: {sequence} (incoming seq. number), {last} (current end sequence number)\n"
)
START = "[2023-02-11 05:00:00,000] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)\n"


def judged(folder: Path, *pairs: tuple[int, int]) -> list[Incident]:
    lines = (
        LINE.format(minute=number, at=number, offset=700 + number, sequence=sequence, last=last)
        for number, (sequence, last) in enumerate(pairs, 1)
    )
    return judge(folder, {"server.log": START + "".join(lines)})


@pytest.mark.parametrize("pairs", [[(88, 88)], [(88, 90), (88, 95)], [(0, 12)]])
def test_numbers_that_were_used_again(pairs: list[tuple[int, int]], tmp_path: Path) -> None:
    (one,) = judged(tmp_path, *pairs)
    assert (one.kind, one.root_cause) == ("out_of_order_sequence", "sequence-used-again")
    assert one.subject["topic-partition"] == "tolls-2" and one.subject["producerId"] == "610"
    assert "Nothing is missing on the leader" in one.explanation and "those in between" not in one.explanation


@pytest.mark.parametrize("pairs", [[(92, 88)], [(92, 88), (93, 88)], [(7, 2**31 - 3)]])
def test_numbers_above_the_last_leave_a_gap(pairs: list[tuple[int, int]], tmp_path: Path) -> None:
    (one,) = judged(tmp_path, *pairs)
    assert one.root_cause == "sequence-gap"


def test_a_gap_and_used_numbers_are_not_one_fault(tmp_path: Path) -> None:
    assert [one.root_cause for one in judged(tmp_path, (92, 88), (88, 88))] == ["sequence-gap", "sequence-used-again"]
