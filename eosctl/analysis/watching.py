"""The state of transactions at a point in time, for `txn watch`."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import view_of
from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.locate import locate_transactional_id
from eosctl.analysis.partitions import partitions_by_name
from eosctl.analysis.state_log import history_by_id
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction_life import JudgedTransaction, KnownProducer, Moment, TransactionLife, WatchedTransaction


def observe(snapshot: ClusterSnapshot) -> Moment:
    """Summarize a snapshot with transactions, producers, and offsets.

    `unowned_count` counts open transactions at leaders whose producer id no coordinator listed, including those that
    are ending at that moment.
    """
    infos = partitions_by_name(snapshot)
    watched = [
        WatchedTransaction(
            transactional_id=verdict.transaction.transactional_id,
            state=verdict.transaction.state,
            producer_id=verdict.transaction.producer_id,
            producer_epoch=verdict.transaction.producer_epoch,
            age_ms=verdict.age_ms,
            timeout_ms=verdict.transaction.timeout_ms,
            partitions=verdict.transaction.partitions,
            hidden_offsets=sum(_hidden(infos.get(where)) for where in verdict.transaction.partitions),
            status=verdict.status.value,
        )
        for verdict in classify_transactions(snapshot)
    ]
    owned = {transaction.producer_id for transaction in snapshot.transactions}
    unowned = sum(
        state.current_txn_start_offset is not None and state.producer_id not in owned
        for where in snapshot.producers
        for state in where.producers
    )
    return Moment(
        at_ms=snapshot.captured_at_ms,
        id_count=len(snapshot.transactions),
        hidden_offsets=sum(_hidden(info) for topic in snapshot.topics for info in topic.partitions),
        transactions=tuple(sorted(watched, key=lambda w: (-(w.age_ms or 0), w.transactional_id))),
        unowned_count=unowned,
        gap_count=len(snapshot.gaps),
    )


def _hidden(info: PartitionInfo | None) -> int:
    if info is None or info.high_watermark is None or info.last_stable_offset is None:
        return 0
    return max(0, info.high_watermark - info.last_stable_offset)


def judge_transactions(snapshot: ClusterSnapshot) -> tuple[JudgedTransaction, ...]:
    """Return every transaction of the newest pass with its verdict: open ones first, the oldest first."""
    verdicts = {verdict.transaction.transactional_id: verdict for verdict in classify_transactions(snapshot)}
    found = (JudgedTransaction(one, verdicts.get(one.transactional_id)) for one in snapshot.transactions)
    return tuple(sorted(found, key=lambda j: (j.age_ms is None, -(j.age_ms or 0), j.transaction.transactional_id)))


def known_producers(snapshot: ClusterSnapshot) -> Iterator[KnownProducer]:
    """Yield the producers of the newest pass, by partition and producer id."""
    owners = view_of(snapshot.looks[-1]).by_producer_id if snapshot.looks else {}
    for where in snapshot.producers if snapshot.looks else ():
        for state in where.producers:
            yield KnownProducer(where, state, next(iter(owners.get(state.producer_id, ())), None))


def describe_lives(snapshot: ClusterSnapshot, step_count: int) -> dict[str, TransactionLife]:
    """Return every transactional id with its producers and at most this many of its last steps."""
    steps, producers = history_by_id(snapshot), tuple(known_producers(snapshot))
    lives = {}
    for judged in judge_transactions(snapshot):
        name, producer_id = judged.transaction.transactional_id, judged.transaction.producer_id
        home = locate_transactional_id(snapshot, name)
        all_steps = tuple(steps.get(name, ()))
        lives[name] = TransactionLife(
            judged,
            None if home is None else home.partition.partition,
            tuple(known for known in producers if known.state.producer_id == producer_id),
            all_steps[max(0, len(all_steps) - step_count) :],
        )
    return lives
