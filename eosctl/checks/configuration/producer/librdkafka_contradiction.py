"""EOS-CFG-070."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import ALL_REPLICAS, is_transactional, librdkafka_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

_OF_QUEUE: Final = (("queuing.strategy", "fifo"), ("queue.buffering.backpressure.threshold", "1"))
"""How an idempotent producer keeps the order of its queue."""


def _refused(producer: Component, value: Value, contradiction: str, remedy: str, *others: Value) -> Problem:
    return problem(
        producer,
        (value, *others),
        f"{value.key} {contradiction}.",
        impact="librdkafka does not create the producer.",
        remedy=remedy,
    )


@check(
    "EOS-CFG-070",
    "Settings that librdkafka refuses together with idempotence",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=(
        "transactional.id",
        "enable.idempotence",
        "acks",
        "max.in.flight.requests.per.connection",
        "retries",
        "socket.timeout.ms",
        "delivery.timeout.ms",
        "transaction.timeout.ms",
        "queuing.strategy",
        "queue.buffering.backpressure.threshold",
        "enable.gapless.guarantee",
    ),
    needs_presence_of=("transactional.id",),
    tags=("librdkafka",),
    references=("rdkafka_conf.c",),
)
def librdkafka_contradiction(case: Case) -> Iterator[Problem]:
    """Find producers of librdkafka's family that cannot be created.

    What it checks:
        What librdkafka checks when a producer is made, for values that were written down: transactional.id needs
        enable.idempotence; idempotence needs acks=all, at most 5 in flight, at least one retry, queuing.strategy=fifo,
        and queue.buffering.backpressure.threshold=1; enable.gapless.guarantee needs idempotence; with a
        transactional.id socket.timeout.ms may exceed transaction.timeout.ms by 100 ms at most and
        message.timeout.ms not at all.

    Why it matters for exactly-once:
        The producer is not created. librdkafka silently adjusts values that are not set; those are not reported.

    Example:
        max.in.flight=10 with enable.idempotence=true.

    Fix:
        Correct or remove the setting; librdkafka chooses a fitting one itself.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in librdkafka_producers(case.deployment):
        yield from _of_idempotence(producer)
        timeout = producer.value("transaction.timeout.ms")
        if not is_transactional(producer) or timeout.number is None:
            continue
        for name, margin in (("socket.timeout.ms", 100), ("delivery.timeout.ms", 0)):
            wait = producer.value(name)
            if wait.is_given and wait.number is not None and wait.number > timeout.number + margin:
                contradiction = f"is {wait.number:,} ms, transaction.timeout.ms {timeout.number:,} ms"
                yield _refused(producer, wait, contradiction, f"Set it to {timeout.number} or less.", timeout)


def _of_idempotence(producer: Component) -> Iterator[Problem]:
    transactional, idempotence = is_transactional(producer), producer.value("enable.idempotence")
    if transactional and idempotence.is_given and idempotence.flag is False:
        yield _refused(producer, idempotence, "is false, but the producer has a transactional.id", "Remove it.")
    if not transactional and idempotence.flag is not True:
        gapless = producer.value("enable.gapless.guarantee")
        if gapless.is_given and gapless.flag is True:
            yield _refused(producer, gapless, "is true, and idempotence is off", "Set enable.idempotence=true.")
        return
    acks, flying = producer.value("acks"), producer.value("max.in.flight.requests.per.connection")
    retries = producer.value("retries")
    if acks.is_given and acks.word is not None and acks.word.lower() not in ALL_REPLICAS:
        yield _refused(producer, acks, f"is {acks.word}; idempotence needs all", "Remove it, or set it to all.")
    if flying.is_given and flying.number is not None and flying.number > 5:
        yield _refused(producer, flying, f"is {flying.number}; idempotence allows 5", "Set it to 5 or less.")
    if retries.is_given and retries.number is not None and retries.number < 1:
        yield _refused(producer, retries, f"is {retries.number}; idempotence needs retries", "Remove it.")
    for name, accepted in _OF_QUEUE:
        queue = producer.value(name)
        if queue.is_given and queue.word is not None and queue.word.lower() != accepted:
            yield _refused(producer, queue, f"is {queue.word}; idempotence needs {accepted}", "Remove it.")
