"""EOS-CFG-063."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

IN_FLIGHT: Final = "max.in.flight.requests.per.connection"


@check(
    "EOS-CFG-063",
    "Connect's producers pipeline requests without idempotence",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.CONNECT_WORKER,
        Role.SOURCE_CONNECTOR,
    ),
    reads=(
        "producer.max.in.flight.requests.per.connection",
        "producer.enable.idempotence",
    ),
    references=(
        "KAFKA-13759",
        "KIP-318",
    ),
)
def connect_producer_reorders(case: Case) -> Iterator[Problem]:
    """Find Connect producers that can reorder and repeat records.

    What it checks:
        max.in.flight.requests.per.connection above 1 for the producers of source tasks, written down for the worker
        or a connector, where idempotence is off. Connect switches it off by itself (3.0.2, 3.1.1, 3.2.0 and later)
        and sends one request at a time, unless exactly-once sources are enabled.

    Why it matters for exactly-once:
        A retried request overtakes the next one and is written twice: records of a source are duplicated and out of
        order.

    Example:
        producer.max.in.flight.requests.per.connection=5 for throughput, without producer.enable.idempotence.

    Fix:
        Also set producer.enable.idempotence=true, or enable exactly-once sources.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        flight, idempotent = (
            producer.value(IN_FLIGHT),
            producer.value("enable.idempotence"),
        )
        if producer.inside not in (Role.CONNECT_WORKER, Role.SOURCE_CONNECTOR) or not flight.is_given:
            continue
        if flight.number is not None and flight.number > 1 and idempotent.flag is False:
            yield problem(
                producer,
                (flight, idempotent),
                f"{flight.key} is {flight.number}, and Connect's producers are not idempotent.",
                impact="Retried records are written twice and out of order.",
                remedy=f"Set {flight.key.removesuffix(IN_FLIGHT)}enable.idempotence=true.",
            )
