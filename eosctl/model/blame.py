"""Who took a transactional id from whom, and what made it happen."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Confidence, Evidence


class BlameCause(StrEnum):
    """What ended one owner's time with a transactional id."""

    NEWER_INSTANCE = "newer-instance"
    TIMEOUT_ABORT = "timeout-abort"
    ADMIN_FENCE = "admin-fence"
    RECOVERY_BUMP = "recovery-bump"
    ID_EXPIRED = "id-expired"
    EPOCH_EXHAUSTED = "epoch-exhausted"
    TASK_MIGRATION = "task-migration"
    ID_COLLISION = "id-collision"
    STALE_VIEW = "stale-view"
    IDLE_TAKEOVER = "idle-takeover"


class Instance(msgspec.Struct, frozen=True):
    """A producer instance as logs name it; fields are empty where no log does."""

    client_id: str = ""
    application: str = ""
    file: str = ""

    def __str__(self) -> str:
        known = self.client_id or self.application
        return f"{known} ({self.file})" if known and self.file else known


class Tenure(msgspec.Struct, frozen=True):
    """The time in which one instance owned a transactional id: from its InitProducerId to the next one.

    `began_at_ms` is None when the log begins later. `partitions` are those of all its transactions. `first_epoch` and
    `last_epoch` differ at TV2, where every transaction raises the epoch.
    """

    producer_id: int
    first_epoch: int
    last_epoch: int
    timeout_ms: int
    began_at_ms: int | None
    ended_at_ms: int
    transaction_count: int
    partitions: tuple[TopicPartition, ...]
    instance: Instance = Instance()


class BlameVerdict(msgspec.Struct, frozen=True):
    """How one tenure ended.

    `loser` is whose time ended; `winner` who came next, None when nobody did. `advice` says what to change.
    """

    cause: BlameCause
    confidence: Confidence
    at_ms: int
    explanation: str
    advice: str
    loser: Tenure
    winner: Tenure | None
    evidence: tuple[Evidence, ...] = ()


class Moment(msgspec.Struct, frozen=True):
    """One line of the timeline; `source` says where it was read."""

    at_ms: int
    source: str
    actor: str
    what: str


class Blame(msgspec.Struct, frozen=True):
    """Everything that is known of a transactional id's owners, oldest first."""

    transactional_id: str
    verdicts: tuple[BlameVerdict, ...]
    tenures: tuple[Tenure, ...]
    timeline: tuple[Moment, ...]
