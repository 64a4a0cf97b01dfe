"""EOS-CFG-121."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-121",
    "MirrorMaker filters by a name that is gone",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(
        Role.MIRROR_MAKER,
        Role.SOURCE_CONNECTOR,
    ),
    reads=(
        "topics.blacklist",
        "groups.blacklist",
    ),
    tags=("upgrade",),
    references=("KIP-629",),
)
def mirror_maker_filter_name_removed(case: Case) -> Iterator[Problem]:
    """Find MirrorMaker filters that no longer filter.

    What it checks:
        topics.blacklist, groups.blacklist and config.properties.blacklist, of MirrorMaker 2 and of its connectors.
        They were renamed in 2.7 and removed in 4.0.

    Why it matters for exactly-once:
        From 4.0 on they are ignored: internal and changelog topics that were left out are copied, and groups get
        offsets they should not have.

    Example:
        a->b.topics.blacklist=.*-changelog.

    Fix:
        Write topics.exclude, groups.exclude and config.properties.exclude.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR):
        if mirror.role is Role.SOURCE_CONNECTOR and "mirror" not in (mirror.word("connector.class") or "").lower():
            continue
        for name, value in mirror.given.items():
            if name.endswith((".blacklist", "topics.blacklist", "groups.blacklist")):
                gone = mirror.release >= (4, 0)
                yield problem(
                    mirror,
                    (value,),
                    f"{value.key} is {'gone since' if gone else 'deprecated and gone in'} 4.0.",
                    severity=None if gone else Severity.WARNING,
                    impact="Everything is copied that it left out." if gone else "",
                    remedy=f"Write {value.key.replace('blacklist', 'exclude')}.",
                )
