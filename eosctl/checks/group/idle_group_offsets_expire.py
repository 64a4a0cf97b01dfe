"""EOS-GRP-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import duration_text, name_some

KAFKAS_MINUTES: Final = 10_080


@check(
    "EOS-GRP-002",
    "Offsets of idle groups expire early",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.BROKER_CONFIGS}),
    tags=(
        "offsets",
        "retention",
    ),
    references=(
        "KIP-186",
        "offsets.retention.minutes",
    ),
)
def idle_group_offsets_expire(case: Case) -> Iterator[Problem]:
    """Find groups without members on brokers that forget their offsets sooner than Kafka does by default.

    What it checks:
        Groups in state Empty with committed offsets, where a broker's offsets.retention.minutes is below seven days
        (10,080).

    Why it matters for exactly-once:
        The time counts from the moment the group became empty. Afterwards it starts from auto.offset.reset:
        everything again, or nothing of what came meanwhile.

    Example:
        offsets.retention.minutes=1440 and an application that is stopped over a long weekend.

    Fix:
        Raise offsets.retention.minutes above the longest standstill; it needs a restart of the brokers.

    Verify:
        eosctl check run EOS-GRP-002 passes.
    """
    short = [one for one in broker_values(case.snapshot, "offsets.retention.minutes") if _is_short(number(one.setting))]
    idle = [
        g.group_id for g in case.snapshot.groups if g.state == "Empty" and any(o.offset is not None for o in g.offsets)
    ]
    if short and idle:
        minutes = min(number(one.setting) or 0 for one in short)
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"Offsets expire after {duration_text(minutes * 60_000)}; {name_some('group', idle)} idle.",
            impact="An idle group starts from auto.offset.reset when its offsets are gone.",
            evidence=tuple(one.evidence for one in short),
            remedy=("Raise offsets.retention.minutes to 10080 or more.",),
            verify=(Command(f"eosctl check run EOS-GRP-002 -b {case.bootstrap}"),),
            facts=(("offsets_retention_minutes", minutes), ("groups", ",".join(idle))),
        )


def _is_short(minutes: int | None) -> bool:
    return minutes is not None and minutes < KAFKAS_MINUTES
