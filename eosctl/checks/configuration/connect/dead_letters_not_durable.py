"""EOS-CFG-132."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import three_replicas
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

QUEUE: Final = "errors.deadletterqueue.topic.name"


@check(
    "EOS-CFG-132",
    "Dead letter queue has one replica",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.SINK_CONNECTOR,),
    reads=("errors.deadletterqueue.topic.replication.factor",),
    references=("KIP-298",),
)
def dead_letters_not_durable(case: Case) -> Iterator[Problem]:
    """Find sinks whose failed records one lost broker takes away.

    What it checks:
        errors.deadletterqueue.topic.replication.factor=1 with a dead letter queue (3 is the default).

    Why it matters for exactly-once:
        The record's offset is committed once it stands in the queue. If the queue loses it, it was processed zero
        times.

    Example:
        errors.deadletterqueue.topic.replication.factor=1, from a tutorial with one broker.

    Fix:
        Remove it, or set 3.

    Verify:
        eosctl config lint reports it no longer.
    """
    for sink in case.deployment.of(Role.SINK_CONNECTOR):
        factor, queue = sink.value("errors.deadletterqueue.topic.replication.factor"), sink.value(QUEUE)
        if queue.is_given and queue.text and factor.number == 1:
            yield problem(
                sink,
                (factor, queue),
                f"The dead letter queue {queue.text} is created with one replica.",
                impact="A failed record is lost with one broker.",
                remedy=three_replicas(case.deployment, "errors.deadletterqueue.topic.replication.factor"),
            )
