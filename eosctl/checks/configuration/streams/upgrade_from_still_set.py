"""EOS-CFG-139."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-139",
    "upgrade.from is still set",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.STREAMS,),
    reads=("upgrade.from",),
    tags=("upgrade",),
    references=(
        "KIP-268",
        "KIP-441",
    ),
)
def upgrade_from_still_set(case: Case) -> Iterator[Problem]:
    """Find Streams applications that still speak the protocol of an older release.

    What it checks:
        upgrade.from written down.

    Why it matters for exactly-once:
        It is for the first roll of an upgrade. As long as it is set, instances use the metadata and the repartition
        topics of the older release, and the second roll is missing.

    Example:
        upgrade.from=2.3 in a configuration of 3.9.

    Fix:
        Remove it in a second rolling restart.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        old = streams.value("upgrade.from")
        if old.is_given and old.word:
            yield problem(
                streams,
                (old,),
                f"upgrade.from is {old.word}.",
                impact="The upgrade is not finished.",
                remedy="Remove it in a second rolling restart, when all instances run the new release.",
            )
