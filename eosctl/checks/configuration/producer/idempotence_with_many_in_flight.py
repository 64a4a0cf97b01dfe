"""EOS-CFG-013."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import (
    demands_idempotence,
    is_idempotent_by_default,
    is_transactional,
    java_producers,
)
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import TABULATED, Client, Component, Role, Value
from eosctl.model.severity import Severity

ALONE: Final = 1
"""KafkaJS does not order its requests, and sarama refuses more: only one at a time keeps the sequence."""
REFUSED: Final = dict.fromkeys(TABULATED, "The producer does not start (ConfigException).")


@check(
    "EOS-CFG-013",
    "More requests in flight than idempotence allows",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("max.in.flight.requests.per.connection", "enable.idempotence"),
    references=("KIP-98", "KAFKA-13598"),
)
def idempotence_with_many_in_flight(case: Case) -> Iterator[Problem]:
    """Find idempotent producers with more than five requests in flight.

    What it checks:
        max.in.flight.requests.per.connection above 5 in an idempotent Java producer, maxInFlightRequests above 1 in
        an idempotent producer of KafkaJS, and Net.MaxOpenRequests above 1 in one of sarama, which does not start. From
        4.0 on the Java producer always throws; before, it throws when idempotence was asked for, and switches it off
        when it was only the default.

    Why it matters for exactly-once:
        A broker remembers the last five batches of a producer in a partition; it cannot distinguish a retry of an
        older batch from a new one.

    Example:
        max.in.flight.requests.per.connection=10, set for throughput.

    Fix:
        Set it to 5 or less, or remove it; 5 is the default and keeps the order.

    Verify:
        eosctl config lint reports it no longer.
    """
    others = (p for p in case.deployment.of(Role.PRODUCER) if p.client not in (*TABULATED, Client.SARAMA))
    for producer in (*java_producers(case.deployment), *others):
        flying = producer.value("max.in.flight.requests.per.connection")
        if producer.client in (Client.KAFKAJS, Client.SARAMA):
            yield from _one_at_a_time(producer, flying)
            continue
        if not flying.is_given or flying.number is None or flying.number <= 5:
            continue
        if producer.inside is Role.STREAMS and is_transactional(producer):  # EOS-CFG-014
            continue
        by_default = is_idempotent_by_default(producer)
        refused = demands_idempotence(producer) or (by_default and producer.release >= (4, 0))
        if not refused and not by_default:
            continue
        yield problem(
            producer,
            (flying,),
            f"{flying.key} is {flying.number}; an idempotent producer may have 5.",
            severity=None if refused else Severity.WARNING,
            impact=(
                REFUSED.get(producer.client, "The broker cannot recognize retries of older batches.")
                if refused
                else "Idempotence is silently switched off; retries can duplicate and reorder."
            ),
            remedy=f"Set {flying.key} to 5 or less.",
        )


def _one_at_a_time(producer: Component, flying: Value) -> Iterator[Problem]:
    if not flying.is_given or (flying.number or 0) <= ALONE or not demands_idempotence(producer):
        return
    is_refused = producer.client is Client.SARAMA
    yield problem(
        producer,
        (flying,),
        f"{flying.key} is {flying.number}; an idempotent producer of {producer.client.value} may have {ALONE}.",
        severity=None if is_refused else Severity.WARNING,
        impact=(
            "The producer does not start (ConfigurationError)."
            if is_refused
            else "Batches can arrive out of order after a retry: the broker refuses them, or writes them twice."
        ),
        remedy=f"Set {flying.key} to {ALONE}.",
        accepted=str(ALONE),
    )
