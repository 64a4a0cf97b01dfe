"""EOS-CFG-148."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.instances import counted, counted_at, processes, runs_many, shared_text
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-148",
    "Instances of one workload share a static member id",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("group.instance.id",),
    references=("KIP-345",),
)
def instances_share_static_member(case: Case) -> Iterator[Problem]:
    """Find static member ids that several processes of one workload use.

    What it checks:
        A group.instance.id without a placeholder, in the environment or in a file of a workload with two processes or
        more.

    Why it matters for exactly-once:
        The member that joins last fences the others with FENCED_INSTANCE_ID. Open transactions of a fenced instance
        stay open until their timeout.

    Example:
        group.instance.id=billing-1 in a ConfigMap that a StatefulSet with replicas: 3 mounts.

    Fix:
        Put the pod's name or ordinal into the id. Kafka Streams adds the number of its thread, not that of the
        process.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        name = consumer.value("group.instance.id")
        if name.is_given and shared_text(name) and runs_many(consumer):
            yield problem(
                consumer,
                (name, *counted(consumer)),
                f"{name.key}={shared_text(name)} is the id of all {processes(consumer)}.",
                cause=counted_at(consumer),
                impact="The instances fence each other (FENCED_INSTANCE_ID).",
                remedy=f"Make {name.key} different for each instance, and the same after a restart.",
            )
