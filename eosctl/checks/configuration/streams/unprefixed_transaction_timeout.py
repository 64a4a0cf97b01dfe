"""EOS-CFG-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import exactly_once_streams, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

STREAMS_TIMEOUT_MS: Final = 10_000


@check(
    "EOS-CFG-002",
    "Transaction timeout of a Streams application is set without its prefix",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=("transaction.timeout.ms", "commit.interval.ms", "producer.transaction.timeout.ms"),
    references=("KAFKA-12499",),
)
def unprefixed_transaction_timeout(case: Case) -> Iterator[Problem]:
    """Find Streams applications whose un-prefixed transaction timeout misleads.

    What it checks:
        transaction.timeout.ms without the prefix producer. in an exactly-once application. The producer takes it,
        but Streams' own comparison with commit.interval.ms does not see it.

    Why it matters for exactly-once:
        Shorter than the commit interval, it passes the start-up check and then every transaction times out. Longer
        than an interval above 10,000 ms, the start-up check still refuses the application.

    Example:
        transaction.timeout.ms=5000 with commit.interval.ms=8000: the application starts, and each of its
        transactions is aborted.

    Fix:
        Write producer.transaction.timeout.ms, at least three times the commit interval.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        bare, prefixed = streams.value("transaction.timeout.ms"), streams.value("producer.transaction.timeout.ms")
        interval = streams.value("commit.interval.ms")
        if not bare.is_given or prefixed.is_given or bare.number is None or interval.number is None:
            continue
        if bare.number < interval.number <= STREAMS_TIMEOUT_MS:
            message = (
                f"transaction.timeout.ms is {minutes(bare.number)}, commit.interval.ms {minutes(interval.number)}."
            )
            impact = (
                "The application starts, and every transaction that lasts a whole interval is aborted by its timeout."
            )
        elif STREAMS_TIMEOUT_MS < interval.number <= bare.number:
            message = "transaction.timeout.ms has no effect on Streams' start-up check without the prefix producer."
            impact = "The check compares the interval with 10,000 ms and refuses to start the application."
        else:
            continue
        yield problem(
            streams, (bare, interval), message, impact=impact, remedy="Write producer.transaction.timeout.ms instead."
        )
