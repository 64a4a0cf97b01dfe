"""EOS-CFG-016."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import java_producers
from eosctl.checks.configuration.problem import INT_MAX, problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-016",
    "Delivery timeout is shorter than linger and one request",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER,),
    reads=("delivery.timeout.ms", "linger.ms", "request.timeout.ms"),
    references=("KIP-91",),
)
def delivery_timeout_too_short(case: Case) -> Iterator[Problem]:
    """Find producers that do not start because delivery.timeout.ms leaves no time for one request.

    What it checks:
        delivery.timeout.ms >= linger.ms + request.timeout.ms, where delivery.timeout.ms was written down; equal
        values pass. A default is raised by the producer itself.

    Why it matters for exactly-once:
        The producer throws a ConfigException.

    Example:
        delivery.timeout.ms=30000 with the default request.timeout.ms of 30000 and linger.ms of 5.

    Fix:
        Raise delivery.timeout.ms, or lower request.timeout.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in java_producers(case.deployment):
        delivery, linger = producer.value("delivery.timeout.ms"), producer.value("linger.ms")
        request = producer.value("request.timeout.ms")
        if not delivery.is_given or delivery.number is None or linger.number is None or request.number is None:
            continue
        needed = min(linger.number + request.number, INT_MAX)
        if delivery.number < needed:
            yield problem(
                producer,
                (delivery, linger, request),
                f"{delivery.key} is {delivery.number:,} ms, linger.ms and request.timeout.ms together {needed:,} ms.",
                impact="The producer does not start (ConfigException).",
                remedy=f"Set {delivery.key} to {needed} or more.",
            )
