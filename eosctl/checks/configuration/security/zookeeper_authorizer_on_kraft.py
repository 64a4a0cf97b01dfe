"""EOS-CFG-107."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

GONE: Final = ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer")


@check(
    "EOS-CFG-107",
    "Authorizer of ZooKeeper clusters on KRaft",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.BROKER,),
    reads=(
        "authorizer.class.name",
        "process.roles",
    ),
    tags=(
        "security",
        "upgrade",
    ),
    references=("KIP-801",),
)
def zookeeper_authorizer_on_kraft(case: Case) -> Iterator[Problem]:
    """Find brokers with an authorizer that they cannot load.

    What it checks:
        authorizer.class.name of kafka.security.authorizer.AclAuthorizer or kafka.security.auth.SimpleAclAuthorizer
        where process.roles is set or the release is 4.0 or later.

    Why it matters for exactly-once:
        It keeps its rules in ZooKeeper: in KRaft the broker does not start with it, and since 4.0 the class is gone.

    Example:
        A server.properties that was carried over to KRaft.

    Fix:
        Set org.apache.kafka.metadata.authorizer.StandardAuthorizer.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        authorizer, roles = broker.value("authorizer.class.name"), broker.value("process.roles")
        if authorizer.word in GONE and (roles.is_given or (broker.release_named and broker.release >= (4, 0))):
            yield problem(
                broker,
                (authorizer,),
                f"{authorizer.word} needs ZooKeeper.",
                impact="The broker does not start.",
                remedy="Set org.apache.kafka.metadata.authorizer.StandardAuthorizer and create the ACLs there.",
            )
