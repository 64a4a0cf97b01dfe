"""What a way back to an earlier release needs of a cluster's features (``protocol.json``).

Run on real brokers (4.2.2 to 4.1.2 and 4.0.2, 3.9.2 to 3.8.1 and 3.7.2): a node of the earlier release starts only when
the records of the later level are behind a snapshot.
"""

from __future__ import annotations

from typing import Final

from eosctl.knowledge.protocol import MetadataVersion, load_protocol
from eosctl.model.parameter import Release
from eosctl.model.upgrade import Step
from eosctl.text import release_text

METADATA_VERSION: Final = "metadata.version"
READS_NO_BOOTSTRAP: Final = (4, 0)
"""The first release whose nodes start without reading the levels that the storage was formatted with."""
_NOT_LOWERED: Final = (METADATA_VERSION, "kraft.version")
_ROLE: Final = "broker"


def feature_limits(before: Release, after: Release) -> tuple[Step, ...]:
    """Return what the features of a cluster allow on the way back, and how to lower them."""
    features = load_protocol().features
    now, then = release_text(before), release_text(after)
    levels = features[METADATA_VERSION]
    if now not in levels or then not in levels:
        return _steps(
            before,
            f"With ZooKeeper, go back to {then} only while inter.broker.protocol.version is at most {then}: it is "
            "never lowered again.",
            f"With KRaft there is no way back to {then}: metadata.version begins with 3.3.",
        )
    known = {version.level: version for version in load_protocol().metadata_versions}
    highest, target = levels[now].highest, known[levels[then].highest]
    kept = f"While metadata.version is at most {target.name}, restart the nodes one after the other with {then}."
    later = [known[level] for level in sorted(known) if target.level < level <= highest]
    barrier = next((version for version in later if version.changes_metadata), None)
    if barrier is not None:
        return _steps(before, kept, _barrier_text(barrier, then))
    if not later:
        return _steps(before, f"Both releases have metadata.version {target.name}: restart the nodes one by one.")
    lowered = "".join(
        f" --feature {name}={limit}"
        for name, ranges in features.items()
        if name not in _NOT_LOWERED and now in ranges
        if (limit := ranges[then].highest if then in ranges else 0) < ranges[now].highest
    )
    lower = (
        "Else lower it first: kafka-features.sh --bootstrap-server HOST:PORT downgrade "
        f"--metadata {target.name}{lowered}. Kafka refuses --release-version here where kraft.version is 0."
    )
    wait = (
        "Then wait until every node has written a snapshot of the metadata (metadata.log.max.snapshot.interval.ms, one "
        f'hour by default): a node of {then} stops with "No MetadataVersion with feature level" without it.'
    )
    if after >= READS_NO_BOOTSTRAP:
        return _steps(before, kept, lower, wait)
    return _steps(before, kept, lower, wait, _bootstrap_text(then))


def _bootstrap_text(release: str) -> str:
    return (
        f"A node of {release} does not start where bootstrap.checkpoint in its metadata directory has a later "
        "metadata.version than it knows: the cluster was formatted with a later release then, and cannot go back."
    )


def _barrier_text(barrier: MetadataVersion, release: str) -> str:
    return (
        f"Once metadata.version has reached {barrier.name}, there is no way back to {release}: Kafka refuses to lower "
        "it, as metadata would be lost."
    )


def _steps(before: Release, *texts: str) -> tuple[Step, ...]:
    return tuple(Step(_ROLE, before, text) for text in texts)
