"""EOS-CFG-003."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import MARGIN, longer_timeout
from eosctl.checks.configuration.clients import exactly_once_streams, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

TIMEOUT: Final = "producer.transaction.timeout.ms"


@check(
    "EOS-CFG-003",
    "Streams commit interval is longer than the transaction timeout, and nothing checks it",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.STREAMS,),
    reads=("commit.interval.ms", "producer.transaction.timeout.ms", "transaction.timeout.ms"),
    references=("KAFKA-12499",),
)
def commit_interval_unchecked_before_3_0(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications before Kafka Streams 3.0 whose transactions all time out.

    What it checks:
        commit.interval.ms against the producer's transaction timeout (10,000 ms since 2.6, 60,000 ms before).
        Releases before 3.0 do not compare them.

    Why it matters for exactly-once:
        Every transaction is aborted by the coordinator before the application commits; the producer is fenced, the
        tasks are rebuilt, and it begins again.

    Example:
        Kafka Streams 2.8 with commit.interval.ms=30000 and the default timeout.

    Fix:
        Set producer.transaction.timeout.ms to at least three times commit.interval.ms, or leave the interval at 100
        ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        interval = streams.value("commit.interval.ms")
        given = [
            streams.value(k) for k in ("producer.transaction.timeout.ms", "transaction.timeout.ms") if streams.has(k)
        ]
        timeout_ms = given[0].number if given else (10_000 if streams.release >= (2, 6) else 60_000)
        if streams.release >= (3, 0) or interval.number is None or timeout_ms is None:
            continue
        if timeout_ms < interval.number:
            yield problem(
                streams,
                (interval, *given[:1]),
                f"commit.interval.ms is {minutes(interval.number)}, the transaction timeout {minutes(timeout_ms)}.",
                impact="Every transaction is aborted by its timeout before it is committed.",
                remedy=longer_timeout(case.deployment, TIMEOUT, MARGIN * interval.number, "commit.interval.ms"),
            )
