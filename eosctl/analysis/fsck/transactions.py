"""Open transactions of partitions against what the coordinators wrote down: open and well, hanging, or half ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from eosctl.analysis.fsck.notes import ERROR, INFO
from eosctl.analysis.fsck.partition import OpenTxn
from eosctl.analysis.fsck.state_log import IdState, StateLog
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.model.transaction import TopicPartition, TransactionState


def judge_transactions(
    open_txns: Iterable[OpenTxn],
    states: StateLog,
    end_offsets: Mapping[TopicPartition, int],
    readable: Collection[TopicPartition],
    directory: str,
) -> Iterator[FsckFinding]:
    """Yield a finding for each open transaction, and for each id whose end was decided and not completed.

    Args:
        open_txns: The transactions that are open in the partitions read.
        states: The transaction state log.
        end_offsets: The partitions that were read, to know which could hold a marker.
        readable: Those of them without damage.
        directory: The data directory of the state log.
    """
    owners: dict[int, IdState] = {}
    for state in states.states.values():
        for producer_id in state.producer_ids:
            owners[producer_id] = state
    unmarked: set[tuple[str, TopicPartition]] = set()
    begun: set[tuple[int, TopicPartition]] = set()
    for txn in open_txns:
        begun.add((txn.producer_id, txn.partition))
        owner = owners.get(txn.producer_id)
        if owner is not None and owner.state.is_prepared and txn.partition in owner.partitions:
            unmarked.add((owner.transactional_id, txn.partition))
        yield _judge(txn, owner, states)
    for state in states.states.values():
        if state.state.is_prepared and state.log_partition not in states.damaged:
            yield _not_completed(state, unmarked, end_offsets, directory)
        if state.state is TransactionState.ONGOING and state.log_partition not in states.damaged:
            empty = {at for at in state.partitions if at in readable and not _has_begun(state, at, begun)}
            if empty:
                yield _without_data(state, empty, directory)


def _judge(txn: OpenTxn, owner: IdState | None, states: StateLog) -> FsckFinding:
    since = (
        f"producer {txn.producer_id} epoch {txn.producer_epoch} has an open transaction from offset {txn.first_offset}"
    )
    if not txn.is_certain:
        return _finding(
            txn, "open-transaction-undecided", INFO, f"{since}; its marker may have been in damaged bytes", owner
        )
    if owner is None:
        if not states.partitions:
            what = "without the transaction state log, it is unknown whether it hangs"
            return _finding(txn, "open-transaction-undecided", INFO, f"{since}; {what}", owner)
        if not states.is_complete():
            what = "no transactional id found here owns the producer id, but the transaction state log is not whole"
            return _finding(txn, "open-transaction-undecided", INFO, f"{since}; {what}", owner)
        what = f"{since} on {txn.partition}; no transactional id owns the producer id"
        return _finding(txn, "hanging-transaction", ERROR, what, owner)
    name = owner.transactional_id
    is_stale = owner.log_partition in states.damaged
    is_older = txn.producer_id == owner.producer_id and txn.producer_epoch < owner.producer_epoch
    if txn.partition in owner.partitions and owner.state is TransactionState.ONGOING and is_older and not is_stale:
        # A later transaction of the id, which the coordinator began when it held all markers of those before.
        what = f"{since} on {txn.partition}; {name} is Ongoing there at epoch {owner.producer_epoch}"
        return _finding(txn, "hanging-transaction", ERROR, what, owner)
    if txn.partition in owner.partitions and owner.state is TransactionState.ONGOING:
        what = f"open transaction of {name} from offset {txn.first_offset}, known to the coordinator (Ongoing)"
        return _finding(txn, "open-transaction", INFO, what, owner)
    if txn.partition in owner.partitions and owner.state.is_prepared and not is_stale:
        what = f"{name} is {owner.state}: the marker for {txn.partition} is not written, "
        what += f"transaction from offset {txn.first_offset}"
        return _finding(txn, "prepare-without-marker", ERROR, what, owner)
    if is_stale:
        what = f"{name} is {owner.state} by its last readable record, and a record of the state log cannot be read"
        return _finding(txn, "open-transaction-undecided", INFO, f"{since}; {what}", owner)
    what = f"{since} on {txn.partition}; {name} is {owner.state} and does not list the partition"
    return _finding(txn, "hanging-transaction", ERROR, what, owner)


def _finding(txn: OpenTxn, kind: str, severity: FsckSeverity, message: str, owner: IdState | None) -> FsckFinding:
    return FsckFinding(
        kind,
        severity,
        message,
        directory=txn.directory,
        file=txn.file,
        partition=str(txn.partition),
        position=txn.position,
        offset=txn.first_offset,
        producer_id=txn.producer_id,
        producer_epoch=txn.producer_epoch,
        transactional_id=None if owner is None else owner.transactional_id,
    )


def _has_begun(state: IdState, partition: TopicPartition, begun: Collection[tuple[int, TopicPartition]]) -> bool:
    return any((producer_id, partition) in begun for producer_id in state.producer_ids)


def _without_data(state: IdState, empty: Collection[TopicPartition], directory: str) -> FsckFinding:
    names = ", ".join(map(str, sorted(empty)))
    what = f"{state.transactional_id} is Ongoing with {names}, where its transaction has no record: partitions join "
    what += "before their first record is written, so this is a producer that has stopped or failed in between"
    return FsckFinding(
        "entry-without-data",
        INFO,
        what,
        directory=directory,
        file=state.file,
        offset=state.offset,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        transactional_id=state.transactional_id,
    )


def _not_completed(
    state: IdState,
    unmarked: set[tuple[str, TopicPartition]],
    end_offsets: Mapping[TopicPartition, int],
    directory: str,
) -> FsckFinding:
    """Return the finding of an id in Prepare*, harmless when all markers are written: only Complete* is missing."""
    waiting = sorted(
        partition
        for partition in state.partitions
        if (state.transactional_id, partition) in unmarked or partition not in end_offsets
    )
    names = ", ".join(map(str, waiting))
    what = f"{state.transactional_id}: its last state record is {state.state}"
    what += f", no marker is known to be on {names}" if waiting else ", all markers are written"
    return FsckFinding(
        "prepare-not-completed",
        ERROR if waiting else INFO,
        what,
        directory=directory,
        file=state.file,
        offset=state.offset,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        transactional_id=state.transactional_id,
    )
