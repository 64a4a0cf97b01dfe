"""Split a transactional id's history into the tenures of its owners.

Every InitProducerId leaves an Empty record (Dead and tombstone end the id), and no other request does, so an Empty
record starts a tenure. The first record with another producer id does too: from transaction version 2 on, an EndTxn
with exhausted epochs returns a new one (KIP-890).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from eosctl.model.blame import Instance, Tenure
from eosctl.model.history import TransactionLogEntry
from eosctl.model.log_event import LogEvent
from eosctl.model.server_loggers import is_of_server
from eosctl.model.transaction import TransactionState


class Reign(msgspec.Struct, frozen=True):
    """A tenure with its records in log order; `expired` if a tombstone ended it."""

    tenure: Tenure
    records: tuple[TransactionLogEntry, ...]
    expired: bool


def find_reigns(entries: Sequence[TransactionLogEntry], events: Iterable[LogEvent] = ()) -> tuple[Reign, ...]:
    """Split an id's records at every initialization.

    Args:
        entries: The records of a transactional id, oldest first.
        events: Log events of any kind; those in which a client receives its producer id name the instance.
    """
    instances = _instances(events)
    return tuple(_reign(records, instances, is_first=not at) for at, records in enumerate(_cut(entries)))


def _cut(entries: Sequence[TransactionLogEntry]) -> Iterator[list[TransactionLogEntry]]:
    current: list[TransactionLogEntry] = []
    for entry in entries:
        if current and _begins(entry, current[-1]):
            yield current
            current = []
        current.append(entry)
    if current and any(entry.state for entry in current):
        yield current


def _begins(entry: TransactionLogEntry, before: TransactionLogEntry) -> bool:
    if entry.state == TransactionState.EMPTY or not before.state:
        return True
    return bool(entry.state) and entry.producer_id != before.producer_id


def _reign(
    records: Sequence[TransactionLogEntry], instances: dict[tuple[int, int], Instance], *, is_first: bool
) -> Reign:
    alive = [record for record in records if record.state]
    first, last = alive[0], alive[-1]
    # The epoch of the fence, one above the fenced producer's, never belonged to a client.
    own = [r.producer_epoch for r in alive if r.state in (TransactionState.EMPTY, TransactionState.ONGOING)]
    epochs = own or [first.producer_epoch]
    named = (instances.get((first.producer_id, epoch)) for epoch in range(min(epochs), max(epochs) + 1))
    tenure = Tenure(
        producer_id=first.producer_id,
        first_epoch=epochs[0],
        last_epoch=epochs[-1],
        timeout_ms=first.timeout_ms,
        began_at_ms=first.written_at_ms if first.state == TransactionState.EMPTY or not is_first else None,
        ended_at_ms=last.written_at_ms,
        transaction_count=sum(record.state.startswith("Prepare") for record in alive),
        partitions=tuple(sorted({where for record in alive for where in record.partitions})),
        instance=next((found for found in named if found is not None), Instance()),
    )
    return Reign(tenure, tuple(records), not records[-1].state)


def _instances(events: Iterable[LogEvent]) -> dict[tuple[int, int], Instance]:
    """Return the client instances that received each producer id and epoch, from client logs."""
    found: dict[tuple[int, int], Instance] = {}
    for event in events:
        producer_id, epoch = event.fields.get("producer_id", ""), event.fields.get("producer_epoch", "")
        if event.category != "INIT_PRODUCER_ID" or is_of_server(event):
            continue
        if producer_id.isdigit() and epoch.isdigit():
            client_id = event.fields.get("client_id", "")
            found.setdefault((int(producer_id), int(epoch)), Instance(client_id, event.application, event.file))
    return found
