"""EOS-UPG-003."""

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

GONE: Final = (
    "inter.broker.protocol.version",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "offsets.commit.required.acks",
    "log.message.downconversion.enable",
)


@check(
    "EOS-UPG-003",
    "Settings that 4.0 no longer has",
    Area.UPGRADE,
    Severity.INFO,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    until=(3, 9),
    tags=("upgrade",),
    references=(
        "KIP-724",
        "KIP-1030",
    ),
)
def settings_gone_in_next_release(case: Case) -> Iterator[Problem]:
    """Find brokers of 3.x whose settings will be ignored after the upgrade.

    What it checks:
        inter.broker.protocol.version, log.message.format.version, log.message.timestamp.difference.max.ms,
        offsets.commit.required.acks, and log.message.downconversion.enable, if they are set.

    Why it matters for exactly-once:
        After the upgrade the default holds in silence: records more than an hour ahead are refused where
        difference.max.ms had allowed them, and abort their transactions.

    Example:
        inter.broker.protocol.version=3.5 left behind by the last upgrade.

    Fix:
        eosctl config upgrade --from-version 3.9 --to-version 4.0 server.properties shows what comes in their place.

    Verify:
        eosctl check run EOS-UPG-003 passes.
    """
    explicit = [one for name in GONE for one in broker_values(case.snapshot, name) if not one.setting.is_default]
    if explicit:
        names = list(dict.fromkeys(one.setting.name for one in explicit))
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{name_some('setting', names)} will be ignored by 4.0.",
            impact="After the upgrade the defaults hold.",
            evidence=tuple(one.evidence for one in explicit[:8]),
            remedy=("Decide before the upgrade what comes in their place.",),
            verify=(Command(f"eosctl check run EOS-UPG-003 -b {case.bootstrap}"),),
            facts=(("settings", ",".join(names)),),
        )
