"""EOS-CFG-060."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

_WITHOUT_PROMISE: Final = frozenset({"io.confluent.connect.jdbc.JdbcSourceConnector"})
"""Classes that do not implement ``SourceConnector.exactlyOnceSupport``: Connect takes that for no support."""


@check(
    "EOS-CFG-060",
    "Connector requires exactly-once, its worker does not offer it",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(
        Role.SOURCE_CONNECTOR,
        Role.CONNECT_WORKER,
    ),
    reads=("exactly.once.support", "exactly.once.source.support", "connector.class"),
    references=("KIP-618",),
)
def connector_requires_exactly_once(case: Case) -> Iterator[Problem]:
    """Find source connectors that their worker will refuse.

    What it checks:
        exactly.once.support=required of a source connector, against exactly.once.source.support=enabled of the
        workers given, and against the connector's class where that does not say whether it supports exactly-once
        (JdbcSourceConnector).

    Why it matters for exactly-once:
        The worker answers that it does not have exactly-once source support enabled, and the connector is not
        created.

    Example:
        A connector that was tested on a cluster with exactly-once, deployed to one without.

    Fix:
        Set exactly.once.source.support=preparing on every worker, then enabled in a second rolling restart. A connector
        whose class makes no promise runs with exactly.once.support=requested.

    Verify:
        eosctl config lint reports it no longer.
    """
    workers = case.deployment.of(Role.CONNECT_WORKER)
    for connector in case.deployment.of(Role.SOURCE_CONNECTOR):
        support = connector.value("exactly.once.support")
        if not support.is_given or (support.word or "").lower() != "required":
            continue
        name = connector.value("connector.class")
        if name.word in _WITHOUT_PROMISE:
            short = name.word.rpartition(".")[2]
            yield problem(
                connector,
                (support, name),
                f"{support.key} is required; {short} does not say that it supports exactly-once.",
                impact="The worker refuses to create the connector.",
                remedy="Set exactly.once.support=requested, and remove duplicates behind it.",
            )
        for worker in workers:
            offered = worker.value("exactly.once.source.support")
            if offered.word is not None and offered.word.lower() != "enabled":
                is_prepared = offered.word.lower() == "preparing"
                steps = "enabled, in another rolling restart" if is_prepared else "preparing first, then enabled"
                yield problem(
                    connector,
                    (support, offered),
                    f"{support.key} is required, the worker's exactly.once.source.support {offered.word}.",
                    impact="The worker refuses to create the connector.",
                    remedy=f"Enable exactly-once sources on the workers: {steps}.",
                )
                break
