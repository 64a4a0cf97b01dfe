"""EOS-CFG-180."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

_NAME: Final = "transaction.version"
_LEVEL: Final = 2
"""The level at which each transaction ends with a new epoch (TransactionVersion.TV_2)."""


@check(
    "EOS-CFG-180",
    "Command keeps the older transaction protocol",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=(_NAME,),
    tags=("upgrade",),
    references=("KIP-890", "KIP-1022"),
)
def transaction_version_held_back(case: Case) -> Iterator[Problem]:
    """Find commands that format a cluster, or set its features, with an older transaction protocol.

    What it checks:
        --feature transaction.version=0 or 1 of kafka-storage.sh format and of kafka-features.sh in scripts.

    Why it matters for exactly-once:
        Only level 2 ends each transaction with a new producer epoch. Below it a late request of an ended transaction
        can be appended outside of any transaction: it hangs, and readers of committed data stop there.

    Example:
        kafka-storage.sh format --feature transaction.version=0 in the script that prepares a new broker's disk.

    Fix:
        Leave the option out: the level follows from the release. Raise it on a running cluster with kafka-features.sh
        upgrade --feature transaction.version=2.

    Verify:
        kafka-features.sh describe shows transaction.version at 2.
    """
    for broker in case.deployment.of(Role.BROKER):
        level = broker.value(_NAME)
        if level.is_given and level.number is not None and level.number < _LEVEL:
            yield problem(
                broker,
                (level,),
                f"{_NAME} is set to {level.number}; {_LEVEL} ends each transaction with a new epoch.",
                impact="A late request of an ended transaction can hang on its partition.",
                remedy=f"Leave out {_NAME}, or set it to {_LEVEL}.",
                commands=(
                    Command(f"kafka-features.sh --bootstrap-server HOST:9092 upgrade --feature {_NAME}={_LEVEL}"),
                ),
            )
