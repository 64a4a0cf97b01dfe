"""Export histories for elle, Jepsen's checker of transactions: list-append operations in EDN, one per line.

A partition is a list, a record an append, and the last read of a partition a read of the whole list. Keys and values
are numbered, as elle requires. Times are nanoseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.lab.history.events import Drained, Ended, EndInvoked, Event, History, Outcome, Polled, SendInvoked
from eosctl.model.transaction import TopicPartition

_TYPES: Final[Mapping[Outcome, str]] = {Outcome.COMMITTED: "ok", Outcome.ABORTED: "fail", Outcome.UNKNOWN: "info"}


def encode_elle(history: History) -> Iterator[str]:
    """Yield a history as lines of EDN, one map per operation, without line ends.

    A transaction is invoked with its first record and completed with its outcome, which is `:info` if unknown. Records
    outside of transactions are omitted. As elle requires, a process that ends in `:info` is not used again.
    """
    keys: dict[TopicPartition, int] = {}
    values: dict[str, int] = {}
    appends: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in history:
        if isinstance(event, SendInvoked) and event.transaction:
            key = keys.setdefault(event.partition, len(keys))
            appends[event.transaction].append((key, values.setdefault(event.value, len(values))))
    processes: dict[str, int] = {}
    begun: set[str] = set()
    index = 0
    lives = 0
    for event in history:
        name = getattr(event, "transaction", "")
        if isinstance(event, SendInvoked | EndInvoked) and name in appends and name not in begun:
            begun.add(name)
            if event.actor not in processes:
                processes[event.actor], lives = lives, lives + 1
            yield _operation(index, "invoke", processes[event.actor], event, _appended(appends[name]))
            index += 1
        elif isinstance(event, Ended) and name in begun and event.actor in processes:
            begun.discard(name)
            operation = _TYPES[event.outcome]
            yield _operation(index, operation, processes[event.actor], event, _appended(appends.pop(name)))
            index += 1
            if operation == "info":
                del processes[event.actor]
    yield from _reads(history, keys, values, index, lives)


def _reads(
    history: History, keys: Mapping[TopicPartition, int], values: Mapping[str, int], index: int, process: int
) -> Iterator[str]:
    read: dict[tuple[str, TopicPartition], list[int]] = defaultdict(list)
    for event in history:
        if isinstance(event, Polled) and event.value in values:
            read[event.actor, event.partition].append(values[event.value])
        elif isinstance(event, Drained) and event.partition in keys:
            key, found = keys[event.partition], " ".join(map(str, read[event.actor, event.partition]))
            yield _operation(index, "invoke", process, event, f"[[:r {key} nil]]")
            yield _operation(index + 1, "ok", process, event, f"[[:r {key} [{found}]]]")
            index += 2


def _appended(appends: list[tuple[int, int]]) -> str:
    return "[" + " ".join(f"[:append {key} {value}]" for key, value in appends) + "]"


def _operation(index: int, kind: str, process: int, event: Event, value: str) -> str:
    time_ns = event.at_ms * 1_000_000
    return f"{{:index {index}, :type :{kind}, :process {process}, :time {time_ns}, :f :txn, :value {value}}}"
