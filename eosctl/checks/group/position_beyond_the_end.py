"""EOS-GRP-004."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-GRP-004",
    "Group's position lies beyond the end of its partition",
    Area.GROUP,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.GROUP_OFFSETS, EvidenceKind.OFFSETS}),
    tags=(
        "offsets",
        "truncation",
    ),
    references=(
        "KIP-320",
        "unclean.leader.election.enable",
    ),
)
def position_beyond_the_end(case: Case) -> Iterator[Problem]:
    """Find groups without members that have read what the log no longer holds.

    What it checks:
        Committed offsets above the high watermark of their partition, for groups without members (others may have
        committed after the partition was asked).

    Why it matters for exactly-once:
        The log was cut: by an unclean election, by a broker that came back empty, or because the topic was made anew.
        What the group processed is no longer there, and new records are skipped until their offsets reach the old
        position.

    Example:
        A topic was deleted and created again while its consumer was stopped.

    Fix:
        Find out why the log was cut, then reset the group's offsets.

    Verify:
        eosctl check run EOS-GRP-004 passes.
    """
    for group in case.snapshot.groups:
        if group.state not in ("Empty", "Dead"):
            continue
        beyond = []
        for committed in group.offsets:
            info = case.snapshot.partition(committed.partition)
            end = info.high_watermark if info is not None else None
            if end is not None and committed.offset is not None and committed.offset > end:
                beyond.append((str(committed.partition), committed.offset, end))
        if beyond:
            yield Problem(
                resource=Resource("group", group.group_id),
                message=f"{group.group_id} stands beyond the end of {name_some('partition', [b[0] for b in beyond])}.",
                confidence=Confidence.LIKELY,
                cause="The log was cut, or the topic was made anew.",
                impact="New records are skipped, or the group starts from auto.offset.reset.",
                evidence=tuple(
                    Evidence(name, f"committed {at:,}, end {end:,}", "OffsetFetch") for name, at, end in beyond[:8]
                ),
                remedy=("Find out why the log was cut, then reset the group's offsets.",),
                verify=(Command(f"eosctl check run EOS-GRP-004 -b {case.bootstrap}"),),
                facts=(("group", group.group_id), ("partitions", ",".join(name for name, _, _ in beyond))),
            )
