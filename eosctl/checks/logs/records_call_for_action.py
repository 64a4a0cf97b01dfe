"""EOS-LOG-009."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs import (
    brokers_failed,
    hanging_transaction_logged,
    producers_refused,
    requests_refused,
    sequence_numbers_refused,
    stopped_uncleanly,
    streams_applications_failed,
    transactions_timed_out,
)
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.log_evidence import LoggedRecord, UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence
from eosctl.text import count_text, time_text

_OTHERS: Final = frozenset().union(
    *(
        module.KINDS
        for module in (
            *(brokers_failed, hanging_transaction_logged, producers_refused, requests_refused),
            *(sequence_numbers_refused, stopped_uncleanly, streams_applications_failed, transactions_timed_out),
        )
    )
)
"""The kinds of incidents that other checks report; all others are this check's, so that none is silent."""
_FACTS: Final = {"group": "group_id", "coordinator_partition": "partition"}


@check(
    "EOS-LOG-009",
    "Log records that call for action",
    Area.LOGS,
    Severity.CRITICAL,
    needs=NEEDS,
    tags=("logs",),
    references=("KIP-98",),
    applies=without_logs,
)
def records_call_for_action(case: Case) -> Iterator[Problem]:
    """Find log records that report a fault by themselves.

    What it checks:
        Logs of brokers and applications: records of the categories that the catalog rates critical or act
        (eosctl logs patterns), grouped by subject, and incidents of such records that no other check
        reports. Evidence and repetitions of an incident are left out.

    Why it matters for exactly-once:
        Such a record is a fault by itself: committed records that are gone, a coordinator without its state, a write
        that was refused. That its cause is not known does not make it harmless.

    Example:
        An unclean leader election of a partition that holds committed records.

    Fix:
        The next step of the finding; eosctl logs explain CATEGORY shows what a category means.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-009 passes.
    """
    kinds = frozenset(one.incident.kind for one in case.snapshot.logged_incidents)
    yield from problems_of(case, kinds - _OTHERS)
    for one in case.snapshot.logged_records:
        if one.is_unknown:
            continue
        yield Problem(
            resource=one.resource,
            message=_message(one),
            severity=one.severity,
            confidence=Confidence.LIKELY,
            evidence=tuple(_evidence(record) for record in one.records),
            remedy=(one.next_step,) if one.next_step else (),
            incident=one.category,
            facts=(
                ("category", one.category),
                ("record_count", one.record_count),
                *(() if one.first_ms is None or one.last_ms is None else _times(one.first_ms, one.last_ms)),
                *((_FACTS.get(name, name), value) for name, value in one.names),
            ),
        )


def _times(first_ms: int, last_ms: int) -> tuple[tuple[str, int], ...]:
    return ("first_ms", first_ms), ("last_ms", last_ms)


def _message(one: UnexplainedRecords) -> str:
    count = count_text(one.record_count, "record")
    if one.first_ms is None or one.last_ms is None:
        when = ""
    elif one.first_ms == one.last_ms:
        when = f" at {time_text(one.first_ms)}"
    else:
        when = f" from {time_text(one.first_ms)} to {time_text(one.last_ms)}"
    return f"{count} of {one.category}{when}: {one.meaning}"


def _evidence(record: LoggedRecord) -> Evidence:
    text = record.text if record.at_ms is None else f"{time_text(record.at_ms)} {record.text}"
    return Evidence(record.category, text, record.place)
