"""EOS-CFG-137."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.rule import problem, rule
from eosctl.checks.declaration import Problem
from eosctl.model.deployment import Deployment, Role
from eosctl.model.severity import Severity


@rule(
    "EOS-CFG-137",
    "The log cleaner has no threads",
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("log.cleaner.threads",),
    references=("KIP-1030",),
)
def no_cleaner_threads(deployment: Deployment) -> Iterator[Problem]:
    """Find brokers on which nothing is compacted.

    What it checks:
        log.cleaner.threads=0, which Kafka accepts.

    Why it matters for exactly-once:
        The transaction log, committed offsets and changelogs grow for ever, and coordinators read all of it when they
        move.

    Example:
        log.cleaner.threads=0, set in an incident and forgotten.

    Fix:
        Set log.cleaner.threads=1 or more; it is dynamic.

    Verify:
        eosctl config lint reports it no longer.

    References:
        KIP-1030; log.cleaner.threads.
    """
    for broker in deployment.of(Role.BROKER):
        threads = broker.value("log.cleaner.threads")
        if threads.is_given and threads.number == 0:
            yield problem(
                broker,
                (threads,),
                "log.cleaner.threads is 0.",
                impact="Internal topics and changelogs are never compacted.",
                remedy="Set log.cleaner.threads=1.",
            )
