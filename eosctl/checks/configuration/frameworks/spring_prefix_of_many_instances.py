"""EOS-CFG-072."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-072",
    "Instances of a Spring application share one transactional id prefix",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.SPRING,),
    reads=(
        "transactional.id",
        "deployment.instances",
    ),
    references=("KIP-447",),
)
def spring_prefix_of_many_instances(case: Case) -> Iterator[Problem]:
    """Find Spring applications of several instances with a fixed transaction-id-prefix.

    What it checks:
        A transaction-id-prefix without a placeholder, given as an environment variable to a workload with two
        replicas or more (Kubernetes spec.replicas, Compose deploy.replicas).

    Why it matters for exactly-once:
        Spring makes transactional ids of the prefix and a number. With the same prefix two instances make the same
        ids and fence each other in turn.

    Example:
        SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX=tx- in a Deployment with replicas: 3.

    Fix:
        Put something of the instance into the prefix: the pod's name or ordinal.

    Verify:
        eosctl config lint reports it no longer.
    """
    for spring in case.deployment.of(Role.SPRING):
        count = spring.value("deployment.instances")
        for producer in case.deployment.beside(spring, Role.PRODUCER):
            prefix = producer.value("transactional.id")
            if prefix.is_given and prefix.word and count.number is not None and count.number > 1:
                yield problem(
                    producer,
                    (prefix, count),
                    f"{prefix.word} is the prefix of all {count.number} instances.",
                    impact="The instances fence each other.",
                    remedy="Make the prefix different for each instance, e.g. of the pod's name.",
                )
