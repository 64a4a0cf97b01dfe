"""EOS-CFG-133."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.settings.platforms.pod_storage import EPHEMERAL, STORAGE_TYPE

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
        STORAGE_TYPE,
    ),
    references=("KIP-112",),
)
def log_directory_is_temporary(case: Case) -> Iterator[Problem]:
    """Find brokers whose data a clean-up of the machine deletes.

    What it checks:
        log.dirs or log.dir below /tmp, /var/tmp or /dev/shm, written down. It is also Kafka's default and that of its
        sample file: information. Strimzi's storage of type ephemeral, of the cluster or of a node pool with brokers:
        information where the cluster has one broker.

    Why it matters for exactly-once:
        Machines empty these directories at a restart or by age: a replica comes back without data and, as the only
        one in sync, takes committed records with it. Ephemeral storage ends with the pod: a drained zone loses records
        and the outcomes of transactions.

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
        storage = broker.value(STORAGE_TYPE)
        if storage.word == EPHEMERAL:
            is_alone = broker.instances is not None and broker.instances.number == 1
            yield problem(
                broker,
                (storage,),
                f"{STORAGE_TYPE} is {EPHEMERAL}: the brokers' data is deleted with their pods.",
                severity=Severity.INFO if is_alone else Severity.WARNING,
                impact="Drained or failed nodes take committed records and outcomes of transactions with them.",
                remedy="Use storage of the type persistent-claim; for a running cluster, move to a new node pool.",
            )
