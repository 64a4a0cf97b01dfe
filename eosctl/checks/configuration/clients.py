"""What several rules ask about the clients of a deployment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.deployment import TABULATED, Client, Component, Deployment, Role, Value, ValueSource
from eosctl.settings.frameworks.resolution import promises_exactly_once

ALL_REPLICAS: Final = frozenset({"all", "-1"})
BROKER_MAX_TIMEOUT_MS: Final = 900_000
SHARE_SETTINGS: Final = ("share.acknowledgement.mode", "share.acquire.mode")
"""What only share consumers have: a KafkaConsumer with one of them does not start (ConsumerConfig, 4.1 and later)."""
SHARE_SETTINGS_SINCE: Final = (4, 1)
_OF_TESTS: Final = re.compile(
    r"(?:^|/)src/[\w-]*[tT]est/"
    r"|(?:^profile |[-.])(?:(?:unit|integration|component|e2e)[-_]?)?(?:tests?|testing|itest)(?:\.\w+)?$",
    re.IGNORECASE,
)
"""A file of a build's tests (``src/test``, ``src/integrationTest``), or the file or document of a profile for tests."""
_OF_DEVELOPERS: Final = re.compile(r"(?:^profile |[-.])(?:dev|develop|development|local)(?:\.\w+)?$", re.IGNORECASE)
_LOCAL: Final = re.compile(r"(?:localhost|127(?:\.\d+){3}|\[?::1\]?)(?::\d+)?")
_CHECKPOINT_INTERVAL: Final = "execution.checkpointing.interval"
_CHECKPOINT_TIMEOUT: Final = "execution.checkpointing.timeout"


def java_producers(deployment: Deployment) -> tuple[Component, ...]:
    """Return the producers of Java, those inside frameworks included, and of libraries that judge alike."""
    alike = (Client.JAVA, Client.KAFKA_PYTHON, Client.SARAMA, Client.FRANZ_GO)
    return tuple(p for p in deployment.of(Role.PRODUCER) if p.client in alike)


def librdkafka_producers(deployment: Deployment) -> tuple[Component, ...]:
    """Return the producers of librdkafka's family."""
    return tuple(p for p in deployment.of(Role.PRODUCER) if p.client is Client.LIBRDKAFKA)


def is_transactional(producer: Component) -> bool:
    """Return whether a producer has a transactional id, its own or one that its framework makes up."""
    return bool(producer.value("transactional.id").text)


def transactional_producers(deployment: Deployment) -> tuple[Component, ...]:
    """Return the producers that use transactions, of either family."""
    return tuple(p for p in deployment.of(Role.PRODUCER) if is_transactional(p))


def head_of_ids(text: str, maker: Role | None) -> str:
    """Return the beginning of the transactional ids that a framework makes of a text.

    Kafka Streams makes ``<application.id>-<process>-<thread>`` and Flink ``<prefix>-<subtask>-<checkpoint>``. Spring
    appends a number without a hyphen.

    >>> head_of_ids("totals", Role.STREAMS), head_of_ids("totals-", Role.SPRING)
    ('totals-', 'totals-')
    """
    return f"{text}-" if text and maker in (Role.STREAMS, Role.FLINK) else text


def has_transactions(deployment: Deployment) -> bool:
    """Return whether any application of the deployment writes in transactions."""
    return any(is_transactional(producer) for producer in deployment.of(Role.PRODUCER))


def transactional_producers_near(deployment: Deployment, consumer: Component) -> tuple[Component, ...]:
    """Return the transactional producers of the application to which a consumer belongs.

    For a consumer of Kafka Streams, only the producers of Kafka Streams count.
    """
    streams = consumer.inside is Role.STREAMS
    producers = (p for p in deployment.same_application(consumer, Role.PRODUCER) if is_transactional(p))
    return tuple(producer for producer in producers if (producer.inside is Role.STREAMS) == streams)


def share_setting(consumer: Component) -> Value | None:
    """Return the setting that makes a consumer a share consumer (KIP-932), or None if it is not one."""
    if consumer.client is not Client.JAVA or consumer.release < SHARE_SETTINGS_SINCE or consumer.inside is Role.STREAMS:
        return None
    return next((value for name in SHARE_SETTINGS if (value := consumer.value(name)).is_given), None)


def written_once(deployment: Deployment, setting: str, *roles: Role) -> Iterator[tuple[Component, Value]]:
    """Yield each place of a setting, with the first component of these roles that it configures.

    A setting in a file of Spring or Flink configures producer and consumer; a setting of Streams or Connect belongs to
    their own clients.
    """
    seen: set[object] = set()
    for component in deployment.of(*roles):
        value = component.value(setting)
        if value.is_given and value.place not in seen and component.inside not in (Role.STREAMS, Role.CONNECT_WORKER):
            seen.add(value.place)
            yield component, value


def concerns_tests_alone(deployment: Deployment, component: Component, value: Value) -> bool:
    """Return whether only components of tests have a value: those of a build's tests or of a profile for tests.

    An environment whose own file names brokers on the local host is that of a developer, and counts as one of tests;
    so does one that is called ``dev`` or ``local``, unless it names brokers elsewhere.
    """
    sharing = (one for one in deployment.of(component.role) if one.value(value.name).place == value.place)
    return _is_of_tests(component) and all(map(_is_of_tests, sharing))


def _is_of_tests(component: Component) -> bool:
    return any(_OF_TESTS.search(name) for name in (component.place.file, component.environment)) or _is_local(component)


def _is_local(component: Component) -> bool:
    brokers = component.value("bootstrap.servers")
    is_own = bool(component.environment) and brokers.is_given and brokers.file.endswith(component.environment)
    if not brokers.is_given and _OF_DEVELOPERS.search(component.environment) is not None:
        return True
    return is_own and all(_LOCAL.fullmatch(one.strip()) for one in (brokers.word or "").split(","))


def demands_idempotence(producer: Component) -> bool:
    """Return whether idempotence is asked for: by itself, or by a transactional id, which does not go without it."""
    asked = producer.value("enable.idempotence")
    return (asked.source is not ValueSource.DEFAULT and asked.flag is True) or is_transactional(producer)


def is_idempotent_by_default(producer: Component) -> bool:
    """Return whether only the release's default makes a producer idempotent (3.0 and later)."""
    asked = producer.value("enable.idempotence")
    silent = producer.client in TABULATED and asked.source is ValueSource.DEFAULT
    return silent and asked.flag is True and not is_transactional(producer)


def exactly_once_streams(deployment: Deployment) -> tuple[Component, ...]:
    """Return the Streams applications with a processing guarantee of exactly once."""
    return tuple(s for s in deployment.of(Role.STREAMS) if promises_exactly_once(s.word("processing.guarantee")))


def never_asks_for_two_phase_commit(producer: Component) -> bool:
    """Return whether a producer accepts transaction.two.phase.commit.enable and never sends it.

    The Java clients 4.1 to 4.4 do: no class of theirs calls ``InitProducerIdRequestData.setEnable2Pc``.
    """
    return producer.client is Client.JAVA and (4, 1) <= producer.release <= (4, 4)


def broker_limits(deployment: Deployment, name: str) -> tuple[tuple[Component, Value, int], ...]:
    """Return each broker's value of a numeric setting, where it is known."""
    reported = ((broker, broker.value(name)) for broker in deployment.of(Role.BROKER))
    return tuple((broker, value, value.number) for broker, value in reported if value.number is not None)


def minutes(milliseconds: int) -> str:
    """Write a duration as people say it: ``900,000 ms (15 min)``."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if milliseconds >= size and milliseconds % size == 0:
            return f"{milliseconds:,} ms ({milliseconds // size} {unit})"
    return f"{milliseconds:,} ms"


def checkpointing(deployment: Deployment, job: Component) -> tuple[Value, Value]:
    """Return interval and timeout of a job's checkpoints: its own, else those of the cluster that is given with it."""
    around = job if job.has(_CHECKPOINT_INTERVAL) else cluster_of(deployment, job)
    own = job if around is None else around
    return own.value(_CHECKPOINT_INTERVAL), job.value(_CHECKPOINT_TIMEOUT) if job.has(
        _CHECKPOINT_TIMEOUT
    ) else own.value(_CHECKPOINT_TIMEOUT)


def cluster_of(deployment: Deployment, job: Component) -> Component | None:
    """Return the configuration of the Flink cluster that a job runs in: the nearest by folder.

    It names checkpoints, and neither sink nor source. None is returned where none is given.
    """
    clusters = [one for one in deployment.of(Role.FLINK) if one.has(_CHECKPOINT_INTERVAL) and not _is_table(one)]
    return max(clusters, key=lambda one: _shared(one.place.file, job.place.file), default=None)


def _is_table(flink: Component) -> bool:
    return any(name.startswith(("sink.", "scan.", "properties.")) or name == "connector" for name in flink.given)


def _shared(one: str, other: str) -> int:
    """Return how many folders two paths have in common."""
    count = 0
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
