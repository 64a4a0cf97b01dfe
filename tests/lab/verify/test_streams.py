"""State stores hold what is committed, through kills and takeovers; a rule that is not kept is found."""

from __future__ import annotations

from functools import partial

import pytest

from eosctl.lab.history.events import StoreSeen
from eosctl.lab.verify import conduct as conduct_module
from eosctl.lab.verify.plan import PlannedFault, VerifyPlan, Workload
from eosctl.lab.verify.report import Verdict, judge
from eosctl.lab.verify.streams import run_streams
from eosctl.lab.workloads.streams.rules import STREAMS_4_3, TRANSACTIONAL_STORES, Rules
from tests.lab.verify.virtual import play_virtually

PLAN = VerifyPlan("v", 4, (Workload.STREAMS,), duration_ms=12_000, rate_per_s=20, partition_count=2)
LATE_MARKERS = (PlannedFault(500, 9_000, "late-markers", 0, 400),)


def test_stores_hold_what_is_committed_in_both_modes() -> None:
    played = play_virtually(PLAN, emulate="4.4")
    report = judge(played.history, unsettled=played.conducted.unsettled)
    assert (report.verdict, dict(report.anomaly_counts)) == (Verdict.CLEAN, {})
    assert played.topics == frozenset()
    stores = [event for event in played.history if isinstance(event, StoreSeen)]
    restored = [event for event in stores if event.moment == "restored"]
    wiped = [event for event in restored if "-wiped-" in event.partition.topic]
    kept = [event for event in restored if "-kept-" in event.partition.topic]
    assert {event.start for event in wiped} >= {"restore all", "wipe"}
    assert {event.start for event in kept} >= {"restore all", "restore rest"}
    assert sum(event.restored_count for event in kept) < sum(event.restored_count for event in wiped)
    assert {event.moment for event in stores} == {"restored", "standby", "closed"}


@pytest.mark.parametrize(
    ("rules", "faults", "kind"),
    [
        (STREAMS_4_3._replace(wipes_unknown=False), (), "store-divergence"),
        (STREAMS_4_3._replace(restores_to_end=False), LATE_MARKERS, "stale-store"),
        (TRANSACTIONAL_STORES._replace(restores_committed=False), (), "store-divergence"),
    ],
    ids=["believes", "restores-early", "restores-aborted"],
)
def test_a_rule_that_is_not_kept_is_found(
    rules: Rules, faults: tuple[PlannedFault, ...], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct_module, "run_streams", partial(run_streams, rules=rules))
    report = judge(play_virtually(PLAN, faults, emulate="4.4").history)
    assert report.anomaly_counts.get(kind), dict(report.anomaly_counts)
