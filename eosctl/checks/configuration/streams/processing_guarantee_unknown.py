"""EOS-CFG-051."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

OLD: Final = frozenset({"exactly_once", "exactly_once_beta"})
SINCE: Final = {
    "at_least_once": (0, 11),
    "exactly_once": (0, 11),
    "exactly_once_beta": (2, 6),
    "exactly_once_v2": (3, 0),
}
GONE: Final = (4, 0)
NEVER: Final = (99, 0)
_EARLIER: Final = "exactly_once, or upgrade Kafka Streams to 3.0 or later"


@check(
    "EOS-CFG-051",
    "Processing guarantee unknown to this release",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.STREAMS,),
    reads=("processing.guarantee",),
    references=("KIP-732", "KIP-447"),
)
def processing_guarantee_unknown(case: Case) -> Iterator[Problem]:
    """Find Streams applications whose processing guarantee was removed, deprecated or misspelled.

    What it checks:
        processing.guarantee against the values of the release: exactly_once_beta came with 2.6, exactly_once_v2 with
        3.0; exactly_once and exactly_once_beta are deprecated since 3.0 and were removed in 4.0.

    Why it matters for exactly-once:
        An unknown value is a ConfigException at start-up. The old exactly_once uses a producer per task, and its
        ids must be left in a rolling upgrade on 3.x, before 4.0.

    Example:
        processing.guarantee=exactly_once in an application that is upgraded to 4.0.

    Fix:
        Set exactly_once_v2 (brokers 2.5 and later). From exactly_once: first upgrade, then change the setting in a
        second rolling restart.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        guarantee = streams.value("processing.guarantee")
        if not guarantee.is_given or guarantee.word is None:
            continue
        word, release = guarantee.word, f"{streams.release[0]}.{streams.release[1]}"
        if word in OLD and (3, 0) <= streams.release < (4, 0):
            yield problem(
                streams,
                (guarantee,),
                f"processing.guarantee={word} is deprecated in Kafka {release} and gone in 4.0.",
                severity=Severity.WARNING,
                remedy="Change to exactly_once_v2 in a rolling restart of its own, before the upgrade to 4.0.",
            )
        elif not (SINCE.get(word, NEVER) <= streams.release < (GONE if word in OLD else NEVER)):
            yield problem(
                streams,
                (guarantee,),
                f"processing.guarantee={word} is not known to Kafka Streams {release}.",
                impact="The application does not start (ConfigException).",
                remedy=f"Set processing.guarantee={'exactly_once_v2' if streams.release >= (3, 0) else _EARLIER}.",
            )
