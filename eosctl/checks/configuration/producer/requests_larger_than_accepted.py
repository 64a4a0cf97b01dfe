"""EOS-CFG-112."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import broker_limits, java_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-112",
    "Producer sends batches that brokers or topics refuse",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=(
        "max.request.size",
        "message.max.bytes",
        "max.message.bytes",
    ),
    references=("KAFKA-4203",),
)
def requests_larger_than_accepted(case: Case) -> Iterator[Problem]:
    """Find producers whose largest record is too large for the brokers.

    What it checks:
        An explicit max.request.size against a smaller message.max.bytes of the brokers in the same input.

    Why it matters for exactly-once:
        A record that is too large fails after it was sent: the transaction must be aborted, and Kafka Streams stops
        or drops it.

    Example:
        max.request.size=5242880 and brokers with message.max.bytes at 1048588.

    Fix:
        Lower max.request.size, or raise message.max.bytes (and max.message.bytes of the topics).

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in java_producers(case.deployment):
        size = producer.value("max.request.size")
        if not size.is_given or size.number is None:
            continue
        for broker, accepted, most in broker_limits(case.deployment, "message.max.bytes"):
            if size.number > most:
                yield problem(
                    producer,
                    (size, accepted),
                    f"{size.key} is {size.number:,}, {broker.name} accepts {most:,} bytes.",
                    confidence=Confidence.LIKELY,
                    impact="Larger records abort their transaction.",
                    remedy=f"Lower {size.key} to {most}, or raise message.max.bytes.",
                )
                break
