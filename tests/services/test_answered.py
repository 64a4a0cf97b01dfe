"""An empty result is refused where no broker answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.errors import ClusterUnreachable
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import PartitionProducers, TransactionLook
from eosctl.services.answered import require_answers
from eosctl.services.groups import GroupsRequest, measure_groups
from eosctl.services.hanging import HangingRequest, find_hanging
from eosctl.services.transactions import TransactionsRequest, list_transactions
from tests.analysis.scenes import EVERYTHING, ORDERS_0, broker

KINDS = (EvidenceKind.PRODUCERS, EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS)


def lost(*broker_ids: int, reason: GapReason = GapReason.TIMED_OUT) -> tuple[EvidenceGap, ...]:
    return tuple(
        EvidenceGap(kind, f"broker {broker_id}", reason, detail="It did not answer in time.", next_step="Check it.")
        for kind in KINDS
        for broker_id in broker_ids
    )


def cluster(gaps: tuple[EvidenceGap, ...], *producers: PartitionProducers) -> ClusterSnapshot:
    return ClusterSnapshot(
        0,
        "c",
        brokers=(broker(1), broker(2)),
        looks=(TransactionLook(0, 0, producers, ()),),
        gaps=gaps,
        collected=EVERYTHING,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_silence_of_all_brokers_is_not_an_empty_result(kind: EvidenceKind) -> None:
    with pytest.raises(ClusterUnreachable, match="No broker answered for things") as refused:
        require_answers(cluster(lost(1, 2)), kind, "things")
    assert refused.value.why == "Asked: broker 1, 2. It did not answer in time."
    assert refused.value.next_step == "Check it."


@pytest.mark.parametrize("kind", KINDS)
def test_partial_answers_are_a_result(kind: EvidenceKind) -> None:
    require_answers(cluster(lost(2), PartitionProducers(ORDERS_0, 1, ())), kind, "things")


@pytest.mark.parametrize("kind", KINDS)
def test_answers_and_refusals_are_results(kind: EvidenceKind) -> None:
    require_answers(cluster(()), kind, "things")
    require_answers(cluster(lost(1, 2, reason=GapReason.NOT_AUTHORIZED)), kind, "things")


def test_commands_do_not_report_that_nothing_hangs(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    save_snapshot(cluster(lost(1, 2)), file)
    with pytest.raises(ClusterUnreachable, match="open transactions"):
        find_hanging(HangingRequest(snapshot_file=file))
    with pytest.raises(ClusterUnreachable, match="for transactions"):
        list_transactions(TransactionsRequest(snapshot_file=file))
    with pytest.raises(ClusterUnreachable, match="for groups"):
        measure_groups(GroupsRequest(snapshot_file=file))
