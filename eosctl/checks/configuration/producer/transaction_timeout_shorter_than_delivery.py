"""EOS-CFG-017."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import is_transactional, java_producers, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role, ValueSource
from eosctl.model.severity import Severity

_REQUEST_TIMEOUT_MS: Final = 30_000


@check(
    "EOS-CFG-017",
    "Transaction times out while records are still being retried",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=("transaction.timeout.ms", "delivery.timeout.ms"),
    references=("KIP-91", "KIP-588"),
)
def transaction_timeout_shorter_than_delivery(case: Case) -> Iterator[Problem]:
    """Find transactional producers that keep retrying after the coordinator has aborted.

    What it checks:
        transaction.timeout.ms against delivery.timeout.ms, where one of them differs from its default. The defaults
        (60,000 and 120,000 ms) stand the wrong way round; alone they raise nothing, and with the default of
        delivery.timeout.ms a timeout of 30 s or more is information. Streams, Connect, and Flink set
        delivery.timeout.ms themselves and are left out.

    Why it matters for exactly-once:
        While a leader is away, the coordinator aborts the transaction and raises the epoch; the retried record is
        then refused with INVALID_PRODUCER_EPOCH.

    Example:
        transaction.timeout.ms=10000 with the default delivery.timeout.ms of 120000.

    Fix:
        Let transaction.timeout.ms be longer than delivery.timeout.ms and the commit together.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in java_producers(case.deployment):
        timeout, delivery = producer.value("transaction.timeout.ms"), producer.value("delivery.timeout.ms")
        if not is_transactional(producer) or timeout.number is None or delivery.number is None:
            continue
        set_on_purpose = any(
            value.is_given and value.text != producer.framework.get(value.name, producer.defaults.get(value.name))
            for value in (timeout, delivery)
        )
        if delivery.source is not ValueSource.FRAMEWORK and set_on_purpose and timeout.number < delivery.number:
            yield problem(
                producer,
                (timeout, delivery) if timeout.is_given else (delivery, timeout),
                f"transaction.timeout.ms is {minutes(timeout.number)}, delivery.timeout.ms {minutes(delivery.number)}.",
                severity=None if delivery.is_given or timeout.number < _REQUEST_TIMEOUT_MS else Severity.INFO,
                impact="When a leader is slow, the coordinator aborts while the producer retries; it is then fenced.",
                remedy="Raise transaction.timeout.ms above delivery.timeout.ms, or lower delivery.timeout.ms.",
            )
