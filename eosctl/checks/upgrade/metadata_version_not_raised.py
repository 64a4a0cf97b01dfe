"""EOS-UPG-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.knowledge.releases import release_of_metadata_version
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import release_text


@check(
    "EOS-UPG-001",
    "Metadata version is behind the brokers",
    Area.UPGRADE,
    Severity.INFO,
    needs=frozenset({EvidenceKind.FEATURES}),
    since=(3, 3),
    tags=("upgrade",),
    references=(
        "KIP-584",
        "KIP-1022",
    ),
)
def metadata_version_not_raised(case: Case) -> Iterator[Problem]:
    """Find clusters whose upgrade was never finalized.

    What it checks:
        The finalized metadata.version against what every broker supports.

    Why it matters for exactly-once:
        Protections of newer levels stay off. transaction.version=2 comes with the level of 4.0 (brokers of 4.x also
        accept it by itself at an older one); eligible.leader.replicas.version=1 does need it. As long as the level is
        not raised one can still go back.

    Example:
        Brokers of 4.1 at the metadata version of 3.9, months after the upgrade.

    Fix:
        kafka-features.sh upgrade --release-version (3.x: --metadata), when the upgrade is settled. It cannot always be
        lowered again.

    Verify:
        eosctl check run EOS-UPG-001 passes.
    """
    feature = case.snapshot.feature("metadata.version")
    if feature is not None and feature.finalized is not None and feature.finalized < feature.max_supported:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"metadata.version is finalized at {feature.finalized}; brokers support {feature.max_supported}.",
            impact="What newer versions protect stays off.",
            evidence=(Evidence("supported", f"{feature.min_supported} to {feature.max_supported}", "ApiVersions"),),
            remedy=("Raise it when the upgrade is settled.",),
            commands=_raise(feature.max_supported, case.bootstrap),
            verify=(Command(f"eosctl check run EOS-UPG-001 -b {case.bootstrap}"),),
            facts=(("finalized", feature.finalized), ("supported", feature.max_supported)),
        )


def _raise(level: int, bootstrap: str) -> tuple[Command, ...]:
    """Return the command that raises the level; none for a level of a release that is not known."""
    release = release_of_metadata_version(level)
    if release is None:
        return ()
    # The tool of 3.x has no --release-version.
    option = "--metadata" if release < (4, 0) else "--release-version"
    line = f"kafka-features.sh --bootstrap-server {bootstrap} upgrade {option} {release_text(release)}"
    return (Command(line, f"metadata.version {level}"),)
