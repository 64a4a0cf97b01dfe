"""EOS-LOG-010."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, without_logs
from eosctl.findings.grade import at_most
from eosctl.model.log_evidence import LoggedRecord, UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence
from eosctl.text import count_text, time_text


@check(
    "EOS-LOG-010",
    "Unknown error records",
    Area.LOGS,
    Severity.WARNING,
    needs=NEEDS,
    tags=("logs",),
    references=("KIP-98",),
    applies=without_logs,
)
def unknown_errors(case: Case) -> Iterator[Problem]:
    """Find error records that the log catalog does not know and that no known incident explains.

    What it checks:
        Logs of brokers and applications: records of level ERROR (info), FATAL, or CRITICAL (warning), and bare stack
        traces, that match no category (eosctl logs patterns). They are grouped by logger and template. Errors that a
        client retries, and errors during an incident of the same program, are left out.

    Why it matters for exactly-once:
        The effect of an unknown error was not judged. Logs that hold one do not show that all is well, so the grade is
        at most B.

    Example:
        An application logs "Uncaught exception in thread main" and exits.

    Fix:
        Read the quoted records, and find the cause in the program that wrote them.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-010 passes.
    """
    for one in case.snapshot.logged_records:
        if one.is_unknown:
            yield Problem(
                resource=one.resource,
                message=_message(one),
                severity=one.severity,
                confidence=Confidence.POSSIBLE,
                evidence=tuple(_evidence(record) for record in one.records),
                remedy=(one.next_step,),
                incident=dict(one.names).get("template", ""),
                facts=(
                    ("record_count", one.record_count),
                    *(() if one.first_ms is None else (("first_ms", one.first_ms),)),
                    *(() if one.last_ms is None else (("last_ms", one.last_ms),)),
                    at_most("B"),
                ),
            )


def _message(one: UnexplainedRecords) -> str:
    count = count_text(one.record_count, "error record")
    verb = "is" if one.record_count == 1 else "are"
    when = "" if one.first_ms is None else f", first at {time_text(one.first_ms)}"
    last = f", last at {time_text(one.last_ms)}" if one.last_ms != one.first_ms and one.last_ms is not None else ""
    quote = f': "{one.records[0].text}"' if one.records else ""
    return f"{count} {verb} not in the catalog{when}{last}{quote}"


def _evidence(record: LoggedRecord) -> Evidence:
    text = record.text if record.at_ms is None else f"{time_text(record.at_ms)} {record.text}"
    return Evidence("record", text, record.place)
