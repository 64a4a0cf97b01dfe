"""The limits of connections, in all of a broker and of an address, as 4.3.1 keeps them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.broker.config import ConfigSources, NodeConfig
from eosctl.sandbox.logging.log_files import LogFiles
from eosctl.sandbox.logging.node_events import rejects_connection
from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.quotas.connection_quotas import ConnectionQuotas
from eosctl.sandbox.ticks import Ticks
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.messages import incremental_alter_configs as configs
from eosctl.wire.messages.metadata import MetadataRequest
from tests.sandbox.harness import VirtualLoop
from tests.sandbox.security.wire_client import WireClient

LISTENERS = ("A", "B")
ADDRESSES = ("10.0.0.1", "10.0.0.2")
BROKER = 4


class Arrival:
    """A client; it notes what happens to it."""

    def __init__(self, quotas: ConnectionQuotas, listener: str, address: str, last_read: int = 0) -> None:
        self.last_read = last_read
        self.state = "waits"
        self._place = listener, address
        self._quotas = quotas
        quotas.enter(listener, self)

    def serve(self) -> None:
        self.state = "served" if self._quotas.count(*self._place, self) is None else "rejected"

    def displace(self) -> None:
        self.state = "displaced"


def quotas_of(settings: dict[str, str], listeners: tuple[str, ...] = ("A",)) -> tuple[ConnectionQuotas, NodeConfig]:
    config = NodeConfig("4.3", settings)
    return ConnectionQuotas(config, ClusterImage(), listeners), config


def states(arrivals: list[Arrival]) -> list[str]:
    return [arrival.state for arrival in arrivals]


def test_clients_above_the_brokers_limit_wait_in_order() -> None:
    quotas, _ = quotas_of({"max.connections": "2"})
    arrivals = [Arrival(quotas, "A", "10.0.0.1") for _ in range(4)]
    assert states(arrivals) == ["served", "served", "waits", "waits"]
    quotas.leave(arrivals[0])
    assert states(arrivals) == ["served", "served", "served", "waits"]
    quotas.leave(arrivals[3])  # It disconnects while it waits.
    quotas.leave(arrivals[1])
    late = Arrival(quotas, "A", "10.0.0.1")
    assert late.state == "served"


def test_an_address_has_its_own_limit() -> None:
    overrides = {"max.connections.per.ip": "1", "max.connections.per.ip.overrides": "10.0.0.2:2, 10.0.0.3:0"}
    quotas, _ = quotas_of(overrides)
    first, second = ([Arrival(quotas, "A", address) for _ in range(3)] for address in ADDRESSES)
    assert states(first) == ["served", "rejected", "rejected"]
    assert states(second) == ["served", "served", "rejected"]
    assert Arrival(quotas, "A", "10.0.0.3").state == "rejected"
    quotas.leave(first[1])  # A rejected client was not counted.
    assert Arrival(quotas, "A", ADDRESSES[0]).state == "rejected"
    quotas.leave(first[0])
    assert Arrival(quotas, "A", ADDRESSES[0]).state == "served"


def test_between_brokers_the_idlest_client_is_displaced() -> None:
    quotas, _ = quotas_of({"max.connections": "2", "inter.broker.listener.name": "B"}, LISTENERS)
    clients = [Arrival(quotas, "A", "10.0.0.1", last_read) for last_read in (9, 4)]
    assert Arrival(quotas, "A", "10.0.0.1").state == "waits"
    broker = Arrival(quotas, "B", "10.0.0.2", 1)
    assert (broker.state, states(clients)) == ("served", ["served", "displaced"])


def test_a_single_listener_is_not_protected() -> None:
    quotas, _ = quotas_of({"max.connections": "1", "inter.broker.listener.name": "A"})
    assert states([Arrival(quotas, "A", "10.0.0.1") for _ in range(2)]) == ["served", "waits"]


def test_changed_limits_apply_to_open_connections() -> None:
    quotas, config = quotas_of({"max.connections": "1"})
    arrivals = [Arrival(quotas, "A", "10.0.0.1", last_read) for last_read in (3, 2, 1)]
    config.replace_dynamic(ConfigSources({}, {"max.connections": "3"}))
    quotas.apply_settings()
    assert states(arrivals) == ["served"] * 3
    config.replace_dynamic(ConfigSources({}, {"max.connections": "2"}))
    quotas.apply_settings()
    assert states(arrivals) == ["served", "served", "displaced"]


@given(
    st.integers(0, 4),
    st.integers(0, 3),
    st.lists(st.tuples(st.booleans(), st.sampled_from(LISTENERS), st.sampled_from(ADDRESSES)), max_size=40),
)
def test_limits_hold_and_no_free_connection_is_withheld(
    total: int, per_address: int, steps: list[tuple[bool, str, str]]
) -> None:
    quotas, _ = quotas_of({"max.connections": str(total), "max.connections.per.ip": str(per_address)}, LISTENERS)
    present: list[tuple[Arrival, str]] = []
    for joins, listener, address in steps:
        if joins or not present:
            present.append((Arrival(quotas, listener, address), address))
        else:
            quotas.leave(present.pop(0)[0])
        served = [where for arrival, where in present if arrival.state == "served"]
        assert len(served) <= total
        assert all(served.count(where) <= per_address for where in ADDRESSES)
        if any(arrival.state == "waits" for arrival, _ in present):
            assert len(served) == total


def asks(client: WireClient) -> Callable[[], object]:
    """Send a request; the result waits for its response."""
    client.send(encode_request(ApiKey.METADATA, 12, 7, "test", MetadataRequest([])))

    def answered() -> object:
        frame = client.frame()
        return None if frame is None else decode_response(ApiKey.METADATA, 12, frame)[1]

    return answered


def test_a_waiting_client_is_served_after_another_leaves() -> None:
    with SandboxThread(config={"max.connections": "1"}) as sandbox:
        first = WireClient(sandbox.bootstrap)
        assert first.ask(ApiKey.METADATA, 12, MetadataRequest([])) is not None
        with WireClient(sandbox.bootstrap) as second:
            answered = asks(second)
            assert first.ask(ApiKey.METADATA, 12, MetadataRequest([])) is not None
            first.__exit__()
            assert answered() is not None


def test_a_raised_limit_serves_a_waiting_client() -> None:
    with SandboxThread(config={"max.connections": "1"}) as sandbox, WireClient(sandbox.bootstrap) as first:
        assert first.ask(ApiKey.METADATA, 12, MetadataRequest([])) is not None
        with WireClient(sandbox.bootstrap) as second:
            answered = asks(second)
            change = configs.AlterableConfig("max.connections", 0, "2")
            resource = configs.AlterConfigsResource(BROKER, "", [change])
            request = configs.IncrementalAlterConfigsRequest([resource], False)
            assert first.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request) is not None
            assert answered() is not None


def test_a_rejected_client_is_disconnected() -> None:
    with (
        SandboxThread(config={"max.connections.per.ip": "1"}) as sandbox,
        WireClient(sandbox.bootstrap) as first,
        WireClient(sandbox.bootstrap) as second,
    ):
        assert first.ask(ApiKey.METADATA, 12, MetadataRequest([])) is not None
        assert asks(second)() is None
        assert first.ask(ApiKey.METADATA, 12, MetadataRequest([])) is not None


def test_a_rejected_client_is_logged_as_by_kafka(tmp_path: Path) -> None:
    log = LogFiles(tmp_path, lambda: 0, Ticks(VirtualLoop()))
    rejects_connection(log, "127.0.0.1", 2)
    log.close()
    line = (
        "INFO Rejected connection from /127.0.0.1, address already has the configured maximum of 2 connections. "
        "(kafka.network.DataPlaneAcceptor)"
    )
    assert line in (tmp_path / "server.log").read_text("utf-8")
