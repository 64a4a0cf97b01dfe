"""Errors whose exception is a record of its own, because a wrapper stamps each line."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.log_findings import collect_log_findings

START = "2026-06-03T22:34:{:02}.610Z web[1]: [2026-06-03 22:34:{:02},609] INFO [Producer clientId=p-3] {}\n"
HEAD = (
    "2026-06-03T22:{}.610Z kafka[kb-2]: ERROR [ReplicaManager broker=2] Error processing append operation on partition "
    "{} (kafka.server.ReplicaManager)\n"
)
BELOW = (
    "2026-06-03T22:{}.610Z kafka[kb-2]: org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the "
    "current ISR Set(2) is insufficient to satisfy the min.isr requirement of 2 for partition {}\n"
)
RETRIED = (
    "Got error produce response with correlation id 11 on topic-partition fees-0, retrying (99 attempts left). Error: "
    "NOT_ENOUGH_REPLICAS (org.apache.kafka.clients.producer.internals.Sender)"
)


def kinds_of(folder: Path, last: str) -> list[str]:
    """Judge refusals of a partition with a last pair of lines; return the kinds of incidents, and of open records."""
    text = "".join(START.format(second, second, "Kafka version: 3.4.1 (o.a.k.c.u.AppInfoParser)") for second in (1, 2))
    for second in (10, 11, 12):
        text += HEAD.format(f"34:{second}", "fees-0") + BELOW.format(f"34:{second}", "fees-0")
        text += START.format(second, second, RETRIED)
    (folder / "all.log").write_text(text + last)
    findings = collect_log_findings([folder])
    return sorted([*(one.kind for one in findings.incidents), *(one.category for one in findings.unexplained)])


def test_the_head_of_an_exception_is_not_a_fault_of_its_own(tmp_path: Path) -> None:
    assert kinds_of(tmp_path, HEAD.format("36:02", "fees-0") + BELOW.format("36:02", "fees-0")) == [
        "not_enough_replicas"
    ]


@pytest.mark.parametrize(
    "head",
    [HEAD.format("36:02", "rates-7"), HEAD.format("36:01", "fees-0")],
    ids=["another partition", "another moment"],
)
def test_an_error_above_another_fault_is_reported(head: str, tmp_path: Path) -> None:
    assert len(kinds_of(tmp_path, head + BELOW.format("36:02", "fees-0"))) == 2
