"""EOS-BRK-008."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import name_some

SETTING: Final = "log.cleaner.enable"


@check(
    "EOS-BRK-008",
    "Brokers do not compact",
    Area.BROKER,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("compaction",),
    references=(
        "KIP-1030",
        "log.cleaner.enable",
    ),
)
def log_cleaner_disabled(case: Case) -> Iterator[Problem]:
    """Find brokers whose log cleaner is switched off.

    What it checks:
        log.cleaner.enable=false, as brokers report it.

    Why it matters for exactly-once:
        The transaction log, committed offsets and changelogs grow for ever; a coordinator that moves reads all of it
        before it answers.

    Example:
        log.cleaner.enable=false, from a release in which it was the default.

    Fix:
        Remove log.cleaner.enable and restart the broker.

    Verify:
        eosctl check run EOS-BRK-008 passes.
    """
    stopped = [
        one for one in broker_values(case.snapshot, SETTING) if (one.setting.value or "").strip().lower() == "false"
    ]
    if stopped:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{SETTING} is false on {name_some('broker', [str(one.broker_id) for one in stopped])}.",
            impact="Internal topics and changelogs are never compacted there.",
            evidence=tuple(one.evidence for one in stopped[:8]),
            remedy=(f"Remove {SETTING} and restart the broker.",),
            verify=(Command(f"eosctl check run EOS-BRK-008 -b {case.bootstrap}"),),
            facts=(("setting", SETTING), ("brokers", ",".join(str(one.broker_id) for one in stopped))),
        )
