"""Terminals with a tool and a server in one text, and other faults that were given to the wrong program or split."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.severity import Severity
from tests.logs.judging import judge

PLAIN_TO_TLS = (
    "ops@jump:~$ kafka-topics.sh --bootstrap-server kb-1.int:9093 --list\n"
    "[2026-02-03 09:00:01,318] WARN [AdminClient clientId=cli-7] Connection to node -1 (kb-1.int/192.0.2.1:9093) could "
    "not be established. Broker may not be available. (org.apache.kafka.clients.NetworkClient)\n"
    "[2026-02-03 09:00:02,902] ERROR Uncaught exception in thread 'kafka-admin-client-thread | cli-7': "
    "(org.apache.kafka.common.utils.KafkaThread)\n"
    "java.lang.OutOfMemoryError: Java heap space\n"
    "\tat java.base/java.nio.ByteBuffer.allocate(ByteBuffer.java:363)\n"
    "\tat org.apache.kafka.common.network.NetworkReceive.readFrom(NetworkReceive.java:102)\n"
    "ops@jump:~$ ssh kb-1.int tail -2 server.log\n"
    "[2026-02-03 09:00:02,640] INFO [SocketServer listenerType=BROKER, nodeId=1] Failed authentication with /192.0.2.9 "
    "(channelId=1) (SSL handshake failed) (org.apache.kafka.common.network.Selector)\n"
    "[2026-02-03 09:00:09,002] INFO [GroupCoordinator 1]: Stabilized group etl generation 44 (__consumer_offsets-30) "
    "with 4 members (kafka.coordinator.group.GroupCoordinator)\n"
)
DENIED = (
    "[2026-02-03 09:00:{0:02},730] INFO Principal = OAuthKafkaPrincipal(User:adapter, groups: null, session: 3923{0}, "
    "token: abc) is Denied Operation = IdempotentWrite from host = 192.0.2.17 on resource = "
    "Cluster:LITERAL:kafka-cluster for request = InitProducerId with resourceRefCount = 1 (kafka.authorizer.logger)\n"
)
UNRESOLVED = (
    "2026-02-03T09:00:01.220Z WARN [main] o.a.k.clients.ClientUtils - Couldn't resolve server kb.shop.svc:9092 from "
    "bootstrap.servers as DNS resolution failed for kb.shop.svc\n"
    "2026-02-03T09:00:01.340Z ERROR [main] c.s.App - Application run failed\n"
    "org.apache.kafka.common.KafkaException: Failed to construct kafka consumer\n"
    "Caused by: org.apache.kafka.common.config.ConfigException: No resolvable bootstrap urls given in "
    "bootstrap.servers\n"
)
LOST = (
    '{"time":"2026-02-03T09:00:01Z","level":"warn","message":"poll error","err":"topic gps partition 4 lost records; '
    'the client consumed to offset 5120931 epoch 17 but was reset to offset 5118702 epoch 17"}\n'
)
UNCLEAN = (
    "[2026-02-03 09:00:01,070] INFO [Controller id=2] Starting replica leader election (UNCLEAN) for partitions bids-5 "
    "triggered by AdminClientTriggered (kafka.controller.KafkaController)\n"
)
_THREAD = (
    "2026-02-03 09:00:{:02},250 {} [stock-7b-StreamThread-1] o.a.k.s.p.i.{} - stream-thread [stock-7b-StreamThread-1] "
)
OUT_OF_RANGE = (
    f"{_THREAD.format(1, 'WARN', 'StoreChangelogReader')}Encountered org.apache.kafka.clients.consumer."
    "OffsetOutOfRangeException fetching records from restore consumer for partitions [stock-store-changelog-4], it is "
    "likely that the consumer's position has fallen out of the topic partition offset range because the topic was "
    "truncated or compacted on the broker, marking the corresponding tasks as corrupted and re-initializing it later.\n"
    f"{_THREAD.format(2, 'WARN', 'StreamThread')}Detected the states of tasks [0_4] are corrupted. Will close the task "
    "as dirty and re-create and bootstrap from scratch.\n"
    "org.apache.kafka.streams.errors.TaskCorruptedException: Tasks [0_4] are corrupted and hence need to be "
    "re-initialized\n"
)
RESTORED = (
    f"{_THREAD.format(51, 'INFO', 'StoreChangelogReader')}Finished restoring changelog stock-store-changelog-4 to "
    "store stock-store with a total number of 380117 records\n"
)


def test_a_tool_in_a_terminal_is_not_the_broker(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"terminal.txt": PLAIN_TO_TLS})
    assert (found.kind, found.root_cause) == ("out_of_memory", "received-length-too-large")
    assert "broker" not in found.subject and found.explanation.startswith("cli-7 ")
    assert "failed a handshake at 2026-02-03T09:00:02.640Z" in found.explanation


def test_sessions_of_a_principal_are_one_principal(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": "".join(DENIED.format(second) for second in (5, 14, 24))})
    assert (found.kind, found.subject["principal"]) == ("cluster_authorization", "User:adapter")


def test_the_name_that_was_not_resolved_is_the_subject(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"shop.log": UNRESOLVED})
    assert (found.root_cause, found.subject["server"]) == ("no-bootstrap-server-resolved", "kb.shop.svc")
    assert found.t_end_ms - found.t_start_ms == 120


def test_records_that_franz_go_had_read_are_gone(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"go.log": LOST})
    assert (found.kind, found.subject["topic-partition"]) == ("log_truncated", "gps-4")


def test_an_unclean_election_that_a_person_asked_for(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"controller.log": UNCLEAN})
    assert (found.kind, found.subject["topic-partition"]) == ("unclean_election", "bids-5")


def test_a_store_behind_its_changelog_is_restored(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"stock.log": OUT_OF_RANGE + RESTORED})
    assert (found.kind, found.root_cause) == ("task_corrupted", "changelog-position-out-of-range")
    assert found.severity is Severity.WARNING
    assert "restored from 380,117 records at 2026-02-03T09:00:51.250Z" in found.explanation


def test_a_store_behind_its_changelog_that_is_not_restored(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"stock.log": OUT_OF_RANGE})
    assert found.severity is Severity.ERROR
