"""An id that no coordinator listed is unknown only where every coordinator could list it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.errors import EosctlError, EvidenceIncomplete, UsageError
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionLook
from eosctl.services.blame import BlameRequest, blame
from eosctl.services.transactions import LivesRequest, describe_transactions
from eosctl.services.unlisted_ids import unlisted_ids
from tests.analysis.scenes import EVERYTHING, broker, state_topic

COMPLETE = ClusterSnapshot(
    0,
    "c",
    brokers=(broker(1), broker(2)),
    topics=(state_topic((1, 2)),),
    looks=(TransactionLook(0, 0, (), ()),),
    collected=EVERYTHING,
)
WITHOUT_LEADER = replace(COMPLETE, topics=(state_topic((1, None)),))


def unheard(subject: str, reason: GapReason) -> ClusterSnapshot:
    gap = EvidenceGap(EvidenceKind.TRANSACTIONS, subject, reason, next_step="Grant Describe.")
    return replace(COMPLETE, gaps=(gap,))


def test_all_coordinators_listed_their_ids() -> None:
    assert isinstance(unlisted_ids(COMPLETE, ("app",)), UsageError)


@pytest.mark.parametrize(
    ("snapshot", "why"),
    [
        (WITHOUT_LEADER, "__transaction_state-1 has no leader"),
        (unheard("broker 2", GapReason.TIMED_OUT), "broker 2: timed-out"),
        (unheard("names that this principal may not describe", GapReason.HIDDEN), "may not describe: hidden"),
    ],
)
def test_a_coordinator_may_have_the_id(snapshot: ClusterSnapshot, why: str) -> None:
    error = unlisted_ids(snapshot, ("app",))
    assert not isinstance(error, UsageError)
    assert (why in error.why, bool(error.next_step)) == (True, True)
    assert isinstance(unlisted_ids(snapshot, ("app",), require_complete=True), EvidenceIncomplete)


def test_commands_do_not_call_a_hidden_id_unknown(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    save_snapshot(WITHOUT_LEADER, file)
    described = describe_transactions(LivesRequest(ids=("app",), snapshot_file=file)).error
    assert described is not None and "has no leader" in described.why
    with pytest.raises(EosctlError, match="incomplete") as blamed:
        blame(BlameRequest(name="app", snapshot_file=file))
    assert "has no leader" in blamed.value.why
