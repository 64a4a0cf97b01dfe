"""EOS-CFG-025."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

DEFAULT_MIN_MS: Final = 6_000
DEFAULT_MAX_MS: Final = 1_800_000


@check(
    "EOS-CFG-025",
    "Session timeout is outside of what the broker accepts",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(
        Role.CONSUMER,
        Role.BROKER,
    ),
    reads=("session.timeout.ms", "group.min.session.timeout.ms", "group.max.session.timeout.ms"),
)
def session_outside_broker_bounds(case: Case) -> Iterator[Problem]:
    """Find consumers that the group coordinator refuses.

    What it checks:
        group.min.session.timeout.ms <= session.timeout.ms <= group.max.session.timeout.ms of every broker given, and
        of a broker's defaults (6,000 and 1,800,000 ms) where none is given; the bounds themselves pass.

    Why it matters for exactly-once:
        JoinGroup is answered with INVALID_SESSION_TIMEOUT (26).

    Example:
        session.timeout.ms=3000 against the broker's minimum of 6000.

    Fix:
        Choose a value within the bounds.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = _bounds(case.deployment.of(Role.BROKER))
    for consumer in case.deployment.of(Role.CONSUMER):
        session = consumer.value("session.timeout.ms")
        if session.number is None or consumer.word("group.protocol") == "consumer":
            continue
        if not case.deployment.of(Role.BROKER):
            yield from _against_defaults(consumer, session)
        for low, high in brokers:
            if low.number is None or high.number is None or low.number <= session.number <= high.number:
                continue
            bound = low if session.number < low.number else high
            if session.is_given or bound.is_given:
                yield problem(
                    consumer,
                    (session, bound),
                    f"session.timeout.ms is {session.number:,} ms; the broker's {bound.name} is {bound.number:,} ms.",
                    impact="The consumer cannot join its group (INVALID_SESSION_TIMEOUT).",
                    remedy=f"Set session.timeout.ms between {low.number} and {high.number}.",
                )
                break


def _bounds(brokers: Iterable[Component]) -> tuple[tuple[Value, Value], ...]:
    """Return the bounds of the brokers: of those that say the same, the first ones."""
    found: dict[object, tuple[Value, Value]] = {}
    for broker in brokers:
        low, high = broker.value("group.min.session.timeout.ms"), broker.value("group.max.session.timeout.ms")
        found.setdefault((low.number, low.is_given, high.number, high.is_given), (low, high))
    return tuple(found.values())


def _against_defaults(consumer: Component, session: Value) -> Iterator[Problem]:
    number = session.number or 0
    if session.is_given and not DEFAULT_MIN_MS <= number <= DEFAULT_MAX_MS:
        yield problem(
            consumer,
            (session,),
            f"{session.key} is {number:,} ms; brokers accept {DEFAULT_MIN_MS:,} to {DEFAULT_MAX_MS:,} ms by default.",
            severity=Severity.WARNING,
            confidence=Confidence.LIKELY,
            impact="The consumer cannot join its group (INVALID_SESSION_TIMEOUT), unless the brokers allow it.",
            remedy=f"Set {session.key} between {DEFAULT_MIN_MS} and {DEFAULT_MAX_MS}.",
        )
