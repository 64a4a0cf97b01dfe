"""EOS-CFG-155."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

GUARANTEES = ("sink.delivery-guarantee", "sink.semantic")


@check(
    "EOS-CFG-155",
    "Transactional id prefix of a Flink sink without exactly-once",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.FLINK,),
    reads=("sink.transactional-id-prefix", "sink.delivery-guarantee"),
    references=("KafkaSinkBuilder",),
)
def flink_prefix_without_guarantee(case: Case) -> Iterator[Problem]:
    """Find Flink sinks with a prefix for transactional ids that begin no transaction.

    What it checks:
        sink.transactional-id-prefix, where sink.delivery-guarantee is not exactly-once, written or by default (at-
        least-once).

    Why it matters for exactly-once:
        The prefix shows that transactions were meant. Without the guarantee the sink ignores it, and a restart writes
        records twice.

    Example:
        A CREATE TABLE with 'sink.transactional-id-prefix' and no 'sink.delivery-guarantee'.

    Fix:
        Set 'sink.delivery-guarantee' = 'exactly-once', or remove the prefix.

    Verify:
        eosctl config lint reports it no longer.
    """
    for sink in case.deployment.of(Role.FLINK):
        prefix = sink.value("sink.transactional-id-prefix")
        guarantee = next((v for name in GUARANTEES if (v := sink.value(name)).is_given), sink.value(GUARANTEES[0]))
        level = (guarantee.word or "at-least-once").lower().replace("_", "-")
        if prefix.is_given and guarantee.resolved and level != "exactly-once":
            yield problem(
                sink,
                (prefix, guarantee) if guarantee.is_given else (prefix,),
                f"{prefix.key} is ignored: the delivery guarantee is {level}"
                f"{'' if guarantee.is_given else ' by default'}.",
                impact="The sink writes without transactions; a restart repeats records.",
                remedy="Set sink.delivery-guarantee to exactly-once, or remove the prefix.",
            )
