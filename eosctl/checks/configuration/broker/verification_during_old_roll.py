"""EOS-CFG-055."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence
from eosctl.text import release_text

CONCERNED: Final = ((3, 6), (3, 7))


@check(
    "EOS-CFG-055",
    "Verification is on while brokers before 3.6 are in the cluster",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("transaction.partition.verification.enable",),
    tags=("upgrade",),
    references=(
        "KAFKA-16992",
        "KIP-890",
    ),
)
def verification_during_old_roll(case: Case) -> Iterator[Problem]:
    """Find rolling upgrades through 3.6 or 3.7.0 with partition verification on.

    What it checks:
        Brokers of 3.6 or 3.7 together with older ones in one cluster, by the releases that images or resources name,
        where transaction.partition.verification.enable is true on the newer ones.

    Why it matters for exactly-once:
        A 3.6.x or 3.7.0 leader asks the coordinator in a version of AddPartitionsToTxn that older brokers refuse:
        transactional writes fail until the roll is over.

    Example:
        A Compose file with kafka:3.5 and kafka:3.6 in one cluster.

    Fix:
        Roll to 3.7.1 or later. Finish a roll that has begun. Leave transaction.partition.verification.enable at true:
        without it transactions can hang.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = [broker for broker in case.deployment.of(Role.BROKER) if broker.release_named]
    older = {id(broker) for broker in brokers if broker.release < CONCERNED[0]}
    for broker in brokers:
        verification = broker.value("transaction.partition.verification.enable")
        old = next((other for other in case.deployment.same_cluster(broker) if id(other) in older), None)
        if broker.release in CONCERNED and old is not None and verification.flag is True:
            yield problem(
                broker,
                (verification,) if verification.is_given else (),
                f"{broker.name} is {release_text(broker.release)} with verification on, next to "
                f"{old.name} of {release_text(old.release)}.",
                confidence=Confidence.LIKELY,
                impact="With 3.6.x and 3.7.0, transactional writes fail while older coordinators remain.",
                remedy="Roll to 3.7.1 or later, without a stop at 3.6 or 3.7.0.",
            )
