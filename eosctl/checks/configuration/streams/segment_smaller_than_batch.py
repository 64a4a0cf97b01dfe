"""EOS-CFG-027."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-027",
    "Segments of Streams' internal topics are smaller than a batch",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=("topic.segment.bytes", "producer.batch.size", "batch.size"),
)
def segment_smaller_than_batch(case: Case) -> Iterator[Problem]:
    """Find Streams applications whose internal topics cannot hold one batch.

    What it checks:
        topic.segment.bytes >= the producer's batch.size, prefixed or not, where both were written down; equal values
        pass. Streams does not compare them with a default.

    Why it matters for exactly-once:
        Streams throws an IllegalArgumentException at start-up; the broker would refuse the batches.

    Example:
        topic.segment.bytes=10000 to have segments cleaned sooner.

    Fix:
        Raise topic.segment.bytes, or lower producer.batch.size.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        if producer.inside is not Role.STREAMS:
            continue
        streams = next(iter(case.deployment.same_application(producer, Role.STREAMS)), None)
        batch = producer.value("batch.size")
        if streams is None or not streams.has("topic.segment.bytes") or not batch.is_given:
            continue
        segment = streams.value("topic.segment.bytes")
        if segment.number is not None and batch.number is not None and segment.number < batch.number:
            yield problem(
                streams,
                (segment, batch),
                f"topic.segment.bytes is {segment.number:,}, batch.size {batch.number:,}.",
                impact="The application does not start (IllegalArgumentException).",
                remedy=f"Set topic.segment.bytes to {batch.number} or more.",
            )
