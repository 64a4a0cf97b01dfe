"""EOS-CFG-001."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import MARGIN, longer_timeout
from eosctl.checks.configuration.clients import exactly_once_streams, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

STREAMS_TIMEOUT_MS: Final = 10_000


TIMEOUT: Final = "producer.transaction.timeout.ms"


@check(
    "EOS-CFG-001",
    "Streams commit interval is longer than the transaction timeout",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.STREAMS,),
    reads=("commit.interval.ms", "producer.transaction.timeout.ms", "processing.guarantee"),
    references=("KAFKA-12499",),
)
def commit_interval_exceeds_transaction_timeout(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications that Kafka Streams refuses to start.

    What it checks:
        commit.interval.ms against producer.transaction.timeout.ms, or 10,000 ms when that key is not written. A key
        without the prefix does not count here. Kafka Streams 3.0 and later compares them at start-up; equal values
        pass.

    Why it matters for exactly-once:
        A transaction lasts from one commit to the next. One that is meant to last longer than its timeout is
        aborted by the coordinator every time.

    Example:
        commit.interval.ms=30000 with processing.guarantee=exactly_once_v2 and no producer.transaction.timeout.ms:
        the application ends with an IllegalArgumentException.

    Fix:
        Leave commit.interval.ms at its exactly-once default of 100 ms, or set producer.transaction.timeout.ms to at
        least three times the interval.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        interval, timeout = streams.value("commit.interval.ms"), streams.value("producer.transaction.timeout.ms")
        if streams.release < (3, 0) or interval.number is None or not timeout.resolved:
            continue
        timeout_ms = timeout.number if timeout.is_given else STREAMS_TIMEOUT_MS
        if timeout_ms is not None and timeout_ms < interval.number:
            origin = "" if timeout.is_given else ", Streams' own value, as the prefixed key is not set"
            yield problem(
                streams,
                (interval, timeout) if timeout.is_given else (interval,),
                f"commit.interval.ms is {minutes(interval.number)}, the transaction timeout "
                f"{minutes(timeout_ms)}{origin}.",
                impact="The application does not start.",
                remedy=longer_timeout(case.deployment, TIMEOUT, MARGIN * interval.number, "commit.interval.ms"),
            )
