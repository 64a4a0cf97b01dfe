"""What each command of ``eosctl txn`` collects, and which verdicts ask for action."""

from __future__ import annotations

from typing import Final

from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus

#: How often brokers look for timed-out transactions, which tells whether one past its timeout is late.
LATENESS: Final = frozenset({EvidenceKind.BROKER_CONFIGS})
LISTED: Final = frozenset({EvidenceKind.TRANSACTIONS}) | LATENESS
PRODUCERS: Final = LISTED | {EvidenceKind.PRODUCERS}
DESCRIBED: Final = LISTED | {EvidenceKind.PRODUCERS, EvidenceKind.TRANSACTION_HISTORY}
JUDGED: Final = DESCRIBED | {
    EvidenceKind.OFFSETS,
    EvidenceKind.HIDDEN_RECORDS,
    EvidenceKind.TOPIC_CONFIGS,
    EvidenceKind.GROUPS,
    EvidenceKind.GROUP_OFFSETS,
}
#: What tells why a transaction hangs, and what those hold back that are worth naming.
EXPLAINED: Final = frozenset({EvidenceKind.TRANSACTION_HISTORY})
WEIGHED: Final = JUDGED - {EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS}
NEEDS_ACTION: Final = frozenset({HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE})
NOT_WORTH_A_LOOK: Final = frozenset({HangStatus.OPEN})
