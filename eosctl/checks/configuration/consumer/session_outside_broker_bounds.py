"""EOS-CFG-025."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


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
        group.min.session.timeout.ms <= session.timeout.ms <= group.max.session.timeout.ms of every broker given;
        the bounds themselves pass.

    Why it matters for exactly-once:
        JoinGroup is answered with INVALID_SESSION_TIMEOUT (26).

    Example:
        session.timeout.ms=3000 against the broker's minimum of 6000.

    Fix:
        Choose a value within the bounds.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        session = consumer.value("session.timeout.ms")
        if session.number is None or consumer.word("group.protocol") == "consumer":
            continue
        for broker in case.deployment.of(Role.BROKER):
            low, high = broker.value("group.min.session.timeout.ms"), broker.value("group.max.session.timeout.ms")
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
