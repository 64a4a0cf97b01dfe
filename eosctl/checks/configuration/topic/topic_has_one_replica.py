"""EOS-CFG-166."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import three_replicas
from eosctl.checks.configuration.broker_clusters import is_broker, is_only_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-166",
    "Topic has one replica",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.TOPIC,),
    reads=("replication.factor",),
    tags=("durability",),
    references=("KIP-966",),
)
def topic_has_one_replica(case: Case) -> Iterator[Problem]:
    """Find topics with a single replica.

    What it checks:
        A replication factor of 1, declared for a topic or printed by kafka-topics.sh. Nothing is reported where the
        platform starts one broker in all: more replicas have no place there.

    Why it matters for exactly-once:
        acks=all then means one broker. If it is lost, committed records are lost with it, and while it restarts, every
        transaction that writes to the topic fails.

    Example:
        A topic that was created with --replication-factor 1 in a test, and then used in production.

    Fix:
        Give it three replicas: kafka-reassign-partitions.sh changes the number for a topic that exists.

    Verify:
        kafka-topics.sh --describe shows three replicas for each partition.
    """
    for topic in case.deployment.of(Role.TOPIC):
        factor = topic.value("replication.factor")
        if factor.is_given and factor.number == 1 and not _has_one_broker(case.deployment, topic):
            yield problem(
                topic,
                (factor,),
                f"{factor.key} is 1.",
                confidence=Confidence.LIKELY,
                cause="This holds unless the cluster has one broker.",
                impact="Committed records are lost with one broker, and its restart stops transactions.",
                remedy=three_replicas(case.deployment, factor.key),
            )


def _has_one_broker(deployment: Deployment, topic: Component) -> bool:
    """Return whether the brokers of a topic's file, of its folder, or else of the input are alone each."""
    brokers = [one for one in deployment.of(Role.BROKER) if is_broker(one)]
    own = [one for one in brokers if topic.place.file in (one.place.file, one.described_by)]
    near = own or [one for one in deployment.brokers_near(topic) if is_broker(one)] or brokers
    return bool(near) and all(is_only_broker(deployment, one) for one in near)
