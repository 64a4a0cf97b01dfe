"""A cluster on sockets: start, stop, restart, faults, and rejected requests with their messages."""

from __future__ import annotations

import asyncio
import socket
import struct
from pathlib import Path

import pytest

from eosctl.errors import EosctlError
from eosctl.sandbox.cluster import Cluster, EmbeddedCluster
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.storage.names import CLEAN_SHUTDOWN
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.metadata import MetadataRequest


async def ask(bootstrap: str, api_key: int, version: int, message: object) -> object:
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(encode_request(api_key, version, 7, "test", message))
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    correlation_id, response = decode_response(api_key, version, await reader.readexactly(size))
    writer.close()
    await writer.wait_closed()
    assert correlation_id == 7
    return response


def test_three_brokers_answer_and_leave_nothing_behind() -> None:
    async def scenario() -> tuple[list[int], Path]:
        async with EmbeddedCluster(brokers=3) as cluster:
            response = await ask(cluster.bootstrap, ApiKey.METADATA, 12, MetadataRequest([], False))
            ports = [broker.port for broker in response.brokers]  # type: ignore[attr-defined]
            assert cluster.bootstrap == ",".join(f"127.0.0.1:{port}" for port in ports)
            return ports, cluster.core.data_dir

    ports, folder = asyncio.run(scenario())
    assert not folder.exists()
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=1)


def test_invalid_bytes_close_only_their_connection() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster() as cluster:
            host, _, port = cluster.bootstrap.rpartition(":")
            bystander_reader, bystander = await asyncio.open_connection(host, int(port))
            for garbage in (b"GET / HTTP/1.1\r\n\r\n" * 100, b"\xff" * 64, struct.pack(">i", 50) + bytes(50)):
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(garbage)
                assert await asyncio.wait_for(reader.read(), 5) == b""
                writer.close()
            bystander.write(encode_request(ApiKey.API_VERSIONS, 0, 1, "test", ApiVersionsRequest()))
            assert len(await asyncio.wait_for(bystander_reader.readexactly(4), 5)) == 4
            bystander.close()

    asyncio.run(scenario())


def spec(folder: Path, **changes: object) -> SandboxSpec:
    return SandboxSpec(**{"name": "test", "data_dir": str(folder), **changes})  # type: ignore[arg-type]


async def start_and_stop(wanted: SandboxSpec) -> None:
    cluster = Cluster(wanted)
    await cluster.start()
    await cluster.stop()


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EosctlError) as refused:
            asyncio.run(start_and_stop(spec(tmp_path, port_base=port)))
    assert f"Port {port}" in refused.value.what
    assert "--port-base" in refused.value.next_step


def test_a_data_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "broker-1").write_text("a file where a directory should be")
    with pytest.raises(EosctlError) as refused:
        asyncio.run(start_and_stop(spec(tmp_path)))
    assert str(tmp_path) in refused.value.what


def test_data_of_another_node_is_refused(tmp_path: Path) -> None:
    asyncio.run(start_and_stop(spec(tmp_path)))
    meta = tmp_path / "broker-1" / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=9"))
    with pytest.raises(EosctlError, match="node id 9, 1 was expected"):
        asyncio.run(start_and_stop(spec(tmp_path)))


def test_a_bad_setting_is_refused_in_kafkas_words(tmp_path: Path) -> None:
    with pytest.raises(EosctlError, match="Not a number of type INT"):
        asyncio.run(start_and_stop(spec(tmp_path, settings=(("num.partitions", "some"),))))


def test_a_stopped_cluster_leaves_complete_files(tmp_path: Path) -> None:
    asyncio.run(start_and_stop(spec(tmp_path, brokers=3)))
    folders = sorted(path.name for path in tmp_path.iterdir())
    assert folders == ["broker-1", "broker-2", "broker-3", "controller-100"]
    for folder in tmp_path.iterdir():
        assert (folder / CLEAN_SHUTDOWN).exists()
        assert (folder / "meta.properties").exists()
        assert (folder / "__cluster_metadata-0" / "00000000000000000000.log").exists()


def test_brokers_are_killed_stopped_and_restarted_on_their_ports(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=3, data_dir=tmp_path) as embedded:
            cluster, commands = embedded.cluster, embedded.cluster.commands()
            before = cluster.bootstrap
            await commands["kill-broker"]({"broker": 2})
            assert [broker["running"] for broker in cluster.status()["brokers"]] == [True, False, True]
            with pytest.raises(EosctlError):
                await commands["kill-broker"]({"broker": 2})
            await commands["start-broker"]({"broker": 2})
            await commands["stop-broker"]({"broker": 3})
            await commands["start-broker"]({"broker": 3})
            assert [broker["ready"] for broker in cluster.status()["brokers"]] == [True] * 3
            assert cluster.bootstrap == before
            response = await ask(cluster.bootstrap.split(",")[1], ApiKey.METADATA, 12, MetadataRequest([], False))
            assert len(response.brokers) == 3  # type: ignore[attr-defined]

    asyncio.run(scenario())


def test_a_broker_that_gets_ready_after_the_wait_for_it_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        cluster = Cluster(SandboxSpec(name="slow", data_dir=str(tmp_path), brokers=2, fast=True))
        await cluster.start()
        monkeypatch.setattr("eosctl.sandbox.cluster.START_TIMEOUT_S", 0.05)
        try:
            address = cluster.status()["brokers"][1]["address"]
            await cluster.kill_broker(2)
            await cluster.kill_broker(100)  # no controller can unfence the broker
            with pytest.raises(EosctlError, match="does not serve yet"):
                await cluster.start_broker(2)
            await cluster.start_broker(100)
            async with asyncio.timeout(60):
                while True:
                    try:
                        await ask(address, ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
                        break
                    except ConnectionRefusedError:
                        await asyncio.sleep(0.01)
        finally:
            await cluster.stop()

    asyncio.run(scenario())


def test_faults_are_set_and_healed_by_name(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=2, data_dir=tmp_path) as embedded:
            commands, network = embedded.cluster.commands(), embedded.core.network
            await commands["inject"]({"words": ["late-markers", "ms=5"]})
            cut = await commands["inject"]({"words": ["cut", "node=1", "other=2"]})
            assert len((await commands["faults"]({}))["active"]) == 2
            assert await commands["end-fault"]({"number": cut["number"]})
            assert await commands["end-faults"]({}) == 1
            assert not network.has_faults
            await commands["inject"]({"words": ["skew", "node=2", "ms=-5s"]})
            skew = embedded.core.broker(1).runtime.now_ms() - embedded.core.broker(2).runtime.now_ms()
            assert 4990 <= skew <= 5010

    asyncio.run(scenario())


def test_controllers_are_killed_and_started_as_brokers_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=1, controllers=3, data_dir=tmp_path) as embedded:
            commands, cluster = embedded.cluster.commands(), embedded.cluster
            former = cluster.status()["controller"]
            assert former in (100, 101, 102)
            await commands["kill-broker"]({"broker": former})
            topic = CreatableTopic("orders", 1, 1)
            response = await ask(cluster.bootstrap, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([topic], 60_000))
            assert response.topics[0].error_code == 0  # type: ignore[attr-defined]
            assert cluster.status()["controller"] not in (None, former)
            await commands["start-broker"]({"broker": former})
            assert all(controller["running"] for controller in cluster.status()["controllers"])

    asyncio.run(scenario())
