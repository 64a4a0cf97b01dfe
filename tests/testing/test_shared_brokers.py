"""Brokers that test files share run only while one of the next files needs them."""

from __future__ import annotations

from typing import cast

from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.shared_brokers import SharedBrokers


class Nodes:
    """A cluster that records what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def up(self) -> None:
        self.done.append("up")

    async def down(self) -> None:
        self.done.append("down")


def test_unneeded_brokers_stop_and_start_again_on_their_files() -> None:
    made: dict[str, Nodes] = {}

    def run(name: str) -> ApacheNodes:
        made[name] = Nodes()
        return cast(ApacheNodes, made[name])

    brokers = SharedBrokers(run)
    first, other = brokers.use("apache_4_3"), brokers.use("apache_cluster")
    assert brokers.use("apache_4_3") is first is not other
    brokers.keep({"apache_cluster"})
    brokers.keep({"apache_cluster"})
    assert (made["apache_4_3"].done, made["apache_cluster"].done) == (["down"], [])
    assert brokers.use("apache_4_3") is first
    assert made["apache_4_3"].done == ["down", "up"]
