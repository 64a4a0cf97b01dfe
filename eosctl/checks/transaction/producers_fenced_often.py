"""EOS-TXN-013."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Measured, Series, measured, shown
from eosctl.findings.finding import Command
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence

ERRORS: Final = Series("kafka_network_RequestMetrics_OneMinuteRate", "ErrorsPerSec")
FENCED: Final = frozenset({"PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})
OFTEN_PER_S: Final = 0.2


@check(
    "EOS-TXN-013",
    "Producers are fenced again and again",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=NEEDS,
    tags=("transactions", "fencing", "metrics"),
    references=(
        "KIP-98",
        "KIP-360",
        "transactional.id",
    ),
    applies=shown(ERRORS),
)
def producers_fenced_often(case: Case) -> Iterator[Problem]:
    """Find brokers that answer one request in five seconds, or more, with a fencing error.

    What it checks:
        ErrorsPerSec of each broker in its last minute, for PRODUCER_FENCED and INVALID_PRODUCER_EPOCH together.

    Why it matters for exactly-once:
        A fenced producer has lost its transaction. If this continues, two instances share a transactional
        id and abort each other's work, or transactions reach their timeout.

    Example:
        Two pods of a deployment take the same transactional.id from an environment variable.

    Fix:
        Find out who fences whom (eosctl fencing explain), and give each instance an id of its own.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-TXN-013 passes.
    """
    rates: dict[str, list[Measured]] = {}
    for one in measured(case, ERRORS):
        if one.labels.get("error") in FENCED and one.value > 0:
            rates.setdefault(one.source, []).append(one)
    for source, found in rates.items():
        rate = sum(one.value for one in found)
        if rate <= OFTEN_PER_S:
            continue
        yield Problem(
            resource=found[0].resource,
            message=f"{source} fences {rate:.3g} requests a second (the last minute's average).",
            impact="Fenced producers lose their transactions; two that share an id abort each other's.",
            evidence=tuple(
                Evidence(f"{one.labels.get('request', '')} {one.labels.get('error', '')}", f"{one.value:.3g}/s", source)
                for one in sorted(found, key=lambda one: -one.value)[:4]
            ),
            remedy=("Find out who fences whom, and give each instance a transactional.id of its own.",),
            commands=(Command(f"eosctl timeline -b {case.bootstrap}", "which instance took over which id"),),
            verify=(found[0].verify,),
            incident="fencing",
            facts=(("fenced_per_1000_s", round(rate * 1000)),),
        )
