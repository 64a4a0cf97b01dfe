"""EOS-CFG-019."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import java_producers, never_asks_for_two_phase_commit
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-019",
    "Two-phase commit with a transaction timeout",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("transaction.two.phase.commit.enable", "transaction.timeout.ms"),
    references=("KIP-939",),
)
def two_phase_commit_with_timeout(case: Case) -> Iterator[Problem]:
    """Find producers that take part in two-phase commit and set a timeout.

    What it checks:
        transaction.timeout.ms written down together with transaction.two.phase.commit.enable=true (Kafka 4.1 and
        later).

    Why it matters for exactly-once:
        A prepared transaction must not time out by itself; the producer throws a ConfigException. Up to 4.4 it would
        have one even without the setting: these clients never ask for two-phase commit (EOS-CFG-145).

    Example:
        An existing transactional producer that is switched to two-phase commit and keeps its timeout.

    Fix:
        Up to 4.4 remove transaction.two.phase.commit.enable, and keep a timeout longer than the other half of the
        commit can take. Later, remove transaction.timeout.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in java_producers(case.deployment):
        two_phase, timeout = (
            producer.value("transaction.two.phase.commit.enable"),
            producer.value("transaction.timeout.ms"),
        )
        if producer.release >= (4, 1) and two_phase.is_given and two_phase.flag is True and timeout.is_given:
            values = (two_phase, timeout) if never_asks_for_two_phase_commit(producer) else (timeout, two_phase)
            yield problem(
                producer,
                values,
                f"{timeout.key} is set although {two_phase.key} is true.",
                impact="The producer does not start (ConfigException).",
                remedy=f"Remove {values[0].key}.",
            )
