"""EOS-CFG-154."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-154",
    "Topics are compacted by default",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("log.cleanup.policy",),
    references=("org.apache.kafka.storage.internals.log.LogConfig",),
)
def topics_compacted_by_default(case: Case) -> Iterator[Problem]:
    """Find brokers that compact every topic without a policy of its own.

    What it checks:
        log.cleanup.policy with compact, written in the configuration of a broker.

    Why it matters for exactly-once:
        Records without a key are refused (InvalidRecordException). Of records with equal keys all but the last are
        removed, also where each of them counts. Repartition topics of Streams have a policy of their own.

    Example:
        log.cleanup.policy=compact in server.properties, meant for one topic.

    Fix:
        Remove it, and set cleanup.policy=compact on the topics that are tables.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        policy = broker.value("log.cleanup.policy")
        if policy.is_given and "compact" in (policy.word or ""):
            yield problem(
                broker,
                (policy,),
                f"{policy.key}={policy.word} holds for every topic without a cleanup.policy.",
                impact="Records without a key are refused, and older records of a key are removed.",
                remedy=f"Remove {policy.key}, and set cleanup.policy=compact on the topics that need it.",
            )
