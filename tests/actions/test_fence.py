"""Which ids may be fenced: each case differs from the permitted one in a single fact."""

import pytest

from eosctl.actions.fence import plan_fence
from eosctl.errors import PlanRefused, UsageError
from eosctl.model.evidence import EvidenceKind
from tests.analysis.scenes import ORDERS_0, gap, look, snapshot, transaction


def cluster(*transactions, **fields):
    return snapshot(look([], transactions), **fields)


def test_an_open_transaction_is_fenced_with_its_own_timeout():
    plan = plan_fence(cluster(transaction(timeout_ms=77_000)), "app")
    assert plan.timeout_ms == 77_000
    assert "aborted on 1 partition (orders-0)" in plan.consequence


def test_an_idle_id_is_fenced_and_nothing_is_aborted():
    assert plan_fence(cluster(transaction("CompleteCommit")), "app").consequence.startswith("Nothing is open")


@pytest.mark.parametrize("state", ["PrepareCommit", "PrepareAbort", "PrepareEpochFence"])
def test_what_is_decided_is_not_touched(state):
    with pytest.raises(PlanRefused, match="nothing was changed"):
        plan_fence(cluster(transaction(state)), "app")


def test_an_unknown_id_and_a_silent_coordinator_are_refused():
    with pytest.raises(UsageError, match="Unknown transactional id"):
        plan_fence(cluster(), "app")
    silent = cluster(gaps=(gap(EvidenceKind.TRANSACTIONS, "broker 1", "COORDINATOR_LOAD_IN_PROGRESS"),))
    with pytest.raises(PlanRefused) as refused:
        plan_fence(silent, "app")
    assert "COORDINATOR_LOAD_IN_PROGRESS" in refused.value.why


def test_without_a_description_the_timeout_is_unknown():
    with pytest.raises(PlanRefused, match="did not describe"):
        plan_fence(cluster(transaction(described=False)), "app")


def test_flink_and_two_phase_ids_ask_for_the_id_again():
    flink = transaction(transactional_id="sink-1-42", partitions=(ORDERS_0,))
    with pytest.raises(PlanRefused, match="can lose data") as refused:
        plan_fence(cluster(flink), "sink-1-42")
    assert "Flink" in refused.value.why
    assert plan_fence(cluster(flink), "sink-1-42", accept_data_loss="sink-1-42").warnings
    two_phase = transaction(timeout_ms=2_147_483_647)
    with pytest.raises(PlanRefused, match="can lose data"):
        plan_fence(cluster(two_phase), "app")
    with pytest.raises(PlanRefused, match="two-phase commit and cannot"):
        plan_fence(cluster(two_phase), "app", accept_data_loss="app")
