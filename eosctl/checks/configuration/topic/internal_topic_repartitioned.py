"""EOS-CFG-030."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role, Value
from eosctl.model.severity import Severity

NAMES: Final = {
    "__transaction_state": "transaction.state.log.num.partitions",
    "__consumer_offsets": "offsets.topic.num.partitions",
}
DEFAULT_COUNT: Final = 50


@check(
    "EOS-CFG-030",
    "Number of partitions of an internal topic is changed",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.TOPIC,),
    reads=(
        "partitions",
        "transaction.state.log.num.partitions",
        "offsets.topic.num.partitions",
    ),
    tags=("internal-topics",),
    references=("KAFKA-7801",),
)
def internal_topic_repartitioned(case: Case) -> Iterator[Problem]:
    """Find configurations that change how many partitions Kafka's internal topics have.

    What it checks:
        The partitions of a topic resource for __transaction_state or __consumer_offsets against the setting of the
        brokers in the same input, or Kafka's default of 50. With a running cluster, the brokers' setting is compared
        with the actual topic.

    Why it matters for exactly-once:
        A transactional id and a group belong to the partition that their hash names, out of all there are. With
        another number they belong elsewhere: the old coordinator keeps open transactions and fencing epochs that the
        new one does not know, and the next load of a coordinator fails.

    Example:
        A KafkaTopic for __transaction_state with partitions: 100, made to spread coordinators over new brokers.

    Fix:
        Never change it. A cluster that needs another number gets it before its first transaction, or by a migration
        of all applications.

    Verify:
        eosctl config lint reports it no longer.
    """
    for topic in case.deployment.of(Role.TOPIC):
        setting = next((setting for name, setting in NAMES.items() if topic.name.rstrip(")").endswith(name)), None)
        count = topic.value("partitions")
        if setting is None or count.number is None:
            continue
        yield from _differing(case.deployment, topic, count, setting)


def _differing(deployment: Deployment, topic: Component, count: Value, setting: str) -> Iterator[Problem]:
    exists = topic.place.line == 0
    configured = [(b, b.value(setting)) for b in deployment.of(Role.BROKER) if b.value(setting).is_given or exists]
    others = [
        (broker, value) for broker, value in configured if value.number is not None and value.number != count.number
    ]
    if exists:
        for broker, value in others:
            if value.is_given:
                yield problem(
                    broker,
                    (value, count),
                    f"{setting} is {value.text}, the topic has {count.text} partitions.",
                    severity=Severity.WARNING,
                    impact="It has no effect on the topic that exists; were the topic made anew, every id would move.",
                    remedy=f"Set {setting}={count.text}.",
                )
    elif others or (not configured and count.number != DEFAULT_COUNT):
        known = others[0][1].text if others else f"{DEFAULT_COUNT} by default"
        yield problem(
            topic,
            (count, *(value for _, value in others[:1])),
            f"{topic.name} is given {count.text} partitions; the brokers have {known}.",
            impact="Ids move to coordinators that know nothing of their open transactions and epochs.",
            remedy="Leave the number of partitions as it is.",
        )
