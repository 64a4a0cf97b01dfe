"""EOS-CFG-036."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.broker_clusters import (
    comes_with_image,
    is_broker,
    is_only_broker,
    wants_more_brokers,
)
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-036",
    "Offsets topic is configured with too few replicas",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("offsets.topic.replication.factor",),
    tags=("durability",),
)
def offsets_topic_settings_not_durable(case: Case) -> Iterator[Problem]:
    """Find brokers that will create the offsets topic with too few replicas.

    What it checks:
        offsets.topic.replication.factor below 3, where it was written down, or where the image of several brokers has
        it in its own file (Bitnami's). The offsets topic gets no
        min.insync.replicas of its own: it follows the brokers' default. Nothing
        is reported where the platform starts one broker in all: more replicas have no place there.

    Why it matters for exactly-once:
        Offsets that were committed in a transaction live there. Lost, they send the application back to
        auto.offset.reset: duplicates or loss.

    Example:
        offsets.topic.replication.factor=1 from a quick start.

    Fix:
        Set it to 3, and min.insync.replicas=2 on the topic.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        # A controller alone creates none of these topics.
        if not is_broker(broker) or is_only_broker(case.deployment, broker):
            continue
        if wants_more_brokers(case.deployment, broker):
            continue  # EOS-CFG-149
        value = broker.value("offsets.topic.replication.factor")
        is_shown = value.is_given or comes_with_image(case.deployment, broker, value)
        if is_shown and value.number is not None and value.number < 3:
            whose = "" if value.is_given else " in the image's own file"
            yield problem(
                broker,
                (value,),
                f"{value.name} is {value.number}{whose}.",
                impact="The loss of a broker loses or blocks committed offsets.",
                remedy="Set offsets.topic.replication.factor=3 on a cluster of three brokers or more.",
            )
