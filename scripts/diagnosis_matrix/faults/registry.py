"""All faults, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scripts.diagnosis_matrix.faults.hanging import (
    late_batch,
    late_in_next_transaction,
    late_offset,
    marker_in_time,
    older_epoch,
    skipped_abort,
    skipped_commit,
    stranger,
)
from scripts.diagnosis_matrix.faults.lasting import (
    STATE_LOG_OF_TWO,
    bystander_down,
    coordinator_down,
    delivered_marker,
    state_log_can_be_written,
    state_log_cannot_be_written,
    undelivered_marker,
)
from scripts.diagnosis_matrix.faults.open import (
    committed_offset,
    held_offset,
    raised_timeout,
    slow_clock,
    two_phase,
    within_timeout,
    wrong_clock,
)
from scripts.diagnosis_matrix.faults.owners import (
    administrator,
    empty_commit,
    expired_id,
    fresh_view,
    moved_task,
    nothing,
    repaired,
    restarted,
    shared_id,
    silent_successor,
    stale_view,
    takeover,
    used_up_epochs,
)
from scripts.diagnosis_matrix.site import Fault

_TWO_PHASE: Final[Mapping[str, str]] = {
    "transaction.two.phase.commit.enable": "true",
    "unstable.api.versions.enable": "true",
}
_EXPIRY: Final[Mapping[str, str]] = {
    "transactional.id.expiration.ms": "3000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "100",
}

FAULTS: Final[tuple[Fault, ...]] = (
    Fault(nothing),
    Fault(within_timeout),
    Fault(raised_timeout, settings={"transaction.max.timeout.ms": "7200000"}),
    Fault(wrong_clock),
    Fault(slow_clock),
    Fault(two_phase, settings=_TWO_PHASE),
    Fault(held_offset),
    Fault(committed_offset),
    Fault(late_batch),
    Fault(late_in_next_transaction),
    Fault(older_epoch),
    Fault(stranger),
    Fault(late_offset),
    Fault(skipped_commit, of_clients=False),
    Fault(skipped_abort, of_clients=False),
    Fault(marker_in_time, of_clients=False),
    Fault(empty_commit),
    Fault(takeover),
    Fault(moved_task),
    Fault(administrator),
    Fault(silent_successor),
    Fault(shared_id),
    Fault(repaired),
    Fault(restarted),
    Fault(stale_view),
    Fault(fresh_view),
    Fault(delivered_marker, of_clients=False, lasts=True),
    Fault(undelivered_marker, of_clients=False, lasts=True, second_look_ms=6_000),
    Fault(state_log_can_be_written, of_clients=False, lasts=True, alone=True, settings=STATE_LOG_OF_TWO),
    Fault(
        state_log_cannot_be_written,
        of_clients=False,
        lasts=True,
        alone=True,
        settings=STATE_LOG_OF_TWO,
        second_look_ms=9_000,
    ),
    Fault(coordinator_down, of_clients=False, lasts=True, alone=True),
    Fault(bystander_down, of_clients=False, lasts=True, alone=True),
    Fault(expired_id, alone=True, settings=_EXPIRY),
    Fault(used_up_epochs, alone=True),
)
