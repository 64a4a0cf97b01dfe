"""Find open transactions that hold readers back."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.analysis.unseen import classify_all_open
from eosctl.collect.transactions import TransactionQuery
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.answered import require_answers
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.transactions import DESCRIBED

#: What explains why a transaction hangs; collected only where one is in doubt.
EXPLAINED: Final = frozenset({EvidenceKind.TRANSACTION_HISTORY})
#: What shows whom a transaction affects; collected only where one is in doubt or long open.
WEIGHED: Final = DESCRIBED - {EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS} | {
    EvidenceKind.OFFSETS,
    EvidenceKind.HIDDEN_RECORDS,
    EvidenceKind.TOPIC_CONFIGS,
    EvidenceKind.GROUPS,
    EvidenceKind.GROUP_OFFSETS,
    EvidenceKind.PENDING_OFFSETS,
}
NEEDS_ACTION: Final = frozenset({HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE})


class HangingRequest(msgspec.Struct, frozen=True):
    """Where to search.

    Attributes:
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        show_all: Whether transactions that are open and healthy are returned too.
    """

    connection: Connection = Connection()
    snapshot_file: Path | None = None
    second_look_after_ms: int = 500
    show_all: bool = False


class HangingFound(NamedTuple):
    """The evidence, the verdicts (first those that need action, the oldest first), and whether any needs action."""

    snapshot: ClusterSnapshot
    verdicts: tuple[HangVerdict, ...]
    needs_action: bool


def find_hanging(request: HangingRequest, callbacks: Callbacks = SILENT) -> HangingFound:
    """Compare the open producers of partition leaders with what the coordinators know, twice.

    Transactions that a coordinator cannot end are returned also where no leader shows them as open.

    Raises:
        EosctlError: The evidence cannot be read, or no partition leader answered.
    """
    wanted = EvidenceRequest(
        connection=request.connection,
        snapshot_file=request.snapshot_file,
        kinds=DESCRIBED | WEIGHED,
        second_look_after_ms=request.second_look_after_ms,
        query=TransactionQuery(describe_idle=False),
        explaining=EXPLAINED,
        describing=frozenset() if request.show_all else WEIGHED,
    )
    snapshot = collect_evidence(wanted, callbacks)
    require_answers(snapshot, EvidenceKind.PRODUCERS, "open transactions")
    verdicts = classify_all_open(snapshot)
    shown = [one for one in verdicts if request.show_all or one.status is not HangStatus.OPEN]
    shown.sort(key=lambda one: (one.status not in NEEDS_ACTION, -(one.transaction.age_ms or 0)))
    return HangingFound(snapshot, tuple(shown), any(one.status in NEEDS_ACTION for one in verdicts))
