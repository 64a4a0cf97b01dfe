"""List and describe transactional ids, and the producers of partitions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.analysis.partitions import require_partition, require_topic
from eosctl.analysis.watching import describe_lives, judge_transactions, known_producers
from eosctl.collect.transactions import TransactionQuery
from eosctl.errors import EosctlError, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.model.transaction_life import JudgedTransaction, KnownProducer, TransactionLife
from eosctl.services.answered import require_answers
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.unlisted_ids import unlisted_ids

#: How often brokers look for timed-out transactions, which decides whether one past its timeout is late.
LATENESS: Final = frozenset({EvidenceKind.BROKER_CONFIGS})
#: Whether markers have been on their way for too long, from the record of the decision.
DECIDED: Final = frozenset({EvidenceKind.TRANSACTION_HISTORY})
LISTED: Final = frozenset({EvidenceKind.TRANSACTIONS}) | LATENESS
PRODUCERS: Final = LISTED | {EvidenceKind.PRODUCERS}
DESCRIBED: Final = PRODUCERS | {EvidenceKind.TRANSACTION_HISTORY}
#: Whether the partitions of a transaction and of its coordinator take writes.
WRITABLE: Final = frozenset({EvidenceKind.TOPIC_CONFIGS})


class TransactionsRequest(msgspec.Struct, frozen=True):
    """The transactions to list.

    Attributes:
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        states: The names of states, in any case; ``()`` for all.
        producer_ids: The producer ids; ``()`` for all.
        running_longer_than_ms: Only transactions that have been open for longer, in milliseconds.
        pattern: A regular expression that is searched in the transactional id.
        open_only: Whether only open transactions are listed.
        second_look_after_ms: The pause before a second pass, in milliseconds; it is made only in doubt.
    """

    connection: Connection = Connection()
    snapshot_file: Path | None = None
    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    running_longer_than_ms: int | None = None
    pattern: str | None = None
    open_only: bool = False
    second_look_after_ms: int = 500


class TransactionsFound(NamedTuple):
    """The evidence, and the transactions in it: open ones first, the oldest at the top."""

    snapshot: ClusterSnapshot
    transactions: tuple[JudgedTransaction, ...]


class LivesRequest(msgspec.Struct, frozen=True):
    """The transactional ids to describe.

    Attributes:
        ids: The transactional ids.
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        step_count: How many of the last records of the transaction log to return for each.
        require_complete: Whether an id that is not in an incomplete list is missing evidence (exit code 4).
    """

    ids: tuple[str, ...]
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    step_count: int = 20
    require_complete: bool = False


class LivesFound(NamedTuple):
    """The ids that are known, and the error for those that are not."""

    snapshot: ClusterSnapshot
    lives: tuple[TransactionLife, ...]
    error: EosctlError | None


class ProducersRequest(msgspec.Struct, frozen=True):
    """The producers to list; None is any.

    Attributes:
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        topic: The topic.
        partition: The partition.
        producer_id: The producer id.
        open_only: Whether only producers with an open transaction are listed.
    """

    connection: Connection = Connection()
    snapshot_file: Path | None = None
    topic: str | None = None
    partition: int | None = None
    producer_id: int | None = None
    open_only: bool = False


class ProducersFound(NamedTuple):
    """The evidence, and the producers in it."""

    snapshot: ClusterSnapshot
    producers: tuple[KnownProducer, ...]


def list_transactions(request: TransactionsRequest, callbacks: Callbacks = SILENT) -> TransactionsFound:
    """Return the transactions of all coordinators. Brokers filter where they can; their answer is filtered again.

    The verdicts are those of `txn hanging` and of a diagnosis: a decision without markers is stalled, by its record in
    the transaction log, which is read only if a decision or a timeout is in doubt.

    Raises:
        UsageError: A state or the pattern is invalid.
        EosctlError: The evidence cannot be read.
    """
    matches = _compile(request.pattern)
    longer_than = request.running_longer_than_ms
    states = _states(request.states, open_only=request.open_only or longer_than is not None)
    query = TransactionQuery(states, request.producer_ids, longer_than)
    wanted = EvidenceRequest(
        connection=request.connection,
        snapshot_file=request.snapshot_file,
        kinds=LISTED | DECIDED,
        second_look_after_ms=request.second_look_after_ms,
        query=query,
        explaining=LATENESS | DECIDED,
    )
    snapshot = collect_evidence(wanted, callbacks)
    require_answers(snapshot, EvidenceKind.TRANSACTIONS, "transactions")
    chosen = (
        judged
        for judged in judge_transactions(snapshot)
        if (not states or judged.transaction.state in states)
        and (not request.producer_ids or judged.transaction.producer_id in request.producer_ids)
        and (matches is None or matches.search(judged.transaction.transactional_id) is not None)
        and (longer_than is None or (judged.age_ms or 0) > longer_than)
    )
    return TransactionsFound(snapshot, tuple(chosen))


def describe_transactions(request: LivesRequest, callbacks: Callbacks = SILENT) -> LivesFound:
    """Return everything that is known of transactional ids.

    Raises:
        EosctlError: The evidence cannot be read.
    """
    wanted = EvidenceRequest(request.connection, request.snapshot_file, DESCRIBED | WRITABLE)
    snapshot = collect_evidence(wanted, callbacks)
    known = describe_lives(snapshot, request.step_count)
    lives = tuple(known[name] for name in dict.fromkeys(request.ids) if name in known)
    missing = [name for name in request.ids if name not in known]
    error = unlisted_ids(snapshot, missing, require_complete=request.require_complete) if missing else None
    return LivesFound(snapshot, lives, error)


def list_producers(request: ProducersRequest, callbacks: Callbacks = SILENT) -> ProducersFound:
    """Return the producers of partitions as their leaders know them.

    Raises:
        UsageError: The topic or the partition does not exist.
        EosctlError: The evidence cannot be read.
    """
    snapshot = collect_evidence(EvidenceRequest(request.connection, request.snapshot_file, PRODUCERS, 0), callbacks)
    if request.topic is not None and request.partition is not None:
        require_partition(snapshot, TopicPartition(request.topic, request.partition))
    elif request.topic is not None:
        require_topic(snapshot, request.topic)
    chosen = (
        known
        for known in known_producers(snapshot)
        if request.topic in (None, known.where.partition.topic)
        and request.partition in (None, known.where.partition.partition)
        and request.producer_id in (None, known.state.producer_id)
        and (not request.open_only or known.state.current_txn_start_offset is not None)
    )
    return ProducersFound(snapshot, tuple(chosen))


def _states(names: Sequence[str], *, open_only: bool) -> tuple[str, ...]:
    """Return the states that are meant, as Kafka spells them; none when all are."""
    known = {state.lower(): state for state in TransactionState}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise UsageError(
            f"Unknown state {unknown[0]!r}.",
            "",
            f"Choose of: {', '.join(state.value for state in TransactionState)}.",
        )
    chosen = [known[name.lower()] for name in names] or list(TransactionState)
    if not open_only:
        return tuple(state.value for state in chosen) if names else ()
    found = tuple(state.value for state in chosen if state.is_open)
    if not found:
        raise UsageError(
            f"No transaction in state {', '.join(names)} is open.",
            "--open and --running-longer-than are about transactions in Ongoing, PrepareCommit and PrepareAbort.",
            "Leave one of the filters out.",
        )
    return found


def _compile(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"--transactional-id-pattern {pattern[:80]!r} is not a regular expression.",
            "It is nested too deeply." if isinstance(error, RecursionError) else str(error),
            "Quote it, or correct it.",
        ) from error
