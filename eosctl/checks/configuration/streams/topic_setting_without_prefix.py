"""EOS-CFG-101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

NAMES: Final = (
    "min.insync.replicas",
    "cleanup.policy",
    "segment.bytes",
    "retention.ms",
    "unclean.leader.election.enable",
    "max.message.bytes",
)


@check(
    "EOS-CFG-101",
    "Topic setting of a Streams application lacks its prefix",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(
        "min.insync.replicas",
        "cleanup.policy",
        "segment.bytes",
    ),
    references=("KIP-173",),
)
def topic_setting_without_prefix(case: Case) -> Iterator[Problem]:
    """Find topic settings in Streams applications that reach no topic.

    What it checks:
        min.insync.replicas, cleanup.policy, segment.bytes, retention.ms, unclean.leader.election.enable and
        max.message.bytes without the prefix topic.

    Why it matters for exactly-once:
        Kafka Streams gives internal topics only what has the prefix. The changelog that should wait for two replicas
        waits for one.

    Example:
        min.insync.replicas=2 in streams.properties.

    Fix:
        Write topic.min.insync.replicas.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        for name in NAMES:
            setting = streams.value(name)
            if setting.is_given and not streams.has(f"topic.{name}"):
                yield problem(
                    streams,
                    (setting,),
                    f"{name} is not a setting of Kafka Streams; topic.{name} is.",
                    impact="Changelogs and repartition topics keep the brokers' value.",
                    remedy=f"Write topic.{name}.",
                )
