"""EOS-CFG-072."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.instances import counted, counted_at, processes, runs_many, shared_text
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
    reads=("transactional.id",),
    references=("KIP-447",),
)
def spring_prefix_of_many_instances(case: Case) -> Iterator[Problem]:
    """Find Spring applications of several instances with a fixed transaction-id-prefix.

    What it checks:
        A transaction-id-prefix without a placeholder in the environment or in a file of a workload with two
        processes or more: replicas of Kubernetes, its autoscalers, Compose, and charts. A namespace, a release, or the
        application's name in the place of a placeholder is the same for all of them.

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
    for producer in case.deployment.of(Role.PRODUCER):
        prefix = producer.value("transactional.id")
        if producer.inside is Role.SPRING and prefix.is_given and shared_text(prefix) and runs_many(producer):
            yield problem(
                producer,
                (prefix, *counted(producer)),
                f"{shared_text(prefix)} is the prefix of all {processes(producer)}.",
                cause=counted_at(producer),
                impact="The instances fence each other.",
                remedy="Make the prefix different for each instance, e.g. of the pod's name.",
            )
