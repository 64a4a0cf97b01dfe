"""EOS-CFG-147."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.instances import counted, counted_at, processes, runs_many, shared_text
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-147",
    "Instances of one workload share a transactional id",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER,),
    reads=("transactional.id",),
    references=("KIP-98",),
)
def instances_share_transactional_id(case: Case) -> Iterator[Problem]:
    """Find transactional ids that several processes of one workload use.

    What it checks:
        A transactional.id without a placeholder, in the environment or in a file of a workload with two processes or
        more: replicas of Kubernetes, its autoscalers, kustomizations, Compose, and charts. A file next to the manifests
        of the only workload, or of one with its name, is that workload's. Prefixes of Spring have a rule of their own.

    Why it matters for exactly-once:
        Each process initializes the id and fences the others (ProducerFencedException). They restart and fence each
        other in turn.

    Example:
        transactional.id=settlement-tx in a ConfigMap that a Deployment with replicas: 4 mounts.

    Fix:
        Put something of the instance into the id: the pod's name or the ordinal of a StatefulSet.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in transactional_producers(case.deployment):
        name = producer.value("transactional.id")
        if producer.inside is None and name.is_given and shared_text(name) and runs_many(producer):
            yield problem(
                producer,
                (name, *counted(producer)),
                f"{name.key}={shared_text(name)} is the id of all {processes(producer)}.",
                cause=counted_at(producer),
                impact="The instances fence each other: none makes progress.",
                remedy=f"Make {name.key} different for each instance, e.g. from the pod's name.",
            )
