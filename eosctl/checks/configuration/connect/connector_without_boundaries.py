"""EOS-CFG-061."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

KAFKAS_OWN: Final = ("org.apache.kafka.connect.mirror.", "org.apache.kafka.connect.file.")


@check(
    "EOS-CFG-061",
    "Connector cannot define transaction boundaries",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.SOURCE_CONNECTOR,),
    reads=(
        "transaction.boundary",
        "connector.class",
    ),
    references=("KIP-618",),
)
def connector_without_boundaries(case: Case) -> Iterator[Problem]:
    """Find transaction.boundary=connector on connectors that do not offer it.

    What it checks:
        transaction.boundary=connector with a class of Kafka's own connectors, which do not define boundaries. With
        any other class the finding is information, because only the class knows whether it defines them.

    Why it matters for exactly-once:
        Connect refuses the configuration: the connector does not support connector-defined transaction boundaries.

    Example:
        MirrorSourceConnector with transaction.boundary=connector.

    Fix:
        Use poll (the default) or interval.

    Verify:
        eosctl config lint reports it no longer.
    """
    for connector in case.deployment.of(Role.SOURCE_CONNECTOR):
        boundary, name = connector.value("transaction.boundary"), connector.value("connector.class")
        if (boundary.word or "").lower() != "connector" or name.word is None:
            continue
        own = name.word.startswith(KAFKAS_OWN)
        yield problem(
            connector,
            (boundary, name),
            f"transaction.boundary is connector; {name.word} "
            + ("does not define boundaries." if own else "must define them itself."),
            severity=None if own else Severity.INFO,
            confidence=Confidence.CERTAIN if own else Confidence.POSSIBLE,
            impact="Connect refuses the connector." if own else "Connect refuses the connector if it does not.",
            remedy="Set transaction.boundary=poll or interval.",
        )
