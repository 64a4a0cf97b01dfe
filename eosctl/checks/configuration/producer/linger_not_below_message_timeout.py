"""EOS-CFG-085."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import librdkafka_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-085",
    "librdkafka lingers longer than a message may live",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER,),
    reads=("linger.ms", "delivery.timeout.ms"),
    tags=("librdkafka",),
    references=("rdkafka_conf.c",),
)
def linger_not_below_message_timeout(case: Case) -> Iterator[Problem]:
    """Find producers of librdkafka's family whose linger time is not below the message timeout.

    What it checks:
        message.timeout.ms > linger.ms, where linger.ms was written down; equal values are refused. A message
        timeout of 0 means none.

    Why it matters for exactly-once:
        librdkafka does not create the producer.

    Example:
        linger.ms=5000 with message.timeout.ms=3000.

    Fix:
        Lower linger.ms, or raise message.timeout.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in librdkafka_producers(case.deployment):
        linger, timeout = producer.value("linger.ms"), producer.value("delivery.timeout.ms")
        if not linger.is_given or linger.number is None or timeout.number is None:
            continue
        if timeout.number != 0 and timeout.number <= linger.number:
            yield problem(
                producer,
                (linger, timeout),
                f"{linger.key} is {linger.number:,} ms, {timeout.key} {timeout.number:,} ms.",
                impact="librdkafka does not create the producer.",
                remedy=f"Set {linger.key} below {timeout.number}.",
            )
