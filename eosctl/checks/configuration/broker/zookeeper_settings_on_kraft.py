"""EOS-CFG-108."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-108",
    "ZooKeeper settings on a KRaft broker",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.BROKER,),
    reads=(
        "zookeeper.connect",
        "process.roles",
        "zookeeper.metadata.migration.enable",
    ),
    tags=("upgrade",),
    references=("KIP-866",),
)
def zookeeper_settings_on_kraft(case: Case) -> Iterator[Problem]:
    """Find brokers that name both ZooKeeper and a KRaft role.

    What it checks:
        zookeeper.connect together with process.roles, without zookeeper.metadata.migration.enable=true, up to 3.9;
        zookeeper.connect at all from 4.0 on, where the release is named.

    Why it matters for exactly-once:
        In 3.x the settings contradict each other outside of a migration. In 4.0 ZooKeeper is gone: a broker that has
        only zookeeper.connect lacks process.roles and does not start. A migration on 3.5.0, 3.5.1 or 3.6.0 hands out
        producer ids twice (KAFKA-15552).

    Example:
        A server.properties of 3.x used for 4.0.

    Fix:
        Finish the migration to KRaft on 3.9, then remove the settings.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        connect, roles = broker.value("zookeeper.connect"), broker.value("process.roles")
        migrating = broker.value("zookeeper.metadata.migration.enable")
        is_unknown = not migrating.resolved or broker.framework.get(migrating.name, "") is None
        if not connect.is_given or not connect.word or (is_unknown and not migrating.is_given):
            continue
        gone = broker.release_named and broker.release >= (4, 0)
        if gone or (roles.is_given and migrating.flag is not True):
            yield problem(
                broker,
                (connect, roles),
                "zookeeper.connect is set"
                + (", but Kafka has no ZooKeeper since 4.0." if gone else " together with process.roles."),
                severity=Severity.WARNING if gone and roles.is_given else None,
                impact="The setting is ignored." if gone and roles.is_given else "The broker does not start.",
                remedy="Finish the migration to KRaft on 3.9, then remove it.",
            )
