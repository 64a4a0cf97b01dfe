"""EOS-CFG-137."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-137",
    "The log cleaner has no threads",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.BROKER,),
    reads=("log.cleaner.threads",),
    references=("KIP-1030",),
)
def log_cleaner_without_threads(case: Case) -> Iterator[Problem]:
    """Find brokers that do not start because nothing would be compacted.

    What it checks:
        log.cleaner.threads=0. The declared bounds allow it, but the broker divides the buffer of the cleaner by it.

    Why it matters for exactly-once:
        The broker ends with an ArithmeticException at its next start, and takes its replicas and coordinators with
        it.

    Example:
        log.cleaner.threads=0, to switch compaction off for a while.

    Fix:
        Set log.cleaner.threads=1 or more.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        threads = broker.value("log.cleaner.threads")
        if threads.is_given and threads.number == 0:
            yield problem(
                broker,
                (threads,),
                "log.cleaner.threads is 0.",
                impact="The broker does not start.",
                remedy="Set log.cleaner.threads=1.",
            )
