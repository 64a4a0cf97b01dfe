"""The ordered report about a transactional id's owners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eosctl.analysis.blame.stale_view import find_regressions
from eosctl.analysis.blame.tenures import Reign, find_reigns
from eosctl.analysis.blame.verdicts import judge_reigns
from eosctl.analysis.fencing import find_fencings
from eosctl.analysis.log_order import LogPosition, effective_times
from eosctl.model.blame import Blame, BlameCause, BlameVerdict, Moment
from eosctl.model.group_commit import GroupCommit
from eosctl.model.history import TransactionLogEntry
from eosctl.model.limits import Limits
from eosctl.model.log_event import LogEvent
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Confidence

_STALE_ADVICE = (
    "Run brokers with the fix of KAFKA-17507 (3.9.1 and later, 4.0 and later), and consumers that fetch offsets with "
    "require_stable (isolation.level=read_committed, Kafka 2.5 and later)."
)


def resolve_id(snapshot: ClusterSnapshot, name: str) -> str | None:
    """Return the transactional id for a name: the name itself, or the owner of a producer id.

    Args:
        snapshot: The snapshot, with transactions or the transaction log.
        name: A transactional id, or a producer id in digits.
    """
    known = {t.transactional_id: t.producer_id for t in snapshot.transactions}
    entries = [entry for entry in snapshot.transaction_history if entry.state]
    if name in known or any(entry.transactional_id == name for entry in snapshot.transaction_history):
        return name
    if not name.isdigit():
        return None
    owners = [transactional_id for transactional_id, producer_id in known.items() if producer_id == int(name)]
    owners += [entry.transactional_id for entry in entries if entry.producer_id == int(name)]
    return next(iter(owners), None)


def explain_blame(
    snapshot: ClusterSnapshot,
    transactional_id: str,
    *,
    events: Sequence[LogEvent] = (),
    commits: Sequence[GroupCommit] = (),
    limits: Limits | None = None,
) -> Blame:
    """Report the owners of a transactional id, their times, and why each lost it.

    Args:
        snapshot: The snapshot, with the transaction log; collected producers are included.
        transactional_id: The id.
        events: Log events of brokers and clients, if any.
        commits: Offsets committed in transactions, if they were read.
        limits: Thresholds.
    """
    limits = limits or Limits()
    entries = snapshot.history_by_id.get(transactional_id, ())
    reigns = find_reigns(entries, events)
    fencings = find_fencings(snapshot, limits)
    verdicts = list(judge_reigns(transactional_id, reigns, fencings, limits, snapshot.own_fences))
    verdicts += _stale_views(reigns, commits)
    mine = {entry.producer_id for entry in entries if entry.state}
    times = effective_times([(_position(entry), entry.written_at_ms) for entry in entries])
    timeline = [
        *((time, _moment(entry)) for time, entry in zip(times, entries, strict=True)),
        *((moment.at_ms, moment) for moment in _from_logs(events, transactional_id, mine)),
        *((moment.at_ms, moment) for moment in _from_leaders(snapshot, mine)),
    ]
    return Blame(
        transactional_id,
        tuple(sorted(verdicts, key=lambda verdict: verdict.at_ms)),
        tuple(reign.tenure for reign in reigns),
        tuple(moment for _, moment in sorted(timeline, key=lambda pair: pair[0])),
    )


def _stale_views(reigns: Sequence[Reign], commits: Sequence[GroupCommit]) -> Iterator[BlameVerdict]:
    tenures = {reign.tenure.producer_id: reign.tenure for reign in reigns}
    for regression in find_regressions(commits, tenures):
        after = regression.after
        mine = tenures.get(after.producer_id) or tenures[regression.before.producer_id]
        yield BlameVerdict(
            cause=BlameCause.STALE_VIEW,
            confidence=Confidence.LIKELY,
            at_ms=after.written_at_ms,
            explanation=regression.explanation,
            advice=_STALE_ADVICE,
            loser=tenures.get(regression.before.producer_id, mine),
            winner=mine,
            evidence=regression.evidence,
        )


def _position(entry: TransactionLogEntry) -> LogPosition:
    return LogPosition(f"__transaction_state-{entry.log_partition}", entry.offset)


def _moment(entry: TransactionLogEntry) -> Moment:
    source = f"__transaction_state-{entry.log_partition} offset {entry.offset}"
    if not entry.state:
        return Moment(entry.written_at_ms, source, "coordinator", "the id expired")
    where = ", ".join(str(partition) for partition in entry.partitions)
    what = f"{entry.state}, producer id {entry.producer_id}, epoch {entry.producer_epoch}"
    return Moment(entry.written_at_ms, source, "coordinator", f"{what}: {where}" if where else what)


def _from_logs(events: Iterable[LogEvent], transactional_id: str, producer_ids: set[int]) -> Iterator[Moment]:
    mine = {str(producer_id) for producer_id in producer_ids}
    for event in events:
        named = event.fields.get("transactional_id")
        if event.time_ms is None or not (
            named == transactional_id or (named is None and event.fields.get("producer_id") in mine)
        ):
            continue
        actor = event.fields.get("client_id") or event.application
        yield Moment(event.time_ms, f"{event.file}:{event.line}", actor, f"{event.category}: {event.message[:200]}")


def _from_leaders(snapshot: ClusterSnapshot, producer_ids: set[int]) -> Iterator[Moment]:
    """Return the time of each producer's last batch, by its timestamp or, without one, by the observation."""
    observed_at_ms = snapshot.observed_at_ms
    for where in snapshot.producers:
        for state in where.producers:
            if state.producer_id in producer_ids:
                since = state.current_txn_start_offset
                is_dated = state.last_timestamp_ms >= 0
                what = f"{where.partition}: last batch of epoch {state.producer_epoch}" + (
                    ("" if is_dated else " (its time is unknown, this is when the leader was asked)")
                    + ("" if since is None else f", open since offset {since}")
                )
                at_ms = state.last_timestamp_ms if is_dated else observed_at_ms
                source = f"DescribeProducers broker {where.broker_id}"
                yield Moment(at_ms, source, f"broker {where.broker_id}", what)
