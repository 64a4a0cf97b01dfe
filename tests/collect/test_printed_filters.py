"""Partitions that kafka-topics.sh lists by a filter of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, lint_configuration

CALL = "$ kafka-topics.sh --bootstrap-server k:9092 --describe {option}\n"
ROW = "\tTopic: pay\tPartition: 3\tLeader: {leader}\tReplicas: 1,2,3\tIsr: {isr}\n"
WHOLE = "Topic: pay\tPartitionCount: 4\tReplicationFactor: 3\tConfigs: min.insync.replicas=3\n" + "".join(
    f"\tTopic: pay\tPartition: {number}\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n" for number in range(3)
)


def lint(folder: Path, **texts: str) -> dict[str, str]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return {one.check_id: one.message for one in lint_configuration(LintRequest((folder,))).found}


@pytest.mark.parametrize(
    ("option", "leader", "isr", "check", "message"),
    [
        ("--under-min-isr-partitions", "1", "1", "EOS-TOP-002", "partition 3 below min.insync.replicas (1 of 1)"),
        ("--at-min-isr-partitions", "1", "1,2", "EOS-TOP-007", "partition 3 at min.insync.replicas=2"),
        ("--unavailable-partitions", "none", "1", "EOS-TOP-001", "partition 3 without leader"),
    ],
)
def test_a_filter_shows_what_the_partition_lacks(
    tmp_path: Path, option: str, leader: str, isr: str, check: str, message: str
) -> None:
    found = lint(tmp_path, a=CALL.format(option=option) + ROW.format(leader=leader, isr=isr))
    assert message in found[check]


def test_a_row_without_its_call_shows_no_minimum(tmp_path: Path) -> None:
    assert lint(tmp_path, a=ROW.format(leader="1", isr="1")).keys() == {"EOS-OPS-006"}


def test_a_printed_setting_counts_before_a_filter(tmp_path: Path) -> None:
    row = CALL.format(option="--under-min-isr-partitions") + ROW.format(leader="1", isr="1")
    found = lint(tmp_path, a=row, b=WHOLE)
    assert "partition 3 below min.insync.replicas=3 (1 of 4)" in found["EOS-TOP-002"]
