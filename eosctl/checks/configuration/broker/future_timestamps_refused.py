"""EOS-CFG-082."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

AFTER_MAX_MS: Final = 3_600_000


@check(
    "EOS-CFG-082",
    "Future timestamps are allowed by a removed setting",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.BROKER,
        Role.TOPIC,
    ),
    reads=(
        "log.message.timestamp.difference.max.ms",
        "message.timestamp.difference.max.ms",
        "log.message.timestamp.after.max.ms",
        "message.timestamp.after.max.ms",
    ),
    tags=("upgrade",),
    references=(
        "KIP-937",
        "KIP-1030",
    ),
)
def future_timestamps_refused(case: Case) -> Iterator[Problem]:
    """Find brokers and topics of 4.x that still allow old timestamps by the removed setting.

    What it checks:
        message.timestamp.difference.max.ms above one hour, written down for 4.0 or later, without
        message.timestamp.after.max.ms.

    Why it matters for exactly-once:
        The setting was removed in 4.0, and records from more than one hour ahead are refused by default. A refused
        record makes its transaction abort, and Kafka Streams stops.

    Example:
        A topic with event times from a calendar: difference.max.ms had been raised for it.

    Fix:
        Set message.timestamp.after.max.ms (and before.max.ms) to what the topic needs.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component in case.deployment.of(Role.BROKER, Role.TOPIC):
        prefix = "log." if component.role is Role.BROKER else ""
        allowed = component.value(f"{prefix}message.timestamp.difference.max.ms")
        successor = component.value(f"{prefix}message.timestamp.after.max.ms")
        if component.release < (4, 0) or not component.release_named or successor.is_given or allowed.number is None:
            continue
        if allowed.number > AFTER_MAX_MS:
            yield problem(
                component,
                (allowed,),
                f"{allowed.key} is gone in 4.0; records more than {minutes(AFTER_MAX_MS)} ahead are refused.",
                impact="A refused record aborts its transaction.",
                remedy=f"Set {prefix}message.timestamp.after.max.ms={allowed.number} in its place.",
            )
