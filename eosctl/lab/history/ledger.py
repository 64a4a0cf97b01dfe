"""Transfers between accounts, which are visible in both accounts or in none.

A value with an amount ends in `$` and the signed amount: `bank-1/17/account-3$-25`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.events import Drained, History, Polled, SendInvoked

MARK: Final = "$"


def amount_of(value: str) -> int | None:
    """Return the amount of a value; None if it has no account."""
    _, mark, amount = value.rpartition(MARK)
    return int(amount) if mark and amount.lstrip("+-").isdecimal() else None


def check_sums(history: History) -> Iterator[Anomaly]:
    """Yield transactions with visible amounts that do not sum to 0, in completely read partitions.

    The total of all accounts is unchanged exactly if every transaction's visible amounts sum to 0.
    """
    drained = {event.partition: event for event in history if isinstance(event, Drained)}
    sent: dict[str, list[SendInvoked]] = defaultdict(list)
    seen: dict[str, Polled] = {}
    for event in history:
        match event:
            case SendInvoked() if event.transaction and amount_of(event.value) is not None:
                sent[event.transaction].append(event)
            case Polled() if amount_of(event.value) is not None:
                seen.setdefault(event.value, event)  # A second position is a duplicate, which another checker reports.
    for transaction, sends in sent.items():
        if sum(amount_of(send.value) or 0 for send in sends) or any(send.partition not in drained for send in sends):
            continue  # Its last value was never sent; other checkers judge its visible values.
        reads = [seen[send.value] for send in sends if send.value in seen]
        total = sum(amount_of(read.value) or 0 for read in reads)
        if total:
            ends = dict.fromkeys(drained[send.partition] for send in sends)
            yield Anomaly(
                Kind.BROKEN_SUM, f"{transaction} changes the sum by {total:+}", in_order(*sends, *reads, *ends)
            )
