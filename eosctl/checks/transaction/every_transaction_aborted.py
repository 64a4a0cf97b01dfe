"""EOS-TXN-019."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.own_tests import as_information_of_tests
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import TransactionLogEntry
from eosctl.model.severity import Severity
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text, duration_text, name_some, time_text

#: Fewer aborted transactions may be one bad batch that is tried again.
FEWEST: Final = 5
#: From so many on, over so long a time, retries do not explain them.
MANY: Final = 20
LONG_MS: Final = 600_000
#: What differs between the ids of one application: UUIDs and numbers.
_OWN_PART: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+")


@check(
    "EOS-TXN-019",
    "Application whose transactions are all aborted",
    Area.TRANSACTION,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    uses=frozenset({EvidenceKind.TRANSACTIONS}),
    tags=("abort", "progress"),
    references=("KIP-98", "isolation.level"),
)
def every_transaction_aborted(case: Case) -> Iterator[Problem]:
    """Find applications that write and commit nothing: each of their transactions is aborted.

    What it checks:
        The newest records of __transaction_state, by transactional ids that differ in numbers and UUIDs only. Aborts of
        the last hour count if no timeout and no certain fencing caused them, and if none of these ids committed in the
        same time. Five are information; twenty within ten minutes or more are a warning.

    Why it matters for exactly-once:
        Aborted records are stored, replicated, and fetched, and read_committed readers skip all of them. The
        application looks busy on every dashboard of producers and brokers, and its output stands still.

    Example:
        A record that cannot be processed: the application aborts, reads the same batch, and aborts again.

    Fix:
        Find the exception before abortTransaction in the log of the application. Move records that cannot be processed
        to a dead-letter topic within the transaction, so that the input continues.

    Verify:
        eosctl check run EOS-TXN-019 passes after the next commit.
    """
    since_ms = case.snapshot.captured_at_ms - case.limits.fencing_window_ms
    explained = {
        (event.transactional_id, event.aborted_at_ms)
        for event in case.fencings
        if event.confidence is Confidence.CERTAIN
    }
    families: dict[str, list[TransactionLogEntry]] = defaultdict(list)
    for entry in case.snapshot.transaction_history:
        if entry.written_at_ms >= since_ms:
            families[_OWN_PART.sub("*", entry.transactional_id)].append(entry)
    for family, entries in sorted(families.items()):
        if any(entry.state in _COMMITTED for entry in entries):
            continue
        aborts = [
            entry
            for entry in entries
            if entry.state == TransactionState.PREPARE_ABORT
            and (entry.transactional_id, entry.written_at_ms) not in explained
        ]
        if len(aborts) >= FEWEST:
            in_order = sorted(aborts, key=lambda entry: entry.written_at_ms)
            yield as_information_of_tests(_problem(family, in_order, case))


_COMMITTED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)


def _problem(family: str, aborts: Sequence[TransactionLogEntry], case: Case) -> Problem:
    first, last = aborts[0], aborts[-1]
    span_ms = last.written_at_ms - first.written_at_ms
    ids = sorted({entry.transactional_id for entry in aborts})
    partitions = sorted({str(partition) for entry in aborts for partition in entry.partitions})
    name = ids[0] if len(ids) == 1 else family
    return Problem(
        resource=Resource("transaction", name),
        message=(
            f"{count_text(len(aborts), 'transaction')} of {name} aborted within {duration_text(span_ms)}, and none "
            f"committed, last at {time_text(last.written_at_ms)}."
        ),
        severity=Severity.WARNING if len(aborts) >= MANY and span_ms >= LONG_MS else None,
        cause="No timeout and no newer producer ended them: the application aborts its transactions itself.",
        impact=(
            f"What it wrote to {name_some('partition', partitions) if partitions else 'no partition'} is stored, and "
            "read_committed readers skip it."
        ),
        evidence=tuple(
            Evidence(
                "PrepareAbort",
                f"producer id {entry.producer_id}, epoch {entry.producer_epoch}, {time_text(entry.written_at_ms)}",
                f"__transaction_state-{entry.log_partition} offset {entry.offset}",
            )
            for entry in (first, last)
        ),
        remedy=(
            "Find the exception before abortTransaction in the log of the application.",
            "If it aborts on purpose, as a rehearsal does, nothing is to be done.",
        ),
        commands=(
            Command(f"eosctl txn describe {quote(last.transactional_id)} -b {case.bootstrap}", "the life of the id"),
        ),
        verify=(Command(f"eosctl check run EOS-TXN-019 -b {case.bootstrap}", "a commit"),),
        facts=(
            ("transactional_ids", ", ".join(ids)),
            ("abort_count", len(aborts)),
            ("span_ms", span_ms),
            ("partitions", ", ".join(partitions)),
        ),
    )
