"""EOS-CFG-157."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import MARGIN, longer_timeout
from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.settings.values.durations import duration_ms


@check(
    "EOS-CFG-157",
    "Commit interval of Alpakka exceeds the transaction timeout",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER,),
    reads=("eos-commit-interval", "transaction.timeout.ms"),
    references=("akka.kafka.ProducerSettings",),
)
def alpakka_commit_interval_too_long(case: Case) -> Iterator[Problem]:
    """Find transactional Alpakka and Pekko producers whose commit interval does not fit into their transactions.

    What it checks:
        eos-commit-interval against transaction.timeout.ms (60,000 ms by default) of the same producer; an interval
        above a third of the timeout is a warning.

    Why it matters for exactly-once:
        Transactional.sink commits once per interval. The coordinator aborts what is open longer than the timeout, and
        the stream fails with ProducerFencedException.

    Example:
        eos-commit-interval = 90s with the default timeout of one minute.

    Fix:
        Shorten eos-commit-interval, or raise transaction.timeout.ms within the maximum of the brokers.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        interval, timeout = producer.value("eos-commit-interval"), producer.value("transaction.timeout.ms")
        interval_ms = duration_ms(interval.word)
        if not interval.is_given or interval_ms is None or timeout.number is None or interval_ms * 3 <= timeout.number:
            continue
        yield problem(
            producer,
            (interval, timeout),
            f"{interval.key} is {minutes(interval_ms)}, the transaction timeout {minutes(timeout.number)}.",
            severity=None if interval_ms >= timeout.number else Severity.WARNING,
            impact="Transactions are aborted by their timeout, and the stream fails.",
            remedy=longer_timeout(case.deployment, "transaction.timeout.ms", MARGIN * interval_ms, interval.key),
        )
