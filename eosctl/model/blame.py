"""The owners of a transactional id, and the causes of each takeover."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Confidence, Evidence


class BlameCause(StrEnum):
    """The reason why an owner lost a transactional id."""

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
    """A producer instance in logs; fields are empty if no log names them."""

    client_id: str = ""
    application: str = ""
    file: str = ""

    def __str__(self) -> str:
        known = self.client_id or self.application
        return f"{known} ({self.file})" if known and self.file else known


class Tenure(msgspec.Struct, frozen=True):
    """The time in which an instance owned a transactional id, from its InitProducerId to the next one.

    `began_at_ms` is None when the log begins later. `partitions` are those of all its transactions. `first_epoch` and
    `last_epoch` differ at TV2, where every transaction bumps the epoch.
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
    """The end of a tenure.

    `loser` is the previous owner; `winner` the next one, None without one. `advice` is the change to make.
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
    """A line of the timeline; `source` is its provenance."""

    at_ms: int
    source: str
    actor: str
    what: str


class Blame(msgspec.Struct, frozen=True):
    """The owners of a transactional id, oldest first."""

    transactional_id: str
    verdicts: tuple[BlameVerdict, ...]
    tenures: tuple[Tenure, ...]
    timeline: tuple[Moment, ...]
