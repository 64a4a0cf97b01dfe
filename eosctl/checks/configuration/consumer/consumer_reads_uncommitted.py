"""EOS-CFG-020."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import (
    has_transactions,
    share_setting,
    transactional_producers,
    transactional_producers_near,
)
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.topics import topics_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Deployment, Role, Value
from eosctl.model.severity import Severity

_ASSUMED: Final = "This holds for a client of Java, kafka-python, or aiokafka; nothing shows the library."


def _severity(deployment: Deployment, consumer: Component, *, is_near: bool) -> Severity | None:
    """Return None, the check's own severity, if a consumer reads what is written in transactions."""
    read = topics_of(deployment, consumer)
    written = [topics_of(deployment, one) for one in transactional_producers(deployment)]
    if is_near or any(not read.likely.isdisjoint(topics.likely) for topics in written):
        return None
    if read.own and all(topics.own for topics in written):
        return Severity.INFO  # every file names its topics, and they are others
    return Severity.WARNING if has_transactions(deployment) else Severity.INFO


def _is_assumed(consumer: Component) -> bool:
    """Return whether nothing shows the client library: variables have the names of the application's own."""
    return (
        consumer.inside is None and consumer.client is Client.JAVA and all(map(_is_variable, consumer.given.values()))
    )


def _is_variable(value: Value) -> bool:
    return value.key == value.key.upper()


def _remedy(consumer: Component) -> str:
    if share_setting(consumer):
        return "Set share.isolation.level=read_committed for its share group."
    return "Set isolation.level=read_committed for this consumer."


@check(
    "EOS-CFG-020",
    "Consumer reads uncommitted records",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("isolation.level",),
    references=("KIP-98",),
)
def consumer_reads_uncommitted(case: Case) -> Iterator[Problem]:
    """Find consumers that see records of open and aborted transactions.

    What it checks:
        isolation.level=read_uncommitted written down; and the Java default (read_uncommitted) in an application
        that writes in transactions itself. The default of librdkafka and KafkaJS is read_committed, and the
        transactional source of Alpakka and Pekko sets it. Written down, it is an error where the input writes a topic
        of the consumer in transactions, a warning where it writes topics that no file names, and else information. The
        default is information for variables that do not show the client library.

    Why it matters for exactly-once:
        Records of aborted transactions are processed as if they were committed: the chain is no longer exactly-once
        at its first reader.

    Example:
        A sink connector without consumer.override.isolation.level behind a transactional application; a Spring
        application with transaction-id-prefix and no isolation-level.

    Fix:
        Set isolation.level=read_committed. In Connect: consumer.override.isolation.level of the sink or
        consumer.isolation.level of the worker; in MirrorMaker source.consumer.isolation.level. A share consumer
        refuses the setting: share.isolation.level=read_committed of its group takes its place.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        level = consumer.value("isolation.level")
        if level.word is None or level.word.lower() != "read_uncommitted":
            continue
        writers = transactional_producers_near(case.deployment, consumer)
        if not level.is_given and any(writer.has("eos-commit-interval") for writer in writers):
            continue  # Transactional.source sets it
        # In Connect the producers are the source tasks', the consumers the sink tasks'.
        if level.is_given or (writers and consumer.inside is not Role.CONNECT_WORKER):
            subject = level.key if level.is_given else "isolation.level is not set, and its default"
            yield problem(
                consumer,
                (level, *(producer.value("transactional.id") for producer in writers[:1])),
                f"{subject} is read_uncommitted"
                + (", in an application that writes in transactions." if writers else "."),
                cause="" if level.is_given or not _is_assumed(consumer) else _ASSUMED,
                impact="Records of aborted transactions are read as if they were committed.",
                remedy=_remedy(consumer),
                severity=Severity.INFO
                if not level.is_given and _is_assumed(consumer)
                else _severity(case.deployment, consumer, is_near=bool(writers)),
            )
