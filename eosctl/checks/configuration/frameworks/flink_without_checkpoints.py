"""EOS-CFG-118."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence
from eosctl.settings.frameworks.framework_forms import is_flink_cluster

_INTERVAL: Final = "execution.checkpointing.interval"


@check(
    "EOS-CFG-118",
    "Exactly-once Flink sink without exactly-once checkpoints",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.FLINK,),
    reads=(
        "execution.checkpointing.interval",
        "execution.checkpointing.mode",
        "sink.delivery-guarantee",
    ),
    references=("FLINK-31363",),
)
def flink_without_checkpoints(case: Case) -> Iterator[Problem]:
    """Find exactly-once sinks in jobs that take no checkpoints, or careless ones.

    What it checks:
        In configurations given together, one of them with sink.delivery-guarantee=exactly-once: an
        execution.checkpointing.interval of 0, or execution.checkpointing.mode=AT_LEAST_ONCE. Also no interval anywhere,
        where the sink is one of SQL, which has no program to set it, and the file of the cluster, or its
        FlinkDeployment, is given.

    Why it matters for exactly-once:
        A sink commits its transactions when a checkpoint is complete: without checkpoints nothing is ever committed.
        At-least-once checkpoints replay records that were already written.

    Example:
        execution.checkpointing.mode: AT_LEAST_ONCE in the cluster's configuration.

    Fix:
        Set an interval and execution.checkpointing.mode: EXACTLY_ONCE.

    Verify:
        eosctl config lint reports it no longer.
    """
    flinks = case.deployment.of(Role.FLINK)
    exact = [f for f in flinks if (f.word("sink.delivery-guarantee") or "").lower().replace("_", "-") == "exactly-once"]
    tables = [sink for sink in exact if _is_sql(sink)]
    clusters = [one for one in flinks if not _is_sql(one) and is_flink_cluster(one.given)]
    if tables and clusters and not any(flink.has(_INTERVAL) for flink in flinks):
        yield problem(
            tables[0],
            (tables[0].value("sink.delivery-guarantee"), next(iter(clusters[0].given.values()))),
            f"{_INTERVAL} is set neither here nor in {clusters[0].place.file}: no checkpoints are taken.",
            confidence=Confidence.LIKELY,
            impact="The sink commits with checkpoints: nothing is ever committed.",
            remedy=f"Set {_INTERVAL}, well below the transaction timeout.",
        )
    for flink in flinks if exact else ():
        interval, mode = flink.value("execution.checkpointing.interval"), flink.value("execution.checkpointing.mode")
        if interval.is_given and re.fullmatch(r"0+\s*[a-z]*", (interval.word or "").lower()):
            yield problem(
                flink,
                (interval,),
                "No checkpoints are taken, and the sink commits with checkpoints.",
                impact="Nothing is ever committed.",
                remedy="Set execution.checkpointing.interval.",
            )
        elif mode.is_given and (mode.word or "").upper().replace("-", "_") == "AT_LEAST_ONCE":
            yield problem(
                flink,
                (mode,),
                "Checkpoints are at-least-once, the sink is exactly-once.",
                impact="Records are written twice after a failure.",
                remedy="Set execution.checkpointing.mode: EXACTLY_ONCE.",
            )


def _is_sql(flink: Component) -> bool:
    return flink.place.file.lower().endswith(".sql")
