"""EOS-CFG-146."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import SHARE_SETTINGS, share_setting
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

OF_THE_GROUP: Final = {
    "isolation.level": "share.isolation.level",
    "auto.offset.reset": "share.auto.offset.reset",
    "session.timeout.ms": "share.session.timeout.ms",
    "heartbeat.interval.ms": "share.heartbeat.interval.ms",
}
"""What the brokers decide for a share group, and the setting of the group that says it."""
REFUSED: Final = (
    *OF_THE_GROUP,
    "enable.auto.commit",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "interceptor.classes",
    "partition.assignment.strategy",
)


@check(
    "EOS-CFG-146",
    "Setting that a share consumer refuses",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=(*SHARE_SETTINGS, *REFUSED),
    references=("KIP-932", "org.apache.kafka.clients.consumer.ShareConsumerConfig"),
)
def share_consumer_refuses_setting(case: Case) -> Iterator[Problem]:
    """Find share consumers with settings of consumer groups, isolation.level above all.

    What it checks:
        isolation.level, auto.offset.reset, session.timeout.ms, heartbeat.interval.ms, enable.auto.commit,
        group.instance.id, group.protocol, group.remote.assignor, interceptor.classes and
        partition.assignment.strategy, with any value, together with share.acknowledgement.mode or share.acquire.mode in
        Java consumers of 4.1 and later.

    Why it matters for exactly-once:
        KafkaShareConsumer is refused with a ConfigException and does not start, and KafkaConsumer refuses the share
        settings. Without isolation.level the group reads records of aborted transactions: its brokers decide that,
        and share.isolation.level is read_uncommitted unless it is set for the group.

    Example:
        A consumer of a topic with transactions becomes a share consumer and keeps isolation.level=read_committed.

    Fix:
        Remove the setting; set its counterpart (share.isolation.level=read_committed) for the group with
        kafka-configs.sh --entity-type groups. A consumer that is not meant to share has no share setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        shared = share_setting(consumer)
        if shared is None:
            continue
        for name in REFUSED:
            setting = consumer.value(name)
            if not setting.is_given:
                continue
            of_the_group = OF_THE_GROUP.get(name)
            yield problem(
                consumer,
                (setting, shared),
                f"{setting.key} cannot be set for a share consumer, which {shared.key} makes it.",
                impact="The consumer is refused and does not start.",
                remedy=f"Remove {setting.key}" + (f"; set {of_the_group} for the group." if of_the_group else "."),
            )
