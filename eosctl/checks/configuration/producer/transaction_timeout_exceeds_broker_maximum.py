"""EOS-CFG-004."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import fitting
from eosctl.checks.configuration.clients import BROKER_MAX_TIMEOUT_MS, broker_limits, minutes, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-004",
    "Transaction timeout is not one that the broker accepts",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("transaction.timeout.ms", "transaction.max.timeout.ms", "transactional.id"),
    needs_presence_of=("transactional.id",),
    references=("KIP-98",),
)
def transaction_timeout_exceeds_broker_maximum(case: Case) -> Iterator[Problem]:
    """Find transactional producers that a broker will refuse.

    What it checks:
        0 < transaction.timeout.ms <= transaction.max.timeout.ms of every broker given; of the broker's default
        (900,000 ms) when none is. Equal values pass.

    Why it matters for exactly-once:
        InitProducerId is answered with INVALID_TRANSACTION_TIMEOUT (50): initTransactions fails, and no retry
        helps.

    Example:
        transaction.timeout.ms=3600000 against brokers that leave transaction.max.timeout.ms at 15 minutes.

    Fix:
        Lower the producer's timeout. Raising the broker's maximum needs a restart and lets every stuck producer
        block readers for that long.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = broker_limits(case.deployment, "transaction.max.timeout.ms")
    lowest = min(brokers, key=lambda broker: broker[2], default=None)
    for producer in transactional_producers(case.deployment):
        timeout = producer.value("transaction.timeout.ms")
        if timeout.number is None or (producer.inside is Role.FLINK and not timeout.is_given):
            continue
        if timeout.number <= 0:
            yield problem(
                producer,
                (timeout,),
                f"{timeout.key} is {timeout.number}; every broker refuses it.",
                remedy="Set a positive number of milliseconds.",
                impact="initTransactions fails.",
            )
            continue
        if lowest is not None and timeout.number > lowest[2]:
            _, value, limit = lowest
            yield problem(
                producer,
                (timeout, value),
                f"{timeout.key} is {minutes(timeout.number)}, the brokers' {value.name} {minutes(limit)}.",
                impact="initTransactions fails with INVALID_TRANSACTION_TIMEOUT.",
                remedy=f"Set {timeout.key} to at most {limit}{fitting(case.deployment, producer, limit)}.",
            )
        elif not brokers and timeout.is_given and timeout.number > BROKER_MAX_TIMEOUT_MS:
            yield problem(
                producer,
                (timeout,),
                f"{timeout.key} is {minutes(timeout.number)}; by default a broker allows 900,000 ms (15 min).",
                severity=Severity.WARNING,
                confidence=Confidence.LIKELY,
                impact="With the broker's default, initTransactions fails with INVALID_TRANSACTION_TIMEOUT.",
                remedy=f"Lower it to 900000 or less{fitting(case.deployment, producer, BROKER_MAX_TIMEOUT_MS)}, "
                "or lint it together with the brokers' configuration.",
            )
