"""EOS-CFG-138."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import broker_limits, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

DEFAULT_MS: Final = 900_000


@check(
    "EOS-CFG-138",
    "Transaction markers are removed before slow readers have seen them",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.BROKER,
        Role.TOPIC,
    ),
    reads=(
        "log.cleaner.delete.retention.ms",
        "delete.retention.ms",
        "transaction.max.timeout.ms",
    ),
    references=("KAFKA-8522",),
)
def markers_removed_early(case: Case) -> Iterator[Problem]:
    """Find compacted topics that drop markers and tombstones within minutes.

    What it checks:
        delete.retention.ms of a topic, or log.cleaner.delete.retention.ms, shorter than transaction.max.timeout.ms of
        the brokers in the same input (900,000 ms by default). It is information where no cleanup.policy is written:
        only compaction reads the setting.

    Why it matters for exactly-once:
        The cleaner keeps markers and tombstones for that long. A reader that began before and comes by later has read
        a record and never learns that it was deleted: a restored store holds what the application had removed.

    Example:
        delete.retention.ms=100 on a changelog, to have it small.

    Fix:
        Keep 86,400,000 ms, or at least the longest time that a restore takes.

    Verify:
        eosctl config lint reports it no longer.
    """
    limits = [most for _, _, most in broker_limits(case.deployment, "transaction.max.timeout.ms")]
    longest = max(limits, default=DEFAULT_MS)
    for component in case.deployment.of(Role.BROKER, Role.TOPIC):
        name = "log.cleaner.delete.retention.ms" if component.role is Role.BROKER else "delete.retention.ms"
        kept, policy = component.value(name), component.value("cleanup.policy")
        if component.role is Role.TOPIC and policy.is_given and "compact" not in (policy.word or ""):
            continue  # no cleaner reads its segments
        is_compacted = component.role is Role.BROKER or policy.is_given
        if kept.is_given and kept.number is not None and kept.number < longest:
            yield problem(
                component,
                (kept,),
                f"{name} is {minutes(kept.number)}; transactions may last for {minutes(longest)}.",
                severity=None if is_compacted else Severity.INFO,
                impact="A slow reader of a compacted topic misses deletions and markers.",
                remedy=f"Set {name}=86400000.",
            )
