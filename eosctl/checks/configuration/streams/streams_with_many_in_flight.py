"""EOS-CFG-014."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import is_transactional
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-014",
    "Exactly-once Streams application with more than five requests in flight",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=("max.in.flight.requests.per.connection", "producer.max.in.flight.requests.per.connection"),
    references=("KIP-129",),
)
def streams_with_many_in_flight(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications that Streams refuses for their requests in flight.

    What it checks:
        max.in.flight.requests.per.connection above 5, with or without the prefix producer., under an exactly-once
        guarantee.

    Why it matters for exactly-once:
        Streams throws a ConfigException at start-up.

    Example:
        producer.max.in.flight.requests.per.connection=10.

    Fix:
        Remove the setting, or set it to 5 or less.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        flying = producer.value("max.in.flight.requests.per.connection")
        if producer.inside is not Role.STREAMS or not is_transactional(producer) or not flying.is_given:
            continue
        if flying.number is not None and flying.number > 5:
            yield problem(
                producer,
                (flying,),
                f"{flying.key} is {flying.number}; exactly-once allows 5.",
                impact="The application does not start (ConfigException).",
                remedy=f"Remove {flying.key}, or set it to 5 or less.",
            )
