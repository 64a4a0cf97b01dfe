"""EOS-TOP-011."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import duration_text

LEAST_MS: Final = 900_000


@check(
    "EOS-TOP-011",
    "Compacted topic forgets deletions and markers within minutes",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPIC_CONFIGS}),
    tags=("compaction",),
    references=(
        "KAFKA-8522",
        "delete.retention.ms",
    ),
)
def deletions_forgotten_early(case: Case) -> Iterator[Problem]:
    """Find compacted topics whose slow readers miss deletions.

    What it checks:
        delete.retention.ms below fifteen minutes (the default of transaction.max.timeout.ms), where it was set, on
        topics whose cleanup.policy holds compact.

    Why it matters for exactly-once:
        The cleaner keeps tombstones and transaction markers for that long. A store that is restored while they go
        keeps what the application had deleted.

    Example:
        delete.retention.ms=100 on a changelog.

    Fix:
        Remove the setting (86,400,000 ms by default).

    Verify:
        eosctl check run EOS-TOP-011 passes.
    """
    for topic in case.snapshot.topics:
        policy, kept = topic.setting("cleanup.policy"), topic.setting("delete.retention.ms")
        kept_ms = number(kept)
        if (
            policy is None
            or "compact" not in (policy.value or "")
            or kept is None
            or kept.is_default
            or kept_ms is None
        ):
            continue
        if kept_ms < LEAST_MS:
            yield Problem(
                resource=Resource("topic", topic.name),
                message=f"{topic.name} keeps tombstones and markers for {duration_text(kept_ms)}.",
                impact="Readers that take longer miss deletions.",
                evidence=(Evidence("delete.retention.ms", f"{kept_ms} ({kept.source.value})", "DescribeConfigs"),),
                remedy=("Remove delete.retention.ms from the topic.",),
                commands=(
                    Command(
                        f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type topics "
                        f"--entity-name {quote(topic.name)} --delete-config delete.retention.ms"
                    ),
                ),
                verify=(Command(f"eosctl check run EOS-TOP-011 -b {case.bootstrap}"),),
                facts=(("topic", topic.name), ("delete_retention_ms", kept_ms)),
            )
