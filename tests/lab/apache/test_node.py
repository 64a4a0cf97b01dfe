"""Settings, ports, and readiness of a node, and its error when it does not start."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import javaproperties
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.apache import nodes as nodes_module
from eosctl.lab.apache import ports as ports_module
from eosctl.lab.apache.java import Runtime
from eosctl.lab.apache.node import METADATA_VERSION, count_brokers
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes, random_cluster_id
from eosctl.lab.apache.ports import CANDIDATES, free_ports
from eosctl.lab.apache.properties import NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import RELEASES
from eosctl.lab.engine import EngineError
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import encode_response
from eosctl.wire.messages.metadata import MetadataResponse, MetadataResponseBroker

ONE = (NodeAddress(1, 20_001, 20_002),)
THREE = (NodeAddress(1, 20_001, 20_002), NodeAddress(2, 20_003, 20_004), NodeAddress(3, 20_005, 20_006))


def test_a_single_node_serves_transactions() -> None:
    settings = node_settings(ONE[0], ONE, Path("/data"), {})
    assert settings["transaction.state.log.replication.factor"] == "1"
    assert settings["transaction.state.log.min.isr"] == "1"
    assert settings["listeners"] == "PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002"


def test_three_nodes_replicate_the_transaction_log() -> None:
    settings = node_settings(THREE[1], THREE, Path("/data"), {"transaction.state.log.min.isr": "3"})
    assert settings["node.id"] == "2"
    assert settings["controller.quorum.voters"] == "1@127.0.0.1:20002,2@127.0.0.1:20004,3@127.0.0.1:20006"
    assert settings["transaction.state.log.replication.factor"] == "3"
    assert settings["transaction.state.log.min.isr"] == "3"  # the user's choice wins


def test_brokers_take_racks_in_turn() -> None:
    config = ApacheConfig(settings={"num.partitions": "4"}, racks=("a", "b"))
    assert [config.settings_of(node)["broker.rack"] for node in (1, 2, 3)] == ["a", "b", "a"]
    assert config.settings_of(1)["num.partitions"] == "4"
    assert "broker.rack" not in ApacheConfig().settings_of(1)


@given(st.dictionaries(st.text(min_size=1, max_size=10), st.text(max_size=20), max_size=5))
def test_properties_are_read_back_as_they_were(settings: dict[str, str]) -> None:
    assert javaproperties.loads(render_properties(settings)) == settings


@given(st.integers(0, 2**64))
def test_cluster_ids_have_kafkas_form(seed: int) -> None:
    cluster_id = random_cluster_id(random.Random(seed))
    assert len(cluster_id) == 22
    assert not cluster_id.startswith("-")  # Kafka's tools would read it as an option


def test_ports_are_free_different_and_out_of_the_kernels_hands() -> None:
    ports = free_ports(6, random.Random(1))
    assert len(set(ports)) == 6
    assert all(port in CANDIDATES for port in ports)
    with socket.create_server(("127.0.0.1", ports[0])):
        assert ports[0] not in free_ports(6, random.Random(1))


def test_running_out_of_ports_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1, random.Random(2))
    monkeypatch.setattr(ports_module, "CANDIDATES", range(port, port + 1))
    with socket.create_server(("127.0.0.1", port)), pytest.raises(EngineError, match="no 1 free ports"):
        free_ports(1, random.Random(3))


@contextmanager
def answering(*parts: bytes) -> Iterator[int]:
    """Listen on loopback and answer the first connection with these bytes, one write for each part."""

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1024)
            for part in parts:
                connection.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


def test_brokers_are_counted_in_a_fragmented_response() -> None:
    brokers = [MetadataResponseBroker(node_id=node_id, host="127.0.0.1", port=9092) for node_id in (1, 2, 3)]
    answer = encode_response(ApiKey.METADATA, METADATA_VERSION, 1, MetadataResponse(brokers=brokers))
    with answering(answer[:5], answer[5:]) as port:
        assert count_brokers(port) == 3


def test_a_node_that_hangs_up_or_refuses_shows_no_brokers() -> None:
    with answering(b"\0\0") as port:
        assert count_brokers(port) == 0
    assert count_brokers(port) == 0


@pytest.fixture
def nodes_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An nodes with a script of the test as its Java, also for `format`."""

    def build(script: str, **config: object) -> ApacheNodes:
        java = tmp_path / "java"
        java.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        java.chmod(java.stat().st_mode | stat.S_IXUSR)
        runtime = Runtime(java, tmp_path / "jars", RELEASES["4.3.1"])
        monkeypatch.setattr(nodes_module, "prepare_runtime", lambda release, cache_dir: runtime)
        return ApacheNodes(ApacheConfig(**config), tmp_path / "cluster", random.Random(1))  # type: ignore[arg-type]

    return build


def test_a_node_that_dies_at_start_is_reported_with_its_error(nodes_with) -> None:
    nodes = nodes_with(
        'case "$*" in *StorageTool*) exit 0;; esac; echo "java.net.BindException: Address already in use"; exit 1'
    )
    with pytest.raises(EngineError, match=r"(?s)ended \(exit status 1\) while starting.*Address already in use.*logs"):
        asyncio.run(nodes.up())
    asyncio.run(nodes.down())


def test_a_node_that_never_serves_is_ended_at_the_deadline(nodes_with, tmp_path: Path) -> None:
    nodes = nodes_with('case "$*" in *StorageTool*) exit 0;; esac; exec /bin/sleep 600', start_timeout_ms=100)
    with pytest.raises(EngineError, match="did not serve in time"):
        asyncio.run(nodes.up())
    assert not (tmp_path / "cluster" / "node-1" / "node.pid").exists()


def test_a_start_that_is_interrupted_leaves_no_node_behind(nodes_with, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    nodes = nodes_with(f'case "$*" in *StorageTool*) exit 0;; esac; echo $$ >"{started}"; exec /bin/sleep 600')

    async def interrupt() -> int:
        starting = asyncio.create_task(nodes.up())
        pid = int(await asyncio.to_thread(started.read_text))
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return pid

    pid = asyncio.run(interrupt())  # which waits for the thread that was starting the node
    assert not Path(f"/proc/{pid}").exists()
    assert not (tmp_path / "cluster" / "node-1" / "node.pid").exists()


def test_a_refused_format_is_reported_and_starts_nothing(nodes_with) -> None:
    nodes = nodes_with("echo 'Invalid cluster id' >&2; exit 1")
    with pytest.raises(EngineError, match=r"(?s)refused to format.*Invalid cluster id"):
        asyncio.run(nodes.up())


#: Formats as StorageTool does and notes it; a broker ends immediately.
FORMATTING = """case "$*" in *StorageTool*) ;; *) exit 1;; esac
home=$(dirname "$(echo "$*" | sed 's/.*--config //; s/ .*//')")
echo "$home" >>"{calls}"
mkdir -p "$home/data"
echo records >"$home/data/bootstrap.checkpoint"
printf 'node.id=%s\\nversion=1\\ncluster.id=%s\\n' "${{home##*-}}" \\
    "$(echo "$*" | sed 's/.*--cluster-id //; s/ .*//')" >"$home/data/meta.properties"
"""


@pytest.mark.parametrize(("settings", "formats"), [({}, 1), ({"metadata.log.dir": "/other"}, 3)])
def test_later_nodes_are_formatted_like_the_first(
    settings: dict[str, str], formats: int, nodes_with, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    for _ in range(2):  # the second time on formatted directories
        nodes = nodes_with(FORMATTING.format(calls=calls), node_count=3, settings=settings)
        with pytest.raises(EngineError, match="ended"):
            asyncio.run(nodes.up())
        assert len(calls.read_text().splitlines()) == formats
    directories = [tmp_path / "cluster" / f"node-{number}" / "data" for number in (1, 2, 3)]
    assert {(one / "bootstrap.checkpoint").read_text() for one in directories} == {"records\n"}
    found = [read_meta_properties(one) for one in directories]
    assert [one.node_id for one in found] == [1, 2, 3]
    assert len({one.cluster_id for one in found}) == 1
    if formats == 1:
        assert len({one.directory_id for one in found}) == 3


def test_nodes_that_were_never_started_are_unknown(nodes_with) -> None:
    nodes = nodes_with("exit 0")
    assert nodes.name == "apache 4.3.1"
    assert nodes.brokers() == ()
    assert nodes.bootstrap == ""
    with pytest.raises(EngineError, match=r"no broker 1 in this cluster.\nThere are: none"):
        asyncio.run(nodes.kill(1))


def test_memory_is_given_to_java_in_mebibytes() -> None:
    runtime = Runtime(Path(sys.executable), Path("/jars"), RELEASES["3.9.2"])
    command = runtime.command("kafka.Kafka", "server.properties", heap_bytes=256 << 20, options=("-Dx=y",))
    expected = ["-Xmx256m", "-Dx=y", "-cp", "/jars/*", "kafka.Kafka", "server.properties"]
    assert command == [sys.executable, *expected]
