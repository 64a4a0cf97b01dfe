"""EOS-CFG-053."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.text import release_text

FIRST: Final = (4, 0)


@check(
    "EOS-CFG-053",
    "Metadata version keeps the transaction protocol of an older release",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("metadata.version",),
    tags=("upgrade",),
    references=(
        "KIP-890",
        "KIP-1022",
    ),
)
def metadata_version_behind(case: Case) -> Iterator[Problem]:
    """Find brokers of 4.x whose features are held at 3.x.

    What it checks:
        metadataVersion of a Strimzi resource below 4.0 where the brokers are 4.0 or later.

    Why it matters for exactly-once:
        transaction.version=2 comes with the level of 4.0. A cluster held below it stays at the version of the older
        level, unless that feature was raised by itself, which brokers of 4.x accept at any level (TransactionVersion
        has no dependencies). Below 2 no transaction ends with a new epoch, and a late request can still leave a
        hanging transaction.

    Example:
        version: 4.1.0 with metadataVersion: 3.9-IV0 months after the upgrade.

    Fix:
        When the upgrade is settled, raise metadataVersion, and transaction.version to 2 if it is not.

    Verify:
        kafka-features.sh describe shows transaction.version at 2.
    """
    for broker in case.deployment.of(Role.BROKER):
        level = broker.value("metadata.version")
        match = re.match(r"(\d+)\.(\d+)", level.word or "")
        if not broker.release_named or broker.release < FIRST or not level.is_given or match is None:
            continue
        if (int(match[1]), int(match[2])) < FIRST:
            yield problem(
                broker,
                (level,),
                f"The brokers are {release_text(broker.release)}, their features are held at {level.word}.",
                impact="transaction.version is below 2 unless it was raised by itself; verification alone is left.",
                remedy="Finalize the upgrade: raise the metadata version, and transaction.version if it is below 2.",
                commands=(Command("kafka-features.sh --bootstrap-server HOST:9092 upgrade --release-version 4.0"),),
            )
