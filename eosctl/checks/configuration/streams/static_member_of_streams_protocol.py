"""EOS-CFG-104."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

NAMES: Final = ("group.instance.id", "consumer.group.instance.id", "main.consumer.group.instance.id")


@check(
    "EOS-CFG-104",
    "Static membership with the streams protocol",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.STREAMS,),
    reads=(
        "group.protocol",
        "group.instance.id",
    ),
    references=("KIP-1071",),
)
def static_member_of_streams_protocol(case: Case) -> Iterator[Problem]:
    """Find Streams applications that Kafka Streams refuses to start.

    What it checks:
        group.protocol=streams together with a group.instance.id, with or without the prefix of a consumer.

    Why it matters for exactly-once:
        The streams protocol has no static members: the application ends with a ConfigException.

    Example:
        An application with group.instance.id that is moved to group.protocol=streams.

    Fix:
        Remove group.instance.id, or keep group.protocol=classic.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        protocol = streams.value("group.protocol")
        instance = next((v for name in NAMES if (v := streams.value(name)).is_given), None)
        if streams.release < (4, 1) or instance is None or instance.word is None:
            continue
        if (protocol.word or "").lower() == "streams":
            yield problem(
                streams,
                (instance, protocol),
                f"{instance.key} is set, and the streams protocol has no static members.",
                impact="The application does not start.",
                remedy="Remove it, or set group.protocol=classic.",
            )
