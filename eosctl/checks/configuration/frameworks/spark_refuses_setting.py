"""EOS-CFG-174."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.spark_options import SPARK

_REFUSED: Final = {
    Role.CONSUMER: (
        "auto.offset.reset",
        "enable.auto.commit",
        "interceptor.classes",
        "key.deserializer",
        "value.deserializer",
    ),
    Role.PRODUCER: ("key.serializer", "value.serializer"),
}


@check(
    "EOS-CFG-174",
    "Option that Spark refuses, or that its writer cannot use",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.PRODUCER, Role.CONSUMER),
    reads=("transactional.id", "enable.auto.commit", "auto.offset.reset"),
    references=("KIP-98", "org.apache.spark.sql.kafka010.KafkaSourceProvider"),
)
def spark_refuses_setting(case: Case) -> Iterator[Problem]:
    """Find options of Structured Streaming with which a query does not start, or does not write.

    What it checks:
        kafka.enable.auto.commit, kafka.auto.offset.reset, kafka.interceptor.classes, and deserializers of a source,
        serializers of a sink, and kafka.transactional.id of a sink.

    Why it matters for exactly-once:
        A source keeps its offsets in the checkpoint, not in a consumer group, so Spark refuses what would commit or
        reset them. Its sink writes at least once: it begins no transaction, and a producer with a transactional id
        refuses records outside of one.

    Example:
        kafka.transactional.id in the options of a sink, to make it exactly-once.

    Fix:
        Remove the option. Use startingOffsets for the position, and make the readers of a sink idempotent.

    Verify:
        eosctl config lint reports it no longer.
    """
    for client in case.deployment.of(Role.PRODUCER, Role.CONSUMER):
        if not client.recognized_by.startswith(SPARK):
            continue
        for name in _REFUSED[client.role]:
            value = client.value(name)
            if value.is_given:
                yield problem(
                    client,
                    (value,),
                    f"{value.key} is refused by Spark.",
                    impact="The query does not start (IllegalArgumentException).",
                    remedy=f"Remove {value.key}.",
                )
        identity = client.value("transactional.id")
        if client.role is Role.PRODUCER and identity.is_given:
            yield problem(
                client,
                (identity,),
                f"{identity.key} is given, but Spark's sink begins no transaction.",
                impact="Every write fails (IllegalStateException).",
                remedy=f"Remove {identity.key}; Spark's sink writes at least once.",
            )
