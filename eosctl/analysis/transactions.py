"""Transactions joined with the verdicts on them, with their steps in the log, and with the producers on partitions."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import view_of
from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.locate import locate_transactional_id
from eosctl.analysis.state_log import history_by_id
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction_life import JudgedTransaction, KnownProducer, TransactionLife


def judge_transactions(snapshot: ClusterSnapshot) -> tuple[JudgedTransaction, ...]:
    """Return every transaction of the newest look with its verdict: open ones first, the oldest at the top."""
    verdicts = {verdict.transaction.transactional_id: verdict for verdict in classify_transactions(snapshot)}
    found = (JudgedTransaction(one, verdicts.get(one.transactional_id)) for one in snapshot.transactions)
    return tuple(sorted(found, key=lambda j: (j.age_ms is None, -(j.age_ms or 0), j.transaction.transactional_id)))


def known_producers(snapshot: ClusterSnapshot) -> Iterator[KnownProducer]:
    """Yield the producers of the newest look, by partition and producer id."""
    owners = view_of(snapshot.looks[-1]).by_producer_id if snapshot.looks else {}
    for where in snapshot.producers if snapshot.looks else ():
        for state in where.producers:
            yield KnownProducer(where, state, next(iter(owners.get(state.producer_id, ())), None))


def describe_lives(snapshot: ClusterSnapshot, step_count: int) -> dict[str, TransactionLife]:
    """Return what is known of every transactional id, with at most this many of its last steps."""
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
