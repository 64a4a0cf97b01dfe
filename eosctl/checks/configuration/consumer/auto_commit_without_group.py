"""EOS-CFG-140."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-140",
    "Consumer commits automatically and has no group",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.CONSUMER,),
    reads=(
        "enable.auto.commit",
        "group.id",
    ),
    references=("KIP-289",),
)
def auto_commit_without_group(case: Case) -> Iterator[Problem]:
    """Find consumers that Kafka's client refuses to create.

    What it checks:
        enable.auto.commit=true written down without a group.id, for plain Java consumers. Frameworks add the group
        themselves.

    Why it matters for exactly-once:
        The client ends with an InvalidConfigurationException: there is no group whose offsets it could commit.

    Example:
        A consumer with assign() and enable.auto.commit=true.

    Fix:
        Set group.id, or enable.auto.commit=false.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        auto, group = consumer.value("enable.auto.commit"), consumer.value("group.id")
        if consumer.inside is not None or consumer.client is not Client.JAVA or not _is_whole(consumer):
            continue
        if auto.is_given and auto.flag is True and group.text is None:
            yield problem(
                consumer,
                (auto,),
                f"{auto.key} is true, and there is no group.id.",
                impact="The consumer does not start.",
                remedy="Set group.id, or enable.auto.commit=false.",
            )


def _is_whole(consumer: Component) -> bool:
    """Return whether the file holds all that a consumer needs, and not a part that a program completes.

    What several clients share, producers among them, is such a part: each consumer has a group of its own.
    """
    is_shared = consumer.has("key.serializer") or consumer.has("value.serializer")
    return consumer.has("bootstrap.servers") and consumer.has("key.deserializer") and not is_shared
