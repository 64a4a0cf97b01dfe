"""EOS-CFG-050."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

NEEDING: Final = frozenset({"exactly_once_v2", "exactly_once_beta"})
FIRST: Final = (2, 5)


@check(
    "EOS-CFG-050",
    "Brokers are too old for the processing guarantee",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.STREAMS,),
    reads=("processing.guarantee",),
    references=("KIP-447",),
)
def brokers_too_old_for_guarantee(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications whose brokers cannot serve exactly_once_v2.

    What it checks:
        processing.guarantee=exactly_once_v2 or exactly_once_beta with brokers before 2.5, by the release of their
        image or resource, or of a running cluster.

    Why it matters for exactly-once:
        These modes fence by the group's metadata (TxnOffsetCommit 3) and read stable offsets only (OffsetFetch 7),
        both of 2.5. Kafka Streams ends with an UnsupportedVersionException.

    Example:
        An application that was moved to exactly_once_v2 before its brokers left 2.4.

    Fix:
        Upgrade the brokers to 2.5 or later first.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = [one for one in case.deployment.of(Role.BROKER) if one.release_named and one.release < FIRST]
    for streams in case.deployment.of(Role.STREAMS) if brokers else ():
        guarantee = streams.value("processing.guarantee")
        for broker in brokers:
            if guarantee.word in NEEDING:
                yield problem(
                    streams,
                    (guarantee,),
                    f"{guarantee.word} needs brokers of 2.5; {broker.name} is {broker.release[0]}.{broker.release[1]}.",
                    impact="The application ends with an UnsupportedVersionException.",
                    remedy="Upgrade the brokers first.",
                )
