"""Declare which kinds of faults explain which others, and what must connect both.

One fault has several reports: the server's, those of its clients, and those of the programs around them. Each relation
names the kinds of a cause and of its effects, how long after the cause an effect is reported, and the link that both
must have. What names another producer, group, task, or client is never an effect; see ``related``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from eosctl.logs.incidents.kinds import kinds_with


class Link(StrEnum):
    """What connects an effect with its cause.

    Attributes:
        TRANSACTIONS: The effect waits for the transaction coordinator whose log is the cause's partition.
        GROUPS: The same for the coordinator of a group.
        WORDS: The same program reports the effect, and quotes the error of the cause.
    """

    TRANSACTIONS = "transactions"
    GROUPS = "groups"
    WORDS = "words"


class Relation(NamedTuple):
    """A relation of a cause and its effects.

    Attributes:
        causes: Kinds of the cause.
        effects: Kinds of the effects.
        link: What connects both.
        sentence: What the effect means. ``{who}`` is the producer, group, or task, and ``{at}`` the time of the effect.
        within_ms: Maximum time from the end of the cause to the begin of the effect.
        unexplained: Whether the effect must have no cause of its own.
    """

    causes: frozenset[str]
    effects: frozenset[str]
    link: Link
    sentence: str
    within_ms: int
    unexplained: bool = False


LATE_MS: Final = 180_000
"""Maximum time until a client gives a request up: max.block.ms and default.api.timeout.ms are a minute each."""
MOMENT_MS: Final = 30_000
"""Maximum time from an error to the last layer of a program that reports it."""
_NOT_WRITABLE: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
"""Faults of a partition for which a coordinator answers COORDINATOR_NOT_AVAILABLE (``TransactionStateManager``)."""
_INITIALIZATION: Final = frozenset({"init_producer_id_timeout"})
_TRANSACTIONS: Final = kinds_with("needs_transaction_coordinator") - _INITIALIZATION - {"coordinator_unavailable"}

RELATIONS: Final = (
    Relation(
        _NOT_WRITABLE,
        _INITIALIZATION,
        Link.TRANSACTIONS,
        "{who} got no producer id at {at}, and has to initialize its producer again.",
        LATE_MS,
    ),
    Relation(
        _NOT_WRITABLE,
        frozenset({"coordinator_unavailable"}),
        Link.TRANSACTIONS,
        "the coordinator refused the requests of {who} from {at} on.",
        LATE_MS,
    ),
    Relation(
        _NOT_WRITABLE,
        _TRANSACTIONS,
        Link.TRANSACTIONS,
        "the transaction of {who} failed at {at}; abort it and repeat its work.",
        LATE_MS,
    ),
    Relation(
        _NOT_WRITABLE,
        kinds_with("needs_group_coordinator"),
        Link.GROUPS,
        "the coordinator refused the requests of {who} from {at} on.",
        LATE_MS,
    ),
    Relation(
        kinds_with("in_error_state") | {"request_failed"},
        kinds_with("fails_transaction") | {"producer_error"},
        Link.WORDS,
        "{who} reported the same error again at {at}.",
        MOMENT_MS,
        unexplained=True,
    ),
)
"""The first relation that connects two incidents counts."""
