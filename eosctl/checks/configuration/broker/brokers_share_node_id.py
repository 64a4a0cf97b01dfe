"""EOS-CFG-150."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from eosctl.checks.configuration.broker_clusters import are_alternatives, hosts_of, is_same_workload
from eosctl.checks.configuration.instances import counted, processes, runs_many
from eosctl.checks.configuration.problem import problem, use_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value, cluster_of, folder_of
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-150",
    "Two brokers have the same node id",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.BROKER,),
    reads=("node.id", "broker.id"),
    references=("KIP-500",),
)
def brokers_share_node_id(case: Case) -> Iterator[Problem]:
    """Find brokers of one cluster that claim to be the same node.

    What it checks:
        Equal node.id (broker.id with ZooKeeper) of two brokers that name the same quorum, in one file, in files of
        one folder, or in neighboring folders with listeners on different hosts; and a written id of a workload with
        two processes or more. The server.properties and the controller.properties that Kafka ships are two ways to
        start one controller, and no mistake.

    Why it matters for exactly-once:
        The controller refuses the second broker (DuplicateBrokerRegistrationException), or lets it take the place of
        the first: partitions move between two machines with different data.

    Example:
        A service of a Compose file that was copied with its KAFKA_NODE_ID.

    Fix:
        Give each broker an id of its own.

    Verify:
        eosctl config lint reports it no longer.
    """
    found: dict[tuple[str, int], list[tuple[Component, Value]]] = {}
    several = _described_twice(case.deployment.of(Role.BROKER))
    for broker in case.deployment.of(Role.BROKER):
        node = _node_of(broker)
        if node is None or node.number is None or node.number < 0 or broker.cluster:
            continue
        if runs_many(broker):
            yield problem(
                broker,
                (node, *counted(broker)),
                f"{node.key} is {node.number} for all {processes(broker)}.",
                impact="The cluster has one of these brokers at a time, each with other data.",
                remedy=f"Make {node.key} different for each instance, e.g. from the ordinal of its pod.",
            )
        before = found.setdefault((cluster_of(broker), node.number), [])
        other = next((one for owner, one in before if _are_of_one_cluster(owner, broker)), None)
        before.append((broker, node))
        if other is not None and (folder_of(broker), cluster_of(broker)) not in several:
            yield problem(
                broker,
                (node, other),
                f"{node.key}={node.number} is {use_of(node, other)}.",
                impact="The second broker is refused, or replaces the first one with other data.",
                remedy=f"Give each broker a {node.name} of its own.",
            )


def _node_of(broker: Component) -> Value | None:
    return next((v for name in ("node.id", "broker.id") if (v := broker.value(name)).is_given), None)


def _described_twice(brokers: Iterable[Component]) -> set[tuple[str, str]]:
    """Return the folders and clusters with as many files of each of several nodes: two ways to start all of them."""
    files: dict[tuple[str, str], Counter[int]] = {}
    for broker in brokers:
        node = _node_of(broker)
        if node is not None and node.number is not None and not broker.described_by:
            files.setdefault((folder_of(broker), cluster_of(broker)), Counter())[node.number] += 1
    return {where for where, nodes in files.items() if len(nodes) > 1 and len(set(nodes.values())) == 1}


def _are_of_one_cluster(one: Component, other: Component) -> bool:
    """Return whether two brokers of one quorum run at the same time; a copy for another environment does not."""
    if one.application == other.application or are_alternatives(one, other) or is_same_workload(one, other):
        return False
    folders = [folder_of(one), folder_of(other)]
    if folders[0] == folders[1]:
        return True
    above = {folder.rpartition("/")[0] for folder in folders}
    hosts = [hosts_of(one), hosts_of(other)]
    return len(above) == 1 and all(hosts) and hosts[0].isdisjoint(hosts[1])
