"""EOS-CFG-007."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import MARGIN, longer_timeout
from eosctl.checks.configuration.clients import exactly_once_streams, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

TIMEOUTS: Final = ("producer.transaction.timeout.ms", "transaction.timeout.ms")
"""What reaches the producer, the stronger one first."""
STREAMS_TIMEOUT_MS: Final = 10_000
CLIENT_TIMEOUT_MS: Final = 60_000


TIMEOUT: Final = "producer.transaction.timeout.ms"


@check(
    "EOS-CFG-007",
    "Streams commit interval is close to the transaction timeout",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=("commit.interval.ms", "producer.transaction.timeout.ms", "transaction.timeout.ms"),
    references=("KAFKA-12499",),
)
def commit_interval_without_margin(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications that start, and whose transactions time out at the first pause.

    What it checks:
        The producer's transaction timeout (10,000 ms by default) against 2.5 times commit.interval.ms. Kafka Streams
        starts as long as the timeout is not below the interval itself.

    Why it matters for exactly-once:
        A transaction lasts for an interval, and for the work that delays the commit: a long batch, a garbage
        collection, a slow broker. With no time left for these, the coordinator aborts the transaction, and the tasks
        are closed and rebuilt.

    Example:
        commit.interval.ms=9999 with processing.guarantee=exactly_once_v2 and the default timeout of 10,000 ms.

    Fix:
        Set producer.transaction.timeout.ms to three times commit.interval.ms, or shorten the interval.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        interval, timeout = streams.value("commit.interval.ms"), _timeout(streams)
        timeout_ms = _default_ms(streams) if timeout is None else timeout.number
        if interval.number is None or timeout_ms is None or not interval.is_given:
            continue
        # A timeout below the interval is that of EOS-CFG-001 to 003.
        if interval.number <= timeout_ms and timeout_ms * 2 < interval.number * 5:
            yield problem(
                streams,
                (interval, timeout) if timeout else (interval,),
                f"commit.interval.ms is {minutes(interval.number)}, the transaction timeout {minutes(timeout_ms)}"
                f"{'' if timeout else ', the default'}.",
                impact="A pause of "
                f"{minutes(timeout_ms - interval.number)} in the application aborts a transaction by its timeout.",
                remedy=longer_timeout(case.deployment, TIMEOUT, MARGIN * interval.number, "commit.interval.ms"),
            )


def _timeout(streams: Component) -> Value | None:
    return next((streams.given[name] for name in TIMEOUTS if name in streams.given), None)


def _default_ms(streams: Component) -> int:
    return STREAMS_TIMEOUT_MS if streams.release >= (2, 6) else CLIENT_TIMEOUT_MS
