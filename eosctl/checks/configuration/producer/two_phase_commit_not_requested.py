"""EOS-CFG-145."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import never_asks_for_two_phase_commit, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-145",
    "Two-phase commit that the client does not request",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER,),
    reads=("transaction.two.phase.commit.enable", "transactional.id", "transaction.timeout.ms"),
    needs_presence_of=("transactional.id",),
    references=("KIP-939",),
)
def two_phase_commit_not_requested(case: Case) -> Iterator[Problem]:
    """Find producers that rely on a two-phase commit that their client never asks the broker for.

    What it checks:
        transaction.two.phase.commit.enable=true of a transactional Java producer of 4.1 to 4.4. These releases have
        the setting, but send InitProducerId without it, and they have no prepareTransaction. If
        transaction.timeout.ms is also set, they do not start at all (EOS-CFG-019).

    Why it matters for exactly-once:
        The coordinator keeps the default timeout of 60,000 ms and may abort a transaction that the other half of the
        commit has already decided to commit. No error shows this: initTransactions succeeds, against every broker.

    Example:
        A job that commits to a database and Kafka together and sets transaction.two.phase.commit.enable=true.

    Fix:
        Remove it and set transaction.timeout.ms longer than the other half can take, at most the brokers'
        transaction.max.timeout.ms.

    Verify:
        eosctl config lint reports it no longer; eosctl txn describe shows the timeout that the coordinator keeps.
    """
    for producer in filter(never_asks_for_two_phase_commit, transactional_producers(case.deployment)):
        two_phase, timeout = (
            producer.value("transaction.two.phase.commit.enable"),
            producer.value("transaction.timeout.ms"),
        )
        if two_phase.is_given and two_phase.flag is True and not timeout.is_given:
            yield problem(
                producer,
                (two_phase,),
                f"{two_phase.key} is true; this client never requests it from the coordinator.",
                impact="A transaction is aborted after 60,000 ms (1 min), even if the other half has committed.",
                remedy=f"Remove {two_phase.key} and set a transaction.timeout.ms longer than the other half can take.",
            )
