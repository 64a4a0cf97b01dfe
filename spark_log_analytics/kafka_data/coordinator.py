"""Follow the history of transactional ids in a partition of ``__transaction_state``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from eosctl.model.kafka_data import CoordinatedTransaction, Fate
from eosctl.model.transaction import TransactionState
from eosctl.storage.scan import LogBatch
from eosctl.wire.internal.transaction_log import TRANSACTION_STATES, TransactionValue, decode_key, decode_value
from eosctl.wire.internal.versioned import UnknownRecordError
from spark_log_analytics.kafka_data.facts import Fact, Subject, Tally
from spark_log_analytics.kafka_data.spread import bucket_of

_ENDED = {TransactionState.COMPLETE_COMMIT: Fate.COMMITTED, TransactionState.COMPLETE_ABORT: Fate.ABORTED}
_PREPARED = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})


@dataclass(slots=True)
class _Life:
    """The history of a transactional id."""

    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    endings: Counter[int] = field(default_factory=Counter)
    current: CoordinatedTransaction | None = None


class CoordinatorReader:
    """Follows the records of one partition of the state log."""

    def __init__(self, log_partition: int) -> None:
        self._log_partition = log_partition
        self._lives: dict[str, _Life] = {}

    def follow(self, batch: LogBatch) -> Iterator[CoordinatedTransaction]:
        """Process a batch; yield the transactions that it ends.

        Raises:
            WireError: A record is malformed.
        """
        if batch.header.is_control:
            return
        for record in batch.records():
            try:
                transactional_id = decode_key(record.key or b"").transactional_id
                value = None if record.value is None else decode_value(record.value)
            except UnknownRecordError:
                continue  # of a newer release; brokers skip it, and so do we
            life = self._lives.setdefault(transactional_id, _Life())
            if value is None:
                life.counts["expired"] += 1
                life.current = None
            elif 0 <= value.transaction_status < len(TRANSACTION_STATES):
                ended = self._step(transactional_id, life, value, record.offset)
                if ended is not None:
                    yield ended

    def _step(
        self, transactional_id: str, life: _Life, value: TransactionValue, offset: int
    ) -> CoordinatedTransaction | None:
        state = TRANSACTION_STATES[value.transaction_status]
        fate = _ENDED.get(state)
        if state is not TransactionState.ONGOING and state not in _PREPARED and fate is None:
            life.current = None
            return None
        before, now_ms = life.current, value.transaction_last_update_timestamp_ms
        held = sum(len(entry.partition_ids) for entry in value.transaction_partitions or ())
        started_ms = value.transaction_start_timestamp_ms if value.transaction_start_timestamp_ms > 0 else None
        current = CoordinatedTransaction(
            transactional_id,
            value.producer_id,
            value.producer_epoch,
            self._log_partition,
            offset,
            fate or (Fate.ENDING if state in _PREPARED else Fate.OPEN),
            held if before is None else max(held, before.partition_count),
            value.transaction_timeout_ms,
            started_ms if before is None or before.started_ms is None else before.started_ms,
            now_ms if state in _PREPARED else before.prepared_ms if before is not None else None,
            None if fate is None else now_ms,
        )
        if fate is None:
            life.current = current
            return None
        life.current = None
        _count(life, current)
        return current

    def finish(self) -> Iterator[Fact]:
        """Yield the transactions that have not ended, and the tally of each id."""
        for transactional_id, life in self._lives.items():
            if life.current is not None:
                life.counts[life.current.fate] += 1
                yield life.current
            yield Tally(Subject.TRANSACTIONAL_ID, transactional_id, life.counts, life.durations, life.endings)


def _count(life: _Life, ended: CoordinatedTransaction) -> None:
    life.counts[ended.fate] += 1
    if ended.ended_ms is None:
        return
    if ended.prepared_ms is not None:
        life.endings[bucket_of(ended.ended_ms - ended.prepared_ms)] += 1
    if ended.started_ms is not None:
        duration_ms = ended.ended_ms - ended.started_ms
        life.durations[bucket_of(duration_ms)] += 1
        if ended.fate == Fate.ABORTED and duration_ms >= ended.timeout_ms:
            life.counts["timed_out"] += 1
