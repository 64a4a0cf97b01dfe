"""A sandbox in several processes: real clients, replication, faults, killed processes, and nothing left behind."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.errors import UsageError
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.control import ControlError
from eosctl.sandbox.process.identity import start_ticks, wait_for_exit
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec

PATIENCE_S = 300.0
BROKERS = (1, 2, 3)
PARTITIONS = 6


pytestmark = pytest.mark.usefixtures("own_sandboxes")


def start(tmp_path: Path, **changes: Any) -> RunningSandbox:
    settings = {"name": "test", "data_dir": str(tmp_path / "data"), "brokers": 3, "processes": 3, "controllers": 3}
    return manage.start(SandboxSpec(**{**settings, **changes}))


def command(sandbox: RunningSandbox, name: str, **arguments: Any) -> Any:
    return manage.send_command(sandbox, name, PATIENCE_S, **arguments)


def fault(sandbox: RunningSandbox, words: str) -> Any:
    return command(sandbox, "inject", words=words.split())


def create(sandbox: RunningSandbox, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    wanted = [NewTopic(topic, PARTITIONS, 3, config={"min.insync.replicas": "2"}) for topic in topics]
    for created in admin.create_topics(wanted, operation_timeout=PATIENCE_S).values():
        created.result(PATIENCE_S)


def producer_of(sandbox: RunningSandbox, transactional_id: str) -> confluent_kafka.Producer:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": sandbox.bootstrap, "transactional.id": transactional_id, "linger.ms": 1}
    )
    producer.init_transactions(PATIENCE_S)
    return producer


def commit(producer: confluent_kafka.Producer, topic: str, values: range) -> None:
    """Write values in one transaction, again if it has to be aborted."""
    while True:
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, b"%d" % value, partition=value % PARTITIONS)
        try:
            producer.commit_transaction(PATIENCE_S)
        except confluent_kafka.KafkaException as error:
            assert error.args[0].txn_requires_abort(), error
            producer.abort_transaction(PATIENCE_S)
        else:
            return


def consumer_of(sandbox: RunningSandbox, group: str) -> confluent_kafka.Consumer:
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": sandbox.bootstrap,
            "group.id": group,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


def read(sandbox: RunningSandbox, topic: str, count: int) -> list[int]:
    """Return the first `count` committed values, sorted."""
    consumer = consumer_of(sandbox, f"reads-{topic}-{count}")
    consumer.subscribe([topic])
    found: list[int] = []
    while len(found) < count:
        found += [int(message.value()) for message in consumer.consume(count, 0.1) if message.error() is None]
    consumer.close()
    return sorted(found)


def until_in_sync(sandbox: RunningSandbox) -> dict[str, Any]:
    """Wait until every broker is ready and every replica in sync, and return the status."""
    while True:
        status: dict[str, Any] = command(sandbox, "status")
        behind = [row for row in status["partitions"] if len(row["isr"]) < len(row["replicas"])]
        if all(broker["ready"] for broker in status["brokers"]) and not behind:
            return status


def process_with(sandbox: RunningSandbox, node: int) -> dict[str, Any]:
    processes = command(sandbox, "status")["processes"]
    return next(process for process in processes if node in process["nodes"])


def kill_process_with(sandbox: RunningSandbox, node: int) -> dict[str, Any]:
    """Kill the process of a node like `kill -9`, and return its description once the sandbox has noticed."""
    pid = process_with(sandbox, node)["pid"]
    ticks = start_ticks(pid)
    assert ticks is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_for_exit(pid, ticks, PATIENCE_S)
    while (process := process_with(sandbox, node))["running"]:
        pass
    return process


def test_clients_work_while_a_process_is_killed_and_returns(tmp_path: Path) -> None:
    sandbox = start(tmp_path)
    status = command(sandbox, "status")
    assert [process["nodes"] for process in status["processes"]] == [[1, 100], [2, 101], [3, 102]]
    assert len({sandbox.pid, *(process["pid"] for process in status["processes"])}) == 4
    create(sandbox, "orders", "copies")

    writer = producer_of(sandbox, "writer")
    commit(writer, "orders", range(100))
    assert all(row["isr"] == row["replicas"] or len(row["isr"]) == 3 for row in until_in_sync(sandbox)["partitions"])

    addresses = [broker["address"] for broker in status["brokers"]]
    ended = kill_process_with(sandbox, 2)
    assert ended["ended"] == "ended by SIGKILL"
    assert [broker["running"] for broker in command(sandbox, "status")["brokers"]] == [True, False, True]
    log = paths.log_file("test").read_text()
    assert f"Worker 2 (process {ended['pid']}) ended by SIGKILL. Down: broker 2, controller 101." in log
    with pytest.raises(ControlError, match="Node 2 does not run"):
        fault(sandbox, "pause node=2")
    commit(writer, "orders", range(100, 200))

    fault(sandbox, "start node=2")
    status = until_in_sync(sandbox)
    assert [broker["address"] for broker in status["brokers"]] == addresses
    command(sandbox, "start-broker", broker=101)
    assert process_with(sandbox, 101)["running"]
    commit(writer, "orders", range(200, 300))
    copy_all(sandbox, 300)
    assert read(sandbox, "copies", 300) == list(range(300))


def copy_all(sandbox: RunningSandbox, count: int) -> None:
    """Consume, transform, and produce with offsets in transactions, until everything is copied."""
    consumer, producer = consumer_of(sandbox, "copier"), producer_of(sandbox, "copier")
    consumer.subscribe(["orders"])
    copied = 0
    while copied < count:
        messages = [message for message in consumer.consume(50, 0.1) if message.error() is None]
        if not messages:
            continue
        producer.begin_transaction()
        for message in messages:
            producer.produce("copies", message.value())
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), PATIENCE_S)
        producer.commit_transaction(PATIENCE_S)
        copied += len(messages)
    committed = consumer.committed(consumer.assignment(), PATIENCE_S)
    assert sum(max(each.offset, 0) for each in committed) >= count
    consumer.close()


def test_faults_reach_the_process_that_they_concern(tmp_path: Path) -> None:
    sandbox = start(tmp_path, processes=2, controllers=1)
    create(sandbox, "orders")
    writer = producer_of(sandbox, "writer")
    with pytest.raises(ControlError, match="needs a node"):
        fault(sandbox, "late-markers ms=50 count=1")
    with pytest.raises(ControlError, match="There is no node 9"):
        fault(sandbox, "kill node=9")
    with pytest.raises(ControlError, match="cannot be advanced"):
        manage.advance_clock(sandbox, 1_000)

    for words in (
        "late-markers ms=20",
        "slow node=2 ms=5",
        "drop api=WRITE_TXN_MARKERS to=2 count=1",
        "skew node=3 ms=500",
    ):
        fault(sandbox, words)
    commit(writer, "orders", range(60))
    active = {found["fault"].split()[0]: found["hit_count"] for found in command(sandbox, "faults")["active"]}
    assert len(active) == 4
    assert active["late-markers"] > 0
    assert command(sandbox, "end-faults") == 4
    assert command(sandbox, "faults")["active"] == []

    move = fault(sandbox, "move-coordinator transactional-id=writer")
    assert "is led by" in move["what"]
    assert "again" in fault(sandbox, "unload-coordinator transactional-id=writer")["what"]
    number = fault(sandbox, "pause node=any for=100ms")["number"]
    commit(writer, "orders", range(60, 120))
    while any(found["number"] == number for found in command(sandbox, "faults")["active"]):
        pass

    killed = fault(sandbox, "kill node=2")["number"]
    cut = fault(sandbox, "cut node=3 other=1")["number"]
    kill_process_with(sandbox, 2)
    assert command(sandbox, "end-fault", number=killed)  # Node 2 starts in a new process, which cuts the link, too.
    assert process_with(sandbox, 2)["running"]
    assert command(sandbox, "end-fault", number=cut)
    assert not command(sandbox, "end-fault", number=cut)
    until_in_sync(sandbox)
    commit(writer, "orders", range(120, 180))
    assert read(sandbox, "orders", 180) == list(range(180))
    assert Counter(event["what"] for event in command(sandbox, "faults")["events"])["ends"] >= 6


def test_counted_faults_end_with_their_process(tmp_path: Path) -> None:
    sandbox = start(tmp_path, processes=3, controllers=1)
    counted = fault(sandbox, "drop from=2 to=3 count=1000")["number"]
    fault(sandbox, "drop from=2 to=3 api=VOTE")
    kill_process_with(sandbox, 2)
    while (faults := command(sandbox, "faults"))["events"][-1]["number"] != counted:
        pass
    assert faults["events"][-1]["what"].startswith("ends with process")
    assert [found["fault"] for found in faults["active"]] == ["drop from=2 to=3 api=VOTE"]
    command(sandbox, "end-faults")
    until_in_sync(sandbox)


def test_secured_listeners_and_metrics_of_all_processes(tmp_path: Path) -> None:
    sandbox = start(tmp_path, brokers=2, processes=2, controllers=1, sasl=("SCRAM-SHA-512",), users=("admin", "alice"))
    client = tmp_path / "data" / "security" / "alice.properties"
    words = dict(line.split("=", 1) for line in client.read_text().splitlines() if "=" in line and line[0] != "#")
    assert words["bootstrap.servers"] == sandbox.bootstrap
    password = words["sasl.jaas.config"].partition('password="')[2].partition('"')[0]
    for address in sandbox.bootstrap.split(","):
        admin = AdminClient(
            {
                "bootstrap.servers": address,
                "security.protocol": words["security.protocol"],
                "sasl.mechanism": words["sasl.mechanism"],
                "sasl.username": "alice",
                "sasl.password": password,
            }
        )
        assert len(admin.list_topics(timeout=PATIENCE_S).brokers) == 2


def test_nothing_is_left_of_an_ephemeral_sandbox(tmp_path: Path) -> None:
    sandbox = start(tmp_path, brokers=2, processes=2, controllers=1, ephemeral=True)
    workers = [(process["pid"], start_ticks(process["pid"])) for process in command(sandbox, "status")["processes"]]
    (tmp_path / "data" / "mine.txt").write_text("of another program")
    assert manage.stop(sandbox) == "stopped"
    assert [start_ticks(pid) for pid, _ in workers] == [None, None]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine.txt"]
    assert not paths.sandbox_dir("test").exists()


def test_workers_end_with_the_sandbox_process(tmp_path: Path) -> None:
    sandbox = start(tmp_path, brokers=2, processes=2, controllers=1)
    cluster_id = command(sandbox, "status")["cluster_id"]
    pids = [process["pid"] for process in command(sandbox, "status")["processes"]]
    frozen, other = [(pid, start_ticks(pid)) for pid in pids]
    os.kill(frozen[0], signal.SIGSTOP)  # It cannot notice the end of the sandbox.
    os.kill(sandbox.pid, signal.SIGKILL)
    assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, PATIENCE_S)
    assert other[1] is not None
    assert wait_for_exit(other[0], other[1], PATIENCE_S)
    with pytest.raises(manage.SandboxFailed, match="in use by another sandbox"):
        start(tmp_path, name="other", brokers=2, processes=2, controllers=1)
    again = start(tmp_path, brokers=2, processes=2, controllers=1)  # Ends the frozen worker first.
    assert start_ticks(frozen[0]) != frozen[1]
    assert command(again, "status")["cluster_id"] == cluster_id


def test_a_port_in_use_is_the_callers_to_solve(tmp_path: Path) -> None:
    first = start(tmp_path, brokers=2, processes=2, controllers=1)
    port = int(first.bootstrap.rpartition(":")[2])
    with pytest.raises(manage.SandboxFailed, match=f"Port {port}"):
        start(
            tmp_path,
            name="other",
            data_dir=str(tmp_path / "more"),
            brokers=2,
            processes=2,
            controllers=1,
            port_base=port - 1,
        )
    assert manage.find("other") is None


def test_settings_that_are_refused_are_the_callers(tmp_path: Path) -> None:
    with pytest.raises((UsageError, manage.SandboxFailed)) as refused:
        start(tmp_path, brokers=2, processes=2, controllers=1, settings=(("num.io.threads", "many"),))
    assert "num.io.threads" in str(refused.value)
    assert manage.find("test") is None
