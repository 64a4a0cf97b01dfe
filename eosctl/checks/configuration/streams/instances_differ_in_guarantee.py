"""EOS-CFG-052."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.topics import topics_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity

EXACTLY_ONCE: Final = frozenset({"exactly_once", "exactly_once_beta", "exactly_once_v2"})


@check(
    "EOS-CFG-052",
    "Instances with one application.id differ",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=(
        "processing.guarantee",
        "application.id",
    ),
    references=(
        "KIP-447",
        "KIP-732",
    ),
)
def instances_differ_in_guarantee(case: Case) -> Iterator[Problem]:
    """Find Streams applications whose instances run in different modes, or are those of two applications.

    What it checks:
        processing.guarantee of configurations with the same application.id, after defaults. exactly_once together
        with exactly_once_v2 or exactly_once_beta occurs during the second roll of a migration and is a warning. Also
        inputs of configurations with the same application.id and the same brokers that have no topic in common.

    Why it matters for exactly-once:
        An instance without exactly-once writes outside of transactions and is never fenced. Between the two
        exactly-once modes fencing holds only when every instance runs 2.6 or later before the first one is switched.
        Two applications with one id are one group: each gets tasks, changelogs, and offsets of the other.

    Example:
        One of three property files still says at_least_once.

    Fix:
        Use one mode everywhere. From exactly_once: upgrade in one roll, switch the mode in a second one. Give each
        application an application.id of its own.

    Verify:
        eosctl config lint reports it no longer.
    """
    first: dict[str, tuple[Component, Value]] = {}
    for streams in case.deployment.of(Role.STREAMS):
        guarantee, name = streams.value("processing.guarantee"), streams.word("application.id")
        if guarantee.word is None or not name:
            continue
        _, other = first.setdefault(name, (streams, guarantee))
        if other.word != guarantee.word:
            both = {other.word, guarantee.word} <= EXACTLY_ONCE
            yield problem(
                streams,
                (guarantee, other) if guarantee.is_given else (other, guarantee),
                f"Instances of {name} run with {guarantee.word} and with {other.word}.",
                severity=Severity.WARNING if both else None,
                impact="One instance does not fence the other: records are processed twice.",
                remedy="Use one processing.guarantee for all instances.",
            )
    yield from _two_applications(case)


def _two_applications(case: Case) -> Iterator[Problem]:
    """Yield the applications that have the id of another one, which reads other topics of the same brokers."""
    first: dict[tuple[str, str], tuple[Component, frozenset[str]]] = {}
    for streams in case.deployment.of(Role.STREAMS):
        name, brokers = streams.value("application.id"), streams.word("bootstrap.servers")
        readers = case.deployment.same_application(streams, Role.CONSUMER)
        read = frozenset[str]().union(*(topics_of(case.deployment, one).own for one in readers))
        if not name.word or not brokers or not read or streams.environment:
            continue
        other, others = first.setdefault((name.word, brokers), (streams, read))
        if read.isdisjoint(others):
            inputs, own = ", ".join(sorted(others)), ", ".join(sorted(read))
            place = other.value("application.id").place
            yield problem(
                streams,
                (name, other.value("application.id")),
                f"{name.key}={name.word} is that of {place}, which reads {inputs}, not {own}.",
                impact="Both are one group: each gets tasks and offsets of the other, and fails on them.",
                remedy="Give each application an application.id of its own.",
            )
