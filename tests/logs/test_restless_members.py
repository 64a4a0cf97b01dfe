"""One member that joins its group again and again keeps all others from their work; a deployment does not."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

COORDINATOR = "[2026-03-02 07:10:{:02d},100] INFO [GroupCoordinator 4]: {} (kafka.coordinator.group.GroupCoordinator)\n"


def test_one_member_that_joins_without_an_end_is_named(tmp_path: Path) -> None:
    def rounds(member: str) -> str:
        reason = f"(reason: leader {member} re-joining group during Stable)"
        begun = "Preparing to rebalance group gauges in state PreparingRebalance with old generation {} (__x-7)"
        return "".join(
            COORDINATOR.format(at, f"{begun.format(at)} {reason.replace('#', str(at))}") for at in range(1, 50, 8)
        )

    (one,) = judge(tmp_path / "one", {"server.log": rounds("reader-4c1f0c3e-aa11")})
    assert (one.kind, one.subject["member"]) == ("group_not_stable", "reader-4c1f0c3e-aa11")
    assert judge(tmp_path / "many", {"server.log": rounds("reader-#")}) == []


REFUSED = '2026-03-02T07:{:02d}:{:02d}Z level=info msg="heartbeat errored" group=gauges err="{}"\n'
REASON = "REBALANCE_IN_PROGRESS: The group is rebalancing, so a rejoin is needed."


def test_rebalances_up_to_the_end_of_a_log_are_reported(tmp_path: Path) -> None:
    def rounds(count: int) -> str:
        return "".join(REFUSED.format(10 + at // 6, at % 6 * 10, REASON) for at in range(count))

    (one,) = judge(tmp_path / "endless", {"reader.log": rounds(14)})
    assert (one.root_cause, one.subject["group"]) == ("rebalances-without-an-end", "gauges")
    assert judge(tmp_path / "few", {"reader.log": rounds(5)}) == []
    quiet = '2026-03-02T07:40:00Z level=info msg="committed offsets" group=gauges\n'
    assert judge(tmp_path / "over", {"reader.log": rounds(14) + quiet}) == []
