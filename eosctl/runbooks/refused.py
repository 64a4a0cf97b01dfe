"""Procedures that circulate and destroy data: why not, and what to do instead."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Refused(NamedTuple):
    """A procedure that is never offered.

    Attributes:
        name: How people call it.
        patterns: Regular expressions of the commands and sentences that ask for it, case ignored.
        why: What it destroys.
        instead: The safe way.
        runbook: The runbook that goes that way.
    """

    name: str
    patterns: tuple[str, ...]
    why: str
    instead: str
    runbook: str


REFUSED: Final = (
    Refused(
        "delete __transaction_state",
        (
            r"--delete\b.*__transaction_state",
            r"__transaction_state.*--delete\b",
            r"(delet|drop|recreat|remov|rm -r|purg)\w*\b[^.;\n]*__transaction_state",
        ),
        "It forgets every producer id and epoch and every decision to commit: transactions that are half marked are "
        "torn apart, open ones hang for good, and producers fail with INVALID_PRODUCER_ID_MAPPING.",
        "Bring a replica back, in sync if there is one. Where all are lost for good, it is recreated with the same "
        "number of partitions and everything open is found and aborted one by one.",
        "transaction-log-under-replicated",
    ),
    Refused(
        "add partitions to __transaction_state or __consumer_offsets",
        (
            r"--partitions\s+\d+.*__(transaction_state|consumer_offsets)",
            r"__(transaction_state|consumer_offsets).*--partitions\s+\d+",
            r"num\.partitions\s*=.*__(transaction_state|consumer_offsets)",
            r"__(transaction_state|consumer_offsets).*num\.partitions",
            r"(add|more|grow|increas|rais)\w*\b[^.;\n]*partitions?\b[^.;\n]*(__transaction_state|__consumer_offsets)",
            r"(add|more|grow|increas|rais)\w*\b[^.;\n]*partitions?\b.*(transaction log|offsets topic|coordinator)",
            r"(add|more|grow|increas|rais)\w*\b[^.;\n]*__(transaction_state|consumer_offsets)\b[^.;\n]*partition",
            r"transaction\.state\.log\.num\.partitions",
        ),
        "The partition is the hash of the id over their number: every id would be looked for in another partition than "
        "the one that has its state, and brokers refuse to load partitions whose number is not the one they know.",
        "Spread the leaders, raise commit intervals, use fewer transactional ids.",
        "coordinator-skew",
    ),
    Refused(
        "delete __consumer_offsets",
        (r"--delete\b.*__consumer_offsets", r"(delet|drop|recreat|remov|purg)\w*\b[^.;\n]*__consumer_offsets"),
        "Every group loses its positions: input is read twice or skipped, whatever was committed exactly once.",
        "Move the positions of the one group that is out of range.",
        "offsets-out-of-range",
    ),
    Refused(
        "delete the group of a stuck application",
        (r"kafka-consumer-groups\S*\s.*--delete\b(?!-offsets)", r"(delet|drop|remov)\w*\b[^.;\n]*(consumer )?group\b"),
        "Its positions are gone, and the transaction that holds them stays open.",
        "End the transaction that holds the offsets.",
        "unstable-offsets",
    ),
    Refused(
        "empty task directories by a glob",
        (r"rm\s+-\w*[rf]\w*\s+\S*\*", r"(clear|clean|empt|delet|rm)\w*\b[^.;\n]*task director"),
        "A glob leaves hidden files: the checkpoint survives its data, and state is lost without a sound.",
        "Stop the instance and remove the task's whole directory, or use KafkaStreams#cleanUp; it is restored from its "
        "changelog.",
        "",
    ),
    Refused(
        "lower min.insync.replicas to write again",
        (
            r"min\.insync\.replicas\s*=\s*1\b",
            r"(lower|reduc|decreas)\w*\b[^.;\n]*(min\.insync\.replicas|min ?isr)",
        ),
        "Decisions to commit are then kept by one replica, and its loss takes them back after readers have seen them.",
        "Bring a replica back in sync.",
        "min-isr-lost",
    ),
    Refused(
        "switch on unclean leader election",
        (r"unclean\.leader\.election\.enable\s*=\s*true", r"(enabl|allow|forc)\w*\b[^.;\n]*unclean"),
        "A replica that was behind becomes the truth: committed transactions and their markers disappear.",
        "Bring a replica back in sync; an unclean election is the last resort, for one partition, its losses known.",
        "min-isr-lost",
    ),
    Refused(
        "abort what the coordinator still owns",
        (r"abort\w*\b[^.;\n]*(ongoing|running|owned|alive|live) transaction",),
        "One partition is aborted and the others may commit: the transaction is torn apart.",
        "End it through its coordinator, which does so on all partitions.",
        "hanging-transaction",
    ),
)

_COMPILED: Final = tuple(
    (refused, tuple(re.compile(pattern, re.IGNORECASE) for pattern in refused.patterns)) for refused in REFUSED
)


def find_refused(text: str) -> tuple[Refused, ...]:
    """Return the refused procedures that a text asks for."""
    flat = " ".join(text.split())
    return tuple(refused for refused, patterns in _COMPILED if any(pattern.search(flat) for pattern in patterns))
