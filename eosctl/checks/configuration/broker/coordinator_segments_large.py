"""EOS-CFG-135."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

KAFKAS_BYTES: Final = 104_857_600


@check(
    "EOS-CFG-135",
    "Segments of an internal topic are larger than Kafka makes them",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.BROKER,),
    reads=(
        "transaction.state.log.segment.bytes",
        "offsets.topic.segment.bytes",
    ),
    tags=("internal-topics",),
    references=("KAFKA-4682",),
)
def coordinator_segments_large(case: Case) -> Iterator[Problem]:
    """Find brokers whose coordinators must read more than they need when they move.

    What it checks:
        transaction.state.log.segment.bytes or offsets.topic.segment.bytes above Kafka's 104,857,600. They are read
        when the topic is created.

    Why it matters for exactly-once:
        The cleaner does not touch the segment that is being written. A coordinator that moves reads it whole before
        it answers: until then every client meets COORDINATOR_LOAD_IN_PROGRESS.

    Example:
        transaction.state.log.segment.bytes=1073741824.

    Fix:
        Keep Kafka's value; on a topic that exists, change segment.bytes of the topic.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        for name in ("transaction.state.log.segment.bytes", "offsets.topic.segment.bytes"):
            size = broker.value(name)
            if size.is_given and size.number is not None and size.number > KAFKAS_BYTES:
                yield problem(
                    broker,
                    (size,),
                    f"{name} is {size.number:,} bytes, Kafka's is {KAFKAS_BYTES:,}.",
                    impact="Coordinators take longer to load after a failover.",
                    remedy=f"Set {name}={KAFKAS_BYTES}.",
                )
