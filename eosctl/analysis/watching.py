"""The state of transactions at a point in time, for `txn watch` and `top`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, overload

from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lifetime import classify_transactions, judge_held, watch_of
from eosctl.analysis.locate import locate_transactional_id
from eosctl.analysis.second_look import doubt_of
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.hang import HangStatus, HangVerdict, TransactionVerdict
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition, Transaction, TransactionState
from eosctl.model.transaction_life import (
    JudgedTransaction,
    KnownProducer,
    Moment,
    TransactionLife,
    WatchedBroker,
    WatchedTransaction,
)

LIMITS: Final = Limits()
#: About the rows of a screen.
MADE_TOGETHER: Final = 64
_WORST_FIRST: Final = (
    HangStatus.HANGING,
    HangStatus.STALLED,
    HangStatus.LATE,
    HangStatus.UNDECIDED,
    HangStatus.LONG_RUNNING,
    HangStatus.OPEN,
)


class OpenTransactions(Sequence[WatchedTransaction]):
    """Rows in order, each made when it is read: of thousands, a screen shows forty.

    Args:
        entries: Rows, and transactions from which rows are to be made.
        watched: Makes the rows of transactions, by transactional id.
    """

    def __init__(
        self,
        entries: Sequence[WatchedTransaction | Transaction],
        watched: Callable[[Sequence[Transaction]], Mapping[str, WatchedTransaction]],
    ) -> None:
        self._entries = list(entries)
        self._watched = watched

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, place: int) -> WatchedTransaction: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[WatchedTransaction, ...]: ...

    def __getitem__(self, place: int | slice) -> WatchedTransaction | tuple[WatchedTransaction, ...]:
        if isinstance(place, slice):
            return tuple(self._made(range(len(self))[place]))
        index = range(len(self))[place]
        one = self._entries[index]
        if isinstance(one, Transaction):
            self._made(range(index, min(index + MADE_TOGETHER, len(self))))
            one = self._entries[index]
        assert isinstance(one, WatchedTransaction)
        return one

    def __iter__(self) -> Iterator[WatchedTransaction]:
        return iter(self._made(range(len(self))))

    def _made(self, indexes: Sequence[int]) -> list[WatchedTransaction]:
        wanted = [one for index in indexes if isinstance(one := self._entries[index], Transaction)]
        rows = self._watched(wanted) if wanted else {}
        made = []
        for index in indexes:
            one = self._entries[index]
            row = rows[one.transactional_id] if isinstance(one, Transaction) else one
            self._entries[index] = row
            made.append(row)
        return made


def observe(snapshot: ClusterSnapshot) -> Moment:
    """Summarize a snapshot with transactions, producers, and offsets.

    The verdicts are those of `txn hanging`. A transaction that its coordinator holds open is one row, with the worst
    verdict on any of its partitions; one that no coordinator holds open is a row for each partition. Transactions
    without any doubt are judged when their row is read; until then, their age gives their status.
    """
    plain = _plain(snapshot)
    plain_ids = {one.producer_id for one in plain}
    watched, unowned_count = _watched(snapshot if not plain else _of_producers(snapshot, lambda p: p not in plain_ids))
    now_ms = snapshot.looks[-1].finished_at_ms if plain else 0
    ordered: list[tuple[tuple[int, int, str], WatchedTransaction | Transaction]] = []
    ordered += ((_place(one), one) for one in watched)
    ordered += ((_place_of_plain(one, now_ms), one) for one in plain)
    ordered.sort(key=itemgetter(0))
    gaps = [gap for gap in snapshot.gaps if not _hides_the_controller(gap)]

    def rows(transactions: Sequence[Transaction]) -> Mapping[str, WatchedTransaction]:
        wanted = {one.producer_id for one in transactions}
        found, _ = _watched(_of_producers(snapshot, wanted.__contains__))
        return {one.transactional_id: one for one in found}

    return Moment(
        at_ms=snapshot.captured_at_ms,
        id_count=len(snapshot.transactions),
        hidden_offsets=sum(_hidden(info) for topic in snapshot.topics for info in topic.partitions),
        transactions=OpenTransactions([one for _, one in ordered], rows),
        unowned_count=unowned_count,
        gap_count=len(gaps),
        cluster_id=snapshot.cluster_id,
        controller_id=snapshot.controller_id,
        brokers=_brokers(snapshot),
        unread=tuple(dict.fromkeys(_sentence(gap) for gap in gaps)),
        gaps=tuple(gaps),
        are_groups_read=EvidenceKind.GROUP_OFFSETS in snapshot.collected,
    )


def _plain(snapshot: ClusterSnapshot) -> Sequence[Transaction]:
    """Return the transactions that are certainly open or long-running.

    Their coordinators hold them open within their timeout, and the leaders of their partitions show nothing else. Where
    groups were read, none is: the groups of each transaction are counted.
    """
    if not snapshot.looks or EvidenceKind.GROUP_OFFSETS in snapshot.collected:
        return ()
    notable: set[int] = set()
    for look in snapshot.looks:
        notable |= doubt_of(look).producer_ids()
        notable.update(look.shared_producer_ids)
    infos = snapshot.partitions_by_name
    for where in snapshot.producers:
        info = infos.get(where.partition)
        if where.is_reported_hanging or (info is not None and info.leader_id not in (None, where.broker_id)):
            notable.update(state.producer_id for state in where.producers)
    return [
        one
        for one in snapshot.transactions
        if one.state == TransactionState.ONGOING and one.described and one.producer_id not in notable
    ]


def _of_producers(snapshot: ClusterSnapshot, is_wanted: Callable[[int], bool]) -> ClusterSnapshot:
    """Return the snapshot with the transactions of some producer ids, and the partitions that they have written to."""
    written = {
        where.partition
        for look in snapshot.looks
        for where in look.producers
        if any(is_wanted(state.producer_id) for state in where.producers)
    }
    return snapshot.with_looks(
        tuple(
            replace(
                look,
                producers=tuple(
                    replace(where, producers=tuple(state for state in where.producers if is_wanted(state.producer_id)))
                    for where in look.producers
                    if where.partition in written
                ),
                transactions=tuple(one for one in look.transactions if is_wanted(one.producer_id)),
            )
            for look in snapshot.looks
        )
    )


def _place_of_plain(transaction: Transaction, now_ms: int) -> tuple[int, int, str]:
    age_ms = max(0, now_ms - (transaction.start_time_ms or 0))
    is_long = age_ms >= LIMITS.long_running_transaction_ms
    status = HangStatus.LONG_RUNNING if is_long else HangStatus.OPEN
    return _WORST_FIRST.index(status), -age_ms, transaction.transactional_id


def _place(one: WatchedTransaction) -> tuple[int, int, str]:
    return _WORST_FIRST.index(HangStatus(one.status)), -(one.age_ms or 0), one.transactional_id


def _watched(snapshot: ClusterSnapshot) -> tuple[list[WatchedTransaction], int]:
    """Judge all transactions of a snapshot; return them, and the number of those that no coordinator holds open."""
    infos = snapshot.partitions_by_name
    verdicts = judge_held(snapshot, watch_of(snapshot, LIMITS)) if snapshot.looks else ()
    held = {verdict.transaction.transactional_id: verdict for verdict in verdicts}
    seen: dict[str, list[HangVerdict]] = {}
    orphans: list[HangVerdict] = []
    for verdict in classify_open_transactions(snapshot, judged=held):
        owner = verdict.transaction.transactional_id
        if owner in held and verdict.status is not HangStatus.HANGING:
            seen.setdefault(owner, []).append(verdict)
        else:
            orphans.append(verdict)
    watched = [_held(verdict, seen.get(owner, ()), infos) for owner, verdict in held.items()]
    watched += (_orphan(verdict, infos, snapshot.captured_at_ms) for verdict in orphans)
    return watched, len(orphans)


def _hides_the_controller(gap: EvidenceGap) -> bool:
    """Return whether only the controller stays unknown: naming it takes the right to describe the cluster."""
    return gap.kind is EvidenceKind.QUORUM and gap.reason is GapReason.NOT_AUTHORIZED


def _held(
    verdict: TransactionVerdict, seen: Sequence[HangVerdict], infos: Mapping[TopicPartition, PartitionInfo]
) -> WatchedTransaction:
    transaction = verdict.transaction
    verdicts: list[TransactionVerdict | HangVerdict] = [verdict, *seen]
    worst = min(verdicts, key=lambda one: _WORST_FIRST.index(one.status))
    return WatchedTransaction(
        transactional_id=transaction.transactional_id,
        state=transaction.state,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        age_ms=verdict.age_ms,
        timeout_ms=transaction.timeout_ms,
        partitions=transaction.partitions,
        hidden_offsets=sum(_hidden(infos.get(where)) for where in transaction.partitions),
        status=worst.status.value,
        explanation=worst.explanation,
        groups=_groups(seen),
    )


def _orphan(verdict: HangVerdict, infos: Mapping[TopicPartition, PartitionInfo], now_ms: int) -> WatchedTransaction:
    transaction = verdict.transaction
    return WatchedTransaction(
        transactional_id=transaction.transactional_id or "",
        state=transaction.coordinator_state,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        age_ms=transaction.age_ms,
        timeout_ms=-1 if transaction.timeout_ms is None else transaction.timeout_ms,
        partitions=(transaction.partition,),
        hidden_offsets=_hidden(infos.get(transaction.partition)),
        status=verdict.status.value,
        explanation=verdict.explanation,
        groups=_groups((verdict,)),
        first_offset=transaction.first_offset,
        idle_ms=transaction.idle_ms(now_ms),
    )


def _groups(verdicts: Sequence[HangVerdict]) -> tuple[str, ...]:
    impacts = (impact for one in verdicts if one.blast_radius is not None for impact in one.blast_radius.groups)
    return tuple(sorted({impact.group_id for impact in impacts}))


def _brokers(snapshot: ClusterSnapshot) -> tuple[WatchedBroker, ...]:
    counts = Counter(transaction.coordinator_id for transaction in snapshot.transactions)
    return tuple(
        WatchedBroker(
            broker.node_id,
            "fenced" if broker.fenced else "up" if broker.reachable else "no answer",
            counts[broker.node_id],
        )
        for broker in snapshot.brokers
    )


def _sentence(gap: EvidenceGap) -> str:
    return f"{gap.kind.value}: {gap.subject} {gap.error or gap.reason.value}"


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
    for look in snapshot.looks[-1:]:
        for where in look.producers:
            for state in where.producers:
                yield KnownProducer(where, state, next(iter(look.owners_of(state.producer_id)), None))


def describe_lives(snapshot: ClusterSnapshot, step_count: int) -> dict[str, TransactionLife]:
    """Return every transactional id with its producers and at most this many of its last steps."""
    steps, producers = snapshot.history_by_id, tuple(known_producers(snapshot))
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
