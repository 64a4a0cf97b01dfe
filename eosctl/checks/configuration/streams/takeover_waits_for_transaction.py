"""EOS-CFG-026."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import least_timeout
from eosctl.checks.configuration.clients import minutes, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

DEFAULT_TIMEOUT_MS: Final = 60_000
WITHOUT_GROUP: Final = (Role.CONNECT_WORKER, Role.FLINK)
"""Components whose work another instance takes over immediately, because they have no consumer group."""


@check(
    "EOS-CFG-026",
    "A successor waits longer for the transaction than for the session",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(
        Role.STREAMS,
        Role.PRODUCER,
    ),
    reads=(
        "transaction.timeout.ms",
        "session.timeout.ms",
    ),
    references=("KIP-447",),
)
def takeover_waits_for_transaction(case: Case) -> Iterator[Problem]:
    """Find applications whose abandoned transactions outlive their sessions.

    What it checks:
        In an application that consumes and writes in transactions: a transaction.timeout.ms that was written down, is
        longer than the consumer's session.timeout.ms, longer than the producer's default of 60,000 ms, and longer than
        its time between commits and its delivery.timeout.ms need.

    Why it matters for exactly-once:
        After a crash the partitions move when the session ends, but offsets that the lost transaction holds stay
        unstable until its timeout: OffsetFetch answers UNSTABLE_OFFSET_COMMIT and the new owner waits.

    Example:
        transaction.timeout.ms=600000 with session.timeout.ms=45000: no progress for ten minutes after a crash.

    Fix:
        Keep the transaction timeout near the session timeout, as far as the longest transaction allows. Kafka Streams
        uses 10,000 ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in transactional_producers(case.deployment):
        timeout = producer.value("transaction.timeout.ms")
        consumer = next(iter(case.deployment.same_application(producer, Role.CONSUMER)), None)
        if consumer is None or not timeout.is_given or producer.inside in WITHOUT_GROUP:
            continue
        session = consumer.value("session.timeout.ms")
        if timeout.number is None or session.number is None:
            continue
        lowest = max(session.number, least_timeout(case.deployment, producer))
        if timeout.number > max(lowest, DEFAULT_TIMEOUT_MS):
            yield problem(
                producer,
                (timeout, session),
                f"{timeout.key} is {minutes(timeout.number)}, the session of its consumer {minutes(session.number)}.",
                impact="After a crash the new owner of the partitions waits until the old transaction times out.",
                remedy=f"Lower {timeout.key} towards {lowest}, as far as the longest transaction allows.",
            )
