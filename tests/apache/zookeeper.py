"""A broker of real Kafka with ZooKeeper, as clusters of 2.x and 3.x have it."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import javaproperties
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.ports import HOST, free_ports

PATIENCE_S = 120


@contextmanager
def broker_with_zookeeper(
    java: Path, jars: Path, directory: Path, settings: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run ZooKeeper and one broker from the jars of a release; yield the broker's address."""
    zookeeper_port, port = free_ports(2, random.Random())
    own = {
        "broker.id": "1",
        "zookeeper.connect": f"{HOST}:{zookeeper_port}",
        "listeners": f"PLAINTEXT://{HOST}:{port}",
        "log.dirs": str(directory / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "5",
        "group.initial.rebalance.delay.ms": "0",
    }
    file = directory / "server.properties"
    file.write_text(javaproperties.dumps(own | dict(settings or {})), "utf-8")
    command = [str(java), "-Xmx512m", *QUICK_START, "-cp", f"{jars}/*"]
    # It is fond of port 8080 for an admin server of its own.
    quiet = ["-Dzookeeper.admin.enableServer=false", "org.apache.zookeeper.server.ZooKeeperServerMain"]
    started: list[subprocess.Popen[bytes]] = []
    with (directory / "output.log").open("wb") as output:
        try:
            arguments = [*command, *quiet, str(zookeeper_port), str(directory / "zookeeper")]
            started.append(subprocess.Popen(arguments, stdout=output, stderr=output))
            _wait_for_port(zookeeper_port)
            started.append(subprocess.Popen([*command, "kafka.Kafka", str(file)], stdout=output, stderr=output))
            _wait_for_broker(f"{HOST}:{port}", started[-1], directory / "output.log")
            yield f"{HOST}:{port}"
        finally:
            for process in reversed(started):
                process.kill()
                process.wait()


def _wait_for_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "ZooKeeper does not listen"


def _wait_for_broker(bootstrap: str, broker: subprocess.Popen[bytes], output: Path) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    deadline = time.monotonic() + PATIENCE_S
    while True:
        assert broker.poll() is None, output.read_text("utf-8", "replace")[-4000:]
        try:
            if admin.list_topics(timeout=2).brokers:
                return
        except KafkaException:
            assert time.monotonic() < deadline, "the broker does not answer"
