"""A sandbox in a thread: quick, tidy, and honest about what stops it from starting."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from eosctl.errors import EosctlError
from eosctl.testing import SandboxThread


def is_open(address: str) -> bool:
    """Connect and wait until the broker has hung up too, so that no socket is half accepted when the cluster stops."""
    host, port = address.split(":")
    try:
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(1) == b""
    except OSError:
        return False


def test_a_cluster_takes_less_than_a_tenth_of_a_second() -> None:
    def once() -> float:
        before = time.process_time()
        with SandboxThread():
            pass
        return time.process_time() - before

    once()  # imports
    assert min(once() for _ in range(3)) < 0.1  # processor time, as the machine may be busy


def test_nothing_is_left_behind() -> None:
    before = threading.active_count()
    with SandboxThread(brokers=3) as cluster:
        addresses, data_dir = cluster.bootstrap.split(","), cluster.data_dir
        assert all(map(is_open, addresses))
        assert sorted(path.name for path in data_dir.iterdir()) == [
            "broker-1",
            "broker-2",
            "broker-3",
            "controller-100",
        ]
    assert not any(map(is_open, addresses))
    assert not data_dir.exists()
    assert threading.active_count() == before


def test_own_data_stays_and_serves_again(tmp_path: Path) -> None:
    with SandboxThread(data_dir=tmp_path) as cluster:
        cluster_id = cluster.status()["cluster_id"]
    with SandboxThread(data_dir=tmp_path) as cluster:
        assert cluster.status()["cluster_id"] == cluster_id


def test_brokers_stop_die_and_return_at_the_same_address() -> None:
    with SandboxThread(brokers=3) as cluster:
        addresses = cluster.bootstrap.split(",")
        cluster.stop_broker(2)
        cluster.kill_broker(3)
        assert [is_open(address) for address in addresses] == [True, False, False]
        with pytest.raises(EosctlError, match="Broker 3 is not running"):
            cluster.kill_broker(3)
        cluster.start_broker(2)
        cluster.start_broker(3)
        assert cluster.bootstrap.split(",") == addresses
        assert all(map(is_open, addresses))


def test_a_failing_cluster_reports_why_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with (
        pytest.raises(EosctlError, match="A broker setting is not allowed"),
        SandboxThread(config={"num.partitions": "many"}),
    ):
        pass
    assert threading.active_count() == before


def test_faults_use_the_cli_syntax_and_time_can_be_advanced() -> None:
    with SandboxThread(brokers=3) as cluster:
        cluster.fault("kill node=2")
        number = cluster.fault("delay api=END_TXN ms=500 count=1")
        cluster.end_fault(number)
        cluster.advance(2_000)
        assert [broker["id"] for broker in cluster.status()["brokers"] if broker["running"]] == [1, 3]
        cluster.heal()
        assert len([broker for broker in cluster.status()["brokers"] if broker["running"]]) == 3
        with pytest.raises(EosctlError, match="There is no node 9"):
            cluster.fault("kill node=9")
