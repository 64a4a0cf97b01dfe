"""EOS-CFG-083."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-083",
    "Retention is set on a topic that is only compacted",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.TOPIC,),
    reads=("cleanup.policy", "retention.ms", "retention.bytes"),
)
def retention_on_compacted_topic(case: Case) -> Iterator[Problem]:
    """Find retention settings that have no effect.

    What it checks:
        retention.ms or retention.bytes on a topic whose clean-up policy is compact alone.

    Why it matters for exactly-once:
        Compaction keeps the last record of every key regardless of its age, so the retention does not delete it.

    Example:
        retention.ms=86400000 on a changelog.

    Fix:
        Remove the setting, or use compact,delete when old keys may go.

    Verify:
        eosctl config lint reports it no longer.
    """
    for topic in case.deployment.of(Role.TOPIC):
        policy = topic.value("cleanup.policy")
        for name in ("retention.ms", "retention.bytes"):
            retention = topic.value(name)
            if policy.is_given and policy.word == "compact" and retention.is_given and retention.number != -1:
                yield problem(
                    topic,
                    (retention, policy),
                    f"{name} has no effect: the clean-up policy is compact alone.",
                    remedy=f"Remove {name}, or set cleanup.policy=compact,delete.",
                )
