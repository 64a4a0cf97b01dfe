"""EOS-CFG-093."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-093",
    "Connector drops records that fail",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.SINK_CONNECTOR,
        Role.SOURCE_CONNECTOR,
    ),
    reads=("errors.tolerance", "errors.deadletterqueue.topic.name", "exactly.once.support"),
    references=("KIP-298",),
)
def connector_swallows_errors(case: Case) -> Iterator[Problem]:
    """Find connectors that skip records without keeping them.

    What it checks:
        errors.tolerance=all in a sink without errors.deadletterqueue.topic.name, and in a source that requires
        exactly-once.

    Why it matters for exactly-once:
        Records that cannot be converted are dropped, and their offsets are committed: neither exactly once nor at
        least once.

    Example:
        errors.tolerance=all, set to get a failing connector running.

    Fix:
        Set errors.tolerance=none, or name a dead letter queue. The queue is written outside of any transaction.

    Verify:
        eosctl config lint reports it no longer.
    """
    for connector in case.deployment.of(Role.SINK_CONNECTOR, Role.SOURCE_CONNECTOR):
        tolerance = connector.value("errors.tolerance")
        if not tolerance.is_given or (tolerance.word or "").lower() != "all":
            continue
        is_sink = connector.role is Role.SINK_CONNECTOR
        queue = connector.value("errors.deadletterqueue.topic.name")
        required = (connector.word("exactly.once.support") or "").lower() == "required"
        if (is_sink and not (queue.is_given and queue.text)) or (not is_sink and required):
            yield problem(
                connector,
                (tolerance,),
                f"errors.tolerance is all{' without dead letter queue' if is_sink else ' in an exactly-once source'}.",
                impact="Records that fail are dropped, and their offsets committed.",
                remedy="Set errors.tolerance=none" + (", or errors.deadletterqueue.topic.name." if is_sink else "."),
            )
