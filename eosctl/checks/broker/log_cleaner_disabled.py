"""EOS-BRK-008."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import told
from eosctl.checks.wording import name_some
from eosctl.model.evidence import EvidenceKind
from eosctl.model.finding import Command, Resource
from eosctl.model.severity import Severity


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
        "log.cleaner.threads",
    ),
)
def log_cleaner_disabled(case: Case) -> Iterator[Problem]:
    """Find brokers whose log cleaner is switched off.

    What it checks:
        log.cleaner.enable=false or log.cleaner.threads=0, as brokers report them.

    Why it matters for exactly-once:
        The transaction log, committed offsets and changelogs grow for ever; a coordinator that moves reads all of it
        before it answers.

    Example:
        log.cleaner.threads was set to 0 dynamically in an incident.

    Fix:
        Set log.cleaner.threads=1 or more (dynamic), or remove log.cleaner.enable=false (restart).

    Verify:
        eosctl check run EOS-BRK-008 passes.

    References:
        KIP-1030; log.cleaner.enable; log.cleaner.threads.
    """
    for name, off in (("log.cleaner.enable", "false"), ("log.cleaner.threads", "0")):
        stopped = [one for one in told(case.snapshot, name) if (one.setting.value or "").strip().lower() == off]
        if stopped:
            yield Problem(
                resource=Resource("cluster", case.snapshot.cluster_id),
                message=f"{name} is {off} on {name_some('broker', [str(one.broker_id) for one in stopped])}.",
                impact="Internal topics and changelogs are never compacted there.",
                evidence=tuple(one.evidence for one in stopped[:8]),
                remedy=(f"Set {name} back to its default.",),
                verify=(Command(f"eosctl check run EOS-BRK-008 -b {case.bootstrap}"),),
                incident=name,
                facts=(("setting", name), ("brokers", ",".join(str(one.broker_id) for one in stopped))),
            )
