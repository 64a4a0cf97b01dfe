"""EOS-CFG-098."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.flink_jobs import CDC


@check(
    "EOS-CFG-098",
    "Exactly-once Flink sink without a prefix for its transactional ids",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.FLINK,),
    reads=("sink.delivery-guarantee", "sink.transactional-id-prefix"),
)
def flink_without_id_prefix(case: Case) -> Iterator[Problem]:
    """Find exactly-once Flink sinks that do not say how their transactional ids begin.

    What it checks:
        sink.transactional-id-prefix where sink.delivery-guarantee is exactly-once, in SQL tables and flat options.

    Why it matters for exactly-once:
        The connector refuses the sink. A shared or changing prefix would leave open transactions behind that
        are never fenced.

    Example:
        A CREATE TABLE with 'sink.delivery-guarantee' = 'exactly-once' alone.

    Fix:
        Set a prefix that is unique to the job and stays the same over restarts.

    Verify:
        eosctl config lint reports it no longer.
    """
    for sink in case.deployment.of(Role.FLINK):
        guarantee, prefix = sink.value("sink.delivery-guarantee"), sink.value("sink.transactional-id-prefix")
        if (guarantee.word or "").lower() == "exactly-once" and not prefix.text:
            yield problem(
                sink,
                (guarantee,),
                "sink.transactional-id-prefix is not set.",
                impact="The job is refused.",
                remedy="Remove sink.delivery-guarantee: Flink CDC has no prefix, and writes at least once."
                if CDC in sink.recognized_by
                else "Set sink.transactional-id-prefix to a name that only this job uses.",
            )
