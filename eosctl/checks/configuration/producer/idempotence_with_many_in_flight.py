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
from eosctl.model.deployment import TABULATED, Client, Component, Role, Value, ValueSource
from eosctl.model.severity import Severity

ALONE: Final = 1
"""KafkaJS does not order its requests, and sarama and franz-go refuse more: only one at a time keeps the sequence."""
_REFUSING: Final = (Client.SARAMA, Client.FRANZ_GO)
_IMPACTS: Final = {
    Client.SARAMA: "The producer does not start (ConfigurationError).",
    Client.FRANZ_GO: "franz-go refuses both together: the producer does not start, or never connects.",
    Client.KAFKAJS: "Batches can arrive out of order after a retry: the broker refuses them, or writes them twice.",
}
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
        an idempotent producer of KafkaJS, and Net.MaxOpenRequests above 1 in one of sarama, which does not start, as
        one of franz-go with another MaxProduceRequestsInflightPerBroker than 1. Redpanda Connect's output kafka cannot
        be idempotent: it leaves sarama's Net.MaxOpenRequests at 5. From 4.0 on the Java producer always throws; before,
        it throws when idempotence was asked for, and switches it off when it was only the default.

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
    others = (p for p in case.deployment.of(Role.PRODUCER) if p.client not in (*TABULATED, *_REFUSING))
    for producer in (*java_producers(case.deployment), *others):
        flying = producer.value("max.in.flight.requests.per.connection")
        if producer.client in _IMPACTS:
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
    asked = producer.value("enable.idempotence")
    is_idempotent = demands_idempotence(producer) or (producer.client is Client.FRANZ_GO and asked.flag is True)
    if flying.source is ValueSource.DEFAULT or (flying.number or 0) <= ALONE or not is_idempotent:
        return
    limit = f"an idempotent producer of {producer.client.value} may have {ALONE}."
    if flying.is_given:
        message, remedy = f"{flying.key} is {flying.number}; {limit}", f"Set {flying.key} to {ALONE}."
    else:
        message = f"{asked.key} is true, and the tool leaves Net.MaxOpenRequests at {flying.number}; {limit}"
        remedy = "Write with an output that has another client, such as redpanda."
    yield problem(
        producer,
        (flying,) if flying.is_given else (asked,),
        message,
        severity=None if producer.client in _REFUSING else Severity.WARNING,
        impact=_IMPACTS[producer.client],
        remedy=remedy,
        accepted=str(ALONE),
    )
