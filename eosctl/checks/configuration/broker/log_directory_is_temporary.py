"""EOS-CFG-133."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

TEMPORARY: Final = ("/tmp/", "/var/tmp/", "/dev/shm/")


@check(
    "EOS-CFG-133",
    "Broker keeps its logs in a temporary directory",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.BROKER,),
    reads=(
        "log.dirs",
        "log.dir",
    ),
    references=("KIP-112",),
)
def log_directory_is_temporary(case: Case) -> Iterator[Problem]:
    """Find brokers whose data a clean-up of the machine deletes.

    What it checks:
        log.dirs or log.dir below /tmp, /var/tmp or /dev/shm, written down. It is also Kafka's default and that of its
        sample file: information.

    Why it matters for exactly-once:
        Machines empty these directories at a restart or by age: a replica comes back without data and, as the only
        one in sync, takes committed records with it.

    Example:
        log.dirs=/tmp/kraft-combined-logs from the sample configuration.

    Fix:
        Use a volume of its own.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        for name in ("log.dirs", "log.dir"):
            folders = broker.value(name)
            if folders.is_given and any(one.strip().startswith(TEMPORARY) for one in (folders.word or "").split(",")):
                yield problem(
                    broker,
                    (folders,),
                    f"{name} is {folders.word}.",
                    impact="A clean-up of the machine deletes the replicas.",
                    remedy="Put the logs on a volume of their own.",
                )
