"""EOS-CFG-172."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.instances import runs_many
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity

_VOTER: Final = re.compile(r"\s*(\d+)@[^,\s]+\s*")


@check(
    "EOS-CFG-172",
    "Node id contradicts the voters of the quorum",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.BROKER,),
    reads=("node.id", "process.roles", "controller.quorum.voters"),
    references=("KIP-595", "KIP-631"),
)
def node_outside_its_quorum(case: Case) -> Iterator[Problem]:
    """Find controllers that their own controller.quorum.voters leaves out, and brokers that it lists as controllers.

    What it checks:
        node.id, process.roles, and controller.quorum.voters of one server. Quorums without written voters
        (controller.quorum.bootstrap.servers) and ids from elsewhere are not judged.

    Why it matters for exactly-once:
        KafkaConfig refuses both, and the server does not start: the transaction coordinators, partitions, and replicas
        on it are missing, and the quorum has one controller less than it counts.

    Example:
        node.id=4 with process.roles=broker,controller and the voters 1, 2, and 3.

    Fix:
        Give the server the id that the list of voters has for its host, or correct the list on every server.

    Verify:
        eosctl config lint reports it no longer.
    """
    for server in case.deployment.of(Role.BROKER):
        voters, number = _voters(server), server.number("node.id")
        if not voters or number is None or not server.has("node.id") or runs_many(server) or server.cluster:
            continue
        roles = {role.strip() for role in (server.word("process.roles") or "").split(",")}
        listed, node = server.value("controller.quorum.voters"), server.value("node.id")
        if "controller" in roles and number not in voters:
            fact = f"{node.key} is {number}, and {listed.key} lists {', '.join(map(str, sorted(voters)))}."
            remedy = f"Set {node.key} to the id of this server in {listed.key}, or add {number} there on every server."
        elif roles == {"broker"} and number in voters:
            fact = f"{node.key} is {number}, which {listed.key} lists as a controller; this server is a broker alone."
            remedy = f"Give this server a {node.key} that {listed.key} does not list."
        else:
            continue
        yield problem(server, (node, listed), fact, impact="Kafka refuses to start this server.", remedy=remedy)


def _voters(server: Component) -> frozenset[int]:
    """Return the ids of the voters; nothing where one of them is not written down."""
    parts = [part for part in (server.word("controller.quorum.voters") or "").split(",") if part.strip()]
    found = [_VOTER.fullmatch(part) for part in parts]
    return frozenset(int(match[1]) for match in found if match) if all(found) else frozenset()
