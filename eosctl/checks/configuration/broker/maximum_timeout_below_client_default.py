"""EOS-CFG-136."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

PRODUCER_MS: Final = 60_000
STREAMS_MS: Final = 10_000


@check(
    "EOS-CFG-136",
    "Brokers refuse the default transaction timeout of clients",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("transaction.max.timeout.ms",),
    references=("KIP-98",),
)
def maximum_timeout_below_client_default(case: Case) -> Iterator[Problem]:
    """Find brokers on which clients with their defaults cannot start a transaction.

    What it checks:
        transaction.max.timeout.ms below 60,000 ms, the default of producers; below 10,000 ms, that of Kafka Streams,
        it is an error.

    Why it matters for exactly-once:
        InitProducerId is refused with INVALID_TRANSACTION_TIMEOUT (50), which is fatal: every new application fails
        with it at its start.

    Example:
        transaction.max.timeout.ms=30000, to keep readers from waiting long.

    Fix:
        Set it to 60000 or more, or set a shorter transaction.timeout.ms in every application.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        most = broker.value("transaction.max.timeout.ms")
        if most.is_given and most.number is not None and most.number < PRODUCER_MS:
            yield problem(
                broker,
                (most,),
                f"transaction.max.timeout.ms is {minutes(most.number)}, producers ask for {minutes(PRODUCER_MS)}.",
                severity=Severity.ERROR if most.number < STREAMS_MS else None,
                impact="Producers with their default timeout are refused.",
                remedy=f"Set transaction.max.timeout.ms={PRODUCER_MS} or more.",
            )
