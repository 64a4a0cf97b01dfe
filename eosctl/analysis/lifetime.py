"""The coordinator's transactions: within their timeout, past it, or stuck between decision and markers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC
from eosctl.analysis.locate import locate_transactional_id
from eosctl.analysis.partitions import too_few_in_sync
from eosctl.analysis.state_log import record_of
from eosctl.model.hang import HangCause, HangStatus, TransactionVerdict
from eosctl.model.history import History
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import NO_TIMEOUT_MS, Transaction, TransactionState
from eosctl.model.verdict import Confidence, Evidence
from eosctl.text import duration_text, time_text

ABORT_SCAN_SETTING: Final = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
# Kafka 2.5 and later (TransactionStateManagerConfig).
DEFAULT_ABORT_SCAN_MS: Final = 10_000
CERTAINLY_OVERDUE_MS: Final = 60_000
# The minimum age of batch timestamps in Kafka's find-hanging.
MISLEADING_TIMESTAMP_MS: Final = 900_000
# Kafka's default of transaction.max.timeout.ms: a longer timeout needs a raised maximum.
DEFAULT_MAX_TIMEOUT_MS: Final = 900_000


class Watch(msgspec.Struct, frozen=True):
    """The context for judging a transaction's age.

    `abort_scan_ms` is the longest interval between a coordinator's scans for timed-out transactions. `log_takes_writes`
    is whether every partition of `__transaction_state` does, so that none stops an abort.
    """

    observed_at_ms: int
    abort_scan_ms: int
    history: History
    limits: Limits
    log_takes_writes: bool


def watch_of(snapshot: ClusterSnapshot, limits: Limits) -> Watch:
    """Return clock, scan interval, and transaction log of a snapshot."""
    log = snapshot.topic(TRANSACTION_STATE_TOPIC)
    takes_writes = log is not None and not any(too_few_in_sync(snapshot, info) for info in log.partitions)
    return Watch(snapshot.observed_at_ms, abort_scan_ms(snapshot), snapshot.history_by_id, limits, takes_writes)


def abort_scan_ms(snapshot: ClusterSnapshot) -> int:
    """Return how long after its timeout a transaction may wait for the coordinator's scan."""
    values = [setting.value for broker in snapshot.brokers if (setting := broker.setting(ABORT_SCAN_SETTING))]
    return max((int(value) for value in values if value and value.isdigit()), default=DEFAULT_ABORT_SCAN_MS)


def classify_transactions(snapshot: ClusterSnapshot, limits: Limits | None = None) -> tuple[TransactionVerdict, ...]:
    """Judge every open transaction of a coordinator in the newest pass, by transactional id."""
    if not snapshot.looks:
        return ()
    watch = watch_of(snapshot, limits or Limits())
    return tuple(
        verdict
        if verdict.status is HangStatus.OPEN
        else replace(verdict, evidence=evidence_of(verdict.transaction, watch))
        for verdict in judge_held(snapshot, watch)
    )


def judge_held(snapshot: ClusterSnapshot, watch: Watch) -> Iterator[TransactionVerdict]:
    """Judge the same transactions without evidence, which takes half of the time."""
    held = {one.transactional_id: one for one in snapshot.transactions if one.state in _HELD}
    earlier = snapshot.looks[0].with_ids(held) if len(snapshot.looks) > 1 else {}
    for name, transaction in sorted(held.items()):
        yield judge_transaction(transaction, earlier.get(name), watch, snapshot)


PREPARED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_HELD: Final = frozenset((TransactionState.ONGOING, *PREPARED))


def judge_transaction(
    transaction: Transaction, earlier: Transaction | None, watch: Watch, snapshot: ClusterSnapshot
) -> TransactionVerdict:
    """Judge a transaction in state Ongoing or Prepare*, without evidence.

    Args:
        transaction: The transaction of the newest pass.
        earlier: The same transactional id in the previous pass; None without one.
        watch: Clock, scan interval, and log.
        snapshot: The snapshot, for the leaders of partitions that wait for a marker.
    """
    if transaction.state in PREPARED:
        return _judge_prepared(transaction, earlier, watch, snapshot)
    if transaction.described and transaction.start_time_ms is not None:
        return _judge_ongoing(transaction, transaction.start_time_ms, earlier, watch, snapshot)
    return TransactionVerdict(
        transaction,
        HangStatus.UNDECIDED,
        HangCause.UNDECIDED,
        Confidence.CERTAIN,
        "Only its state is known: the coordinator did not describe it.",
    )


def is_same_transaction(one: Transaction, other: Transaction | None) -> bool:
    """Return whether two readings show one and the same transaction of an id."""
    return (
        other is not None
        and one.producer_id == other.producer_id
        and one.start_time_ms == other.start_time_ms
        and one.state == other.state
        and one.producer_epoch == other.producer_epoch
    )


def _judge_ongoing(
    transaction: Transaction, started: int, earlier: Transaction | None, watch: Watch, snapshot: ClusterSnapshot
) -> TransactionVerdict:
    age_ms = max(0, watch.observed_at_ms - started)
    if transaction.timeout_ms >= NO_TIMEOUT_MS:
        old = age_ms >= watch.limits.long_running_transaction_ms
        return TransactionVerdict(
            transaction,
            HangStatus.LONG_RUNNING if old else HangStatus.OPEN,
            HangCause.PREPARED_TWO_PHASE,
            Confidence.CERTAIN,
            f"It takes part in a two-phase commit and has no timeout: only its application ends it. "
            f"Open for {duration_text(age_ms)}.",
            age_ms=age_ms,
        )
    acts_at_ms = started + transaction.timeout_ms + watch.abort_scan_ms
    overdue_ms = watch.observed_at_ms - acts_at_ms
    expired_ms = overdue_ms + watch.abort_scan_ms
    if overdue_ms > watch.limits.clock_tolerance_ms and (earlier is None or is_same_transaction(transaction, earlier)):
        certain = overdue_ms > CERTAINLY_OVERDUE_MS
        return TransactionVerdict(
            transaction,
            HangStatus.LATE,
            HangCause.COORDINATOR_NOT_EXPIRING,
            Confidence.CERTAIN if certain else Confidence.LIKELY,
            f"Its timeout of {duration_text(transaction.timeout_ms)} passed "
            f"{duration_text(expired_ms)} ago "
            f"and the coordinator, which looks every {duration_text(watch.abort_scan_ms)}, has not aborted it."
            + _why_not_aborted(transaction, watch, snapshot),
            age_ms=age_ms,
        )
    long_running = age_ms >= watch.limits.long_running_transaction_ms
    raised = transaction.timeout_ms > DEFAULT_MAX_TIMEOUT_MS
    obstacle = _why_not_aborted(transaction, watch, snapshot)
    by_default = duration_text(DEFAULT_MAX_TIMEOUT_MS)
    return TransactionVerdict(
        transaction,
        HangStatus.LONG_RUNNING if long_running else HangStatus.OPEN,
        HangCause.TIMEOUT_RAISED if raised else HangCause.WITHIN_TIMEOUT,
        Confidence.CERTAIN,
        f"Open for {duration_text(age_ms)} of its timeout of {duration_text(transaction.timeout_ms)}; "
        + _what_follows(obstacle)
        + (f" Brokers allow {by_default} by default: their transaction.max.timeout.ms was raised." if raised else ""),
        age_ms=age_ms,
        coordinator_acts_at_ms=None if obstacle else acts_at_ms,
    )


def _what_follows(obstacle: str) -> str:
    """Return what ends a transaction that its application does not end."""
    if obstacle:
        return f"the coordinator is to abort it when that has passed.{obstacle}"
    return "the coordinator aborts it by itself when that has passed."


def _why_not_aborted(transaction: Transaction, watch: Watch, snapshot: ClusterSnapshot) -> str:
    """Return why the coordinator cannot write an abort, if the cluster shows it."""
    if watch.log_takes_writes:
        return ""
    home = locate_transactional_id(snapshot, transaction.transactional_id)
    reason = "" if home is None else too_few_in_sync(snapshot, home)
    return f" It cannot write the abort to {home.partition}: {reason}." if home is not None and reason else ""


def skewed_clock(last_timestamp_ms: int, transaction: Transaction, verdict: TransactionVerdict, watch: Watch) -> str:
    """Report wrong timestamps of a healthy transaction's records; empty if they are right.

    Batches carry the producer's clock, or times set by the application. A tool that uses them (Kafka's find-hanging
    after 15 minutes) would call this transaction hanging, or miss a hanging one.
    """
    started = transaction.start_time_ms
    if verdict.cause not in (HangCause.WITHIN_TIMEOUT, HangCause.TIMEOUT_RAISED) or started is None:
        return ""
    early_ms, ahead_ms = started - last_timestamp_ms, last_timestamp_ms - watch.observed_at_ms
    off_ms = max(early_ms, ahead_ms)
    if last_timestamp_ms < 0 or off_ms < MISLEADING_TIMESTAMP_MS:
        return ""
    where = "before it began" if early_ms > 0 else "ahead of now"
    return (
        f"Its newest batch is dated {time_text(last_timestamp_ms)}, {duration_text(off_ms)} {where}: the producer's "
        "clock, or the times that it sets, say nothing about its age."
    )


def _judge_prepared(
    transaction: Transaction, earlier: Transaction | None, watch: Watch, snapshot: ClusterSnapshot
) -> TransactionVerdict:
    record = record_of(transaction, watch.history.get(transaction.transactional_id, ()))
    since_ms = None if record is None else record.written_at_ms
    decided = "commit" if transaction.state == TransactionState.PREPARE_COMMIT else "abort"
    waiting = ", ".join(_waiting_partitions(transaction, snapshot)) or "partitions that the coordinator did not name"
    missing = f"the marker has not reached {waiting}"
    if transaction.described and not transaction.partitions:
        missing = _incomplete(transaction, snapshot)
    age_ms = None if transaction.start_time_ms is None else max(0, watch.observed_at_ms - transaction.start_time_ms)
    prepared_for_ms = _prepared_for_ms(transaction, earlier, since_ms, watch, snapshot)
    if prepared_for_ms < watch.limits.marker_delivery_ms:
        return TransactionVerdict(
            transaction,
            HangStatus.OPEN,
            HangCause.IN_FLIGHT,
            Confidence.CERTAIN,
            f"Its {decided} is decided and the markers are on their way to {waiting}.",
            age_ms=age_ms,
            prepared_since_ms=since_ms,
        )
    return TransactionVerdict(
        transaction,
        HangStatus.STALLED,
        HangCause.MARKERS_UNDELIVERED,
        Confidence.CERTAIN,
        f"Its {decided} was decided at least {duration_text(prepared_for_ms)} ago"
        + (f" (at {time_text(since_ms)})" if since_ms is not None else "")
        + f" and is final, but {missing}.",
        age_ms=age_ms,
        prepared_since_ms=since_ms,
    )


def _incomplete(transaction: Transaction, snapshot: ClusterSnapshot) -> str:
    """Return what is missing when all markers have arrived."""
    home = locate_transactional_id(snapshot, transaction.transactional_id)
    reason = "" if home is None else too_few_in_sync(snapshot, home)
    where = "__transaction_state" if home is None else str(home.partition)
    return f"its completion is not written to {where}{f' ({reason})' if reason else ''}; no marker is missing"


def _prepared_for_ms(
    transaction: Transaction, earlier: Transaction | None, since_ms: int | None, watch: Watch, snapshot: ClusterSnapshot
) -> int:
    """Return the minimum duration of the Prepare* state; the log's clock is trusted up to the tolerance."""
    seen_ms = 0
    if is_same_transaction(transaction, earlier):
        seen_ms = snapshot.looks[-1].started_at_ms - snapshot.looks[0].finished_at_ms
    logged_ms = 0
    if since_ms is not None:
        logged_ms = watch.observed_at_ms - since_ms - watch.limits.clock_tolerance_ms
    return max(seen_ms, logged_ms, _decided_ms(transaction, watch) if len(snapshot.looks) == 1 else 0)


def _decided_ms(transaction: Transaction, watch: Watch) -> int:
    """Return for how long the outcome is decided at least: a coordinator aborts what reaches its timeout.

    One reading alone, as a tool prints it, shows nothing else.
    """
    if not transaction.described or transaction.start_time_ms is None or transaction.timeout_ms >= NO_TIMEOUT_MS:
        return 0
    latest_ms = transaction.start_time_ms + transaction.timeout_ms + watch.abort_scan_ms
    return watch.observed_at_ms - latest_ms - watch.limits.clock_tolerance_ms


def _waiting_partitions(transaction: Transaction, snapshot: ClusterSnapshot) -> list[str]:
    """Return the partitions without a marker, with their leaders."""
    found = []
    for partition in transaction.partitions:
        info = snapshot.partition(partition)
        if info is None:
            found.append(f"{partition} (unknown partition)")
        elif info.leader_id is None:
            found.append(f"{partition} (no leader)")
        else:
            broker = snapshot.broker(info.leader_id)
            facts = [
                f"leader {info.leader_id}",
                "" if broker is None or broker.reachable else "unreachable",
                too_few_in_sync(snapshot, info),
            ]
            found.append(f"{partition} ({', '.join(fact for fact in facts if fact)})")
    return found


def evidence_of(transaction: Transaction, watch: Watch) -> tuple[Evidence, ...]:
    """Return the coordinator's evidence about a transaction with its provenance, including the decision record."""
    source = f"DescribeTransactions broker {transaction.coordinator_id}"
    facts = [
        ("transactional id", transaction.transactional_id),
        ("state", transaction.state),
        ("producer id", str(transaction.producer_id)),
    ]
    if transaction.described:
        facts += [
            ("producer epoch", str(transaction.producer_epoch)),
            ("timeout", f"{transaction.timeout_ms} ms"),
            ("partitions", ", ".join(str(p) for p in transaction.partitions) or "none"),
        ]
        if transaction.start_time_ms is not None:
            facts.append(("started", time_text(transaction.start_time_ms)))
    else:
        source = f"ListTransactions broker {transaction.coordinator_id}"
    found = tuple(Evidence(name, value, source) for name, value in facts)
    record = record_of(transaction, watch.history.get(transaction.transactional_id, ()))
    if record is None or transaction.state not in PREPARED:
        return found
    text = f"offset {record.offset}, written {time_text(record.written_at_ms)}"
    return (*found, Evidence(f"{record.state} record", text, f"__transaction_state-{record.log_partition}"))
