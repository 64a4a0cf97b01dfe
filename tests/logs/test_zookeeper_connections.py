"""Connections of brokers to ZooKeeper: one that is lost and had again is healthy, many are not."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

WORK = (
    "[2022-10-12 05:{}] INFO [GroupCoordinator 4]: Stabilized group tolls generation 7 (__consumer_offsets-9) "
    "with 2 members (kafka.coordinator.group.GroupCoordinator)\n"
)
LOST = (
    "[2022-10-12 05:{}] WARN Client session timed out, have not heard from server in 4012ms for sessionid "
    "0x30aa71 (org.apache.zookeeper.ClientCnxn)\n"
)
HAD = (
    "[2022-10-12 05:{}] INFO Session establishment complete on server zk-2/10.9.1.2:2181, sessionid = 0x30aa71, "
    "negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)\n"
)
HEAP = (
    "[2022-10-12 05:{}] ERROR Uncaught exception in scheduled task 'kafka-log-retention' (kafka.utils.KafkaScheduler)\n"
    "java.lang.OutOfMemoryError: Java heap space\n"
)
EXPIRED = "[2022-10-12 05:{}] INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)\n"
PREFLIGHT = (
    "===> Check if Zookeeper is healthy ...\n"
    "[2022-10-12 05:00:10,301] INFO Initiating client connection, connectString=zk.tolls.svc:2181 "
    "sessionTimeout=40000 watcher=w (org.apache.zookeeper.ZooKeeper)\n"
    "[2022-10-12 05:00:20,431] WARN Client session timed out, have not heard from server in 10010ms for "
    "sessionid 0x0 (org.apache.zookeeper.ClientCnxn)\n"
    "[2022-10-12 05:00:50,530] ERROR Timed out waiting for connection to Zookeeper server [zk.tolls.svc:2181]. "
    "(io.confluent.admin.utils.ClusterStatus)\n"
)


def test_a_connection_that_is_lost_once_is_not_an_incident(tmp_path: Path) -> None:
    log = WORK.format("00:00,100") + LOST.format("01:10,200") + HAD.format("01:10,900") + WORK.format("03:00,100")
    assert not judge(tmp_path, {"server.log": log})


def test_connections_lost_again_and_again_are_one(tmp_path: Path) -> None:
    log = WORK.format("00:00,100")
    log += "".join(LOST.format(f"0{at}:10,200") + HAD.format(f"0{at}:10,900") for at in range(1, 5))
    (found,) = judge(tmp_path, {"server.log": log + WORK.format("09:00,100")})
    assert found.root_cause == "connections-lost-again-and-again" and found.t_start_ms % 60_000 == 10_200


def test_a_session_that_a_full_heap_ends_is_its_effect(tmp_path: Path) -> None:
    log = WORK.format("00:00,100") + HEAP.format("00:07,884") + HEAP.format("00:08,002") + EXPIRED.format("01:20,411")
    (found,) = judge(tmp_path, {"server.log": log})
    assert found.kind == "out_of_memory" and found.subject["broker"] == "4"


def test_the_check_before_a_start_names_zookeeper(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"pod.log": PREFLIGHT})
    assert (found.kind, found.root_cause) == ("server_ended_by_a_fault", "zookeeper-not-reached")
    assert "zk.tolls.svc:2181" in found.subject.values()
