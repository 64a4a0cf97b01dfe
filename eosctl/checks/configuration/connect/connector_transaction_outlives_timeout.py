"""EOS-CFG-113."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

DEFAULT_TIMEOUT_MS: Final = 60_000
DEFAULT_FLUSH_MS: Final = 60_000


@check(
    "EOS-CFG-113",
    "Connector's transactions last as long as their timeout",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.SOURCE_CONNECTOR,),
    reads=(
        "transaction.boundary",
        "transaction.boundary.interval.ms",
        "producer.override.transaction.timeout.ms",
        "offset.flush.interval.ms",
    ),
    references=("KIP-618",),
)
def connector_transaction_outlives_timeout(case: Case) -> Iterator[Problem]:
    """Find connectors that commit their transactions when these have timed out.

    What it checks:
        With transaction.boundary=interval: transaction.boundary.interval.ms, else the worker's
        offset.flush.interval.ms where a worker is given, against producer.override.transaction.timeout.ms (60,000 ms
        by default). A longer interval is an error, an equal one a warning. Connect's plain defaults are equal:
        information.

    Why it matters for exactly-once:
        A transaction lasts for the interval and the time to flush. One that is meant to last for its timeout is
        aborted, and the task fails.

    Example:
        transaction.boundary=interval with transaction.boundary.interval.ms=120000.

    Fix:
        Choose an interval of a third of the timeout or less.

    Verify:
        eosctl config lint reports it no longer.
    """
    for connector in case.deployment.of(Role.SOURCE_CONNECTOR):
        interval = connector.value("transaction.boundary.interval.ms")
        timeout = connector.value("producer.override.transaction.timeout.ms")
        if (connector.word("transaction.boundary") or "").lower() != "interval" or not timeout.resolved:
            continue
        if not interval.is_given:
            workers = case.deployment.of(Role.CONNECT_WORKER)
            flushes = (worker.value("offset.flush.interval.ms") for worker in workers)
            interval = next((flush for flush in flushes if flush.is_given), interval)
        interval_ms = interval.number if interval.is_given else DEFAULT_FLUSH_MS
        timeout_ms = timeout.number if timeout.is_given else DEFAULT_TIMEOUT_MS
        if interval_ms is not None and timeout_ms is not None and interval_ms >= timeout_ms:
            yield problem(
                connector,
                tuple(v for v in (interval, timeout) if v.is_given) or (connector.value("transaction.boundary"),),
                f"A transaction lasts for {minutes(interval_ms)}, its timeout is {minutes(timeout_ms)}.",
                severity=_severity(interval_ms > timeout_ms, is_given=interval.is_given or timeout.is_given),
                impact="The coordinator aborts transactions that the task is about to commit.",
                remedy=f"Set transaction.boundary.interval.ms={timeout_ms // 3}.",
            )


def _severity(is_longer: bool, *, is_given: bool) -> Severity | None:
    """Return None, the check's own severity, for an interval that someone has made equal to the timeout."""
    if is_longer:
        return Severity.ERROR
    return None if is_given else Severity.INFO
