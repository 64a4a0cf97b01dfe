"""What files are read as: those that Kafka ships, and those whose keys belong to several components."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.analysis.read_as import read_as
from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.model.read_as import sentence
from eosctl.model.verdict import Confidence
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.values.sources import Releases

SHIPPED = Path(__file__).parents[1] / "fixtures" / "configs" / "shipped"
"""Keys and values of Kafka's own ``config`` and ``docker`` folders, 2.8 to 4.4."""
TAKEN_FOR = {
    "zookeeper-era/server.properties": ["Kafka broker (broker.id)"],
    "kraft/server.properties": ["Kafka broker and controller (process.roles)"],
    "kraft/broker.properties": ["Kafka broker (process.roles)"],
    "kraft/controller.properties": ["Kafka controller (process.roles)"],
    "kraft/reconfig-server.properties": ["Kafka broker and controller (process.roles)"],
    "docker/client-ssl.properties": ["producer or consumer (security.protocol)"],
    "docker/file-input-server.properties": ["Kafka broker (process.roles)"],
    "docker/server.properties": ["Kafka broker and controller (process.roles)"],
    "docker/docker-compose.yml": ["Kafka controller (KAFKA_NODE_ID)", "Kafka broker (KAFKA_NODE_ID)"],
    "producer.properties": ["producer (the name of the file)"],
    "consumer.properties": ["consumer (group.id)"],
    "connect-distributed.properties": ["Kafka Connect worker (offset.storage.topic)"],
    "connect-standalone.properties": ["Kafka Connect worker (offset.storage.file.filename)"],
    "connect-mirror-maker.properties": ["MirrorMaker 2 (A->B.enabled)"],
    "connect-file-source.properties": ["source connector (connector.class)"],
    "connect-file-sink.properties": ["sink connector (connector.class)"],
    "connect-console-source.properties": ["source connector (connector.class)"],
    "connect-console-sink.properties": ["sink connector (connector.class)"],
    "log4j.properties": [],
    "connect-log4j.properties": [],
    "tools-log4j.properties": [],
    "log4j2.yaml": [],
    "zookeeper.properties": [],
    "trogdor.conf": [],
}


def sentences(file: str, text: str, releases: Releases | None = None) -> list[str]:
    parts = tuple(read_components(file, text, releases=releases or Releases()))
    return [sentence(one) for one in read_as(Deployment(parts, load_tables()))]


def test_each_file_that_kafka_ships_is_named() -> None:
    assert {str(path.relative_to(SHIPPED)) for path in SHIPPED.rglob("*") if path.is_file()} == TAKEN_FOR.keys()


@pytest.mark.parametrize("name", TAKEN_FOR)
def test_what_kafka_ships_is_read_as_what_it_is(name: str) -> None:
    found = sentences(name, (SHIPPED / name).read_text("utf-8"))
    assumed = "3.9" if name.startswith("zookeeper-era") else "4.4"  # the last release with ZooKeeper
    assert found == [f"{taken}, Kafka {assumed} (assumed)" for taken in TAKEN_FOR[name]]


@pytest.mark.parametrize("release", [(2, 8), (3, 3), (3, 9), (4, 0), (4, 4)])
def test_what_kafka_ships_is_read_alike_for_each_release(release: tuple[int, int]) -> None:
    for name, taken in TAKEN_FOR.items():
        found = sentences(name, (SHIPPED / name).read_text("utf-8"), Releases(release))
        assert found == [f"{one}, Kafka {release[0]}.{release[1]}" for one in taken], name


def test_the_folder_that_kafka_ships_has_no_critical_finding() -> None:
    """Its brokers are for development: they have one replica, and all of them stand in one folder."""
    names = [f"kraft/{name}.properties" for name in ("broker", "controller", "server")]
    parts = [part for name in names for part in read_components(name, (SHIPPED / name).read_text("utf-8"))]
    found = {one.check_id for one in findings_of(judge(Deployment(tuple(parts), load_tables())))}
    assert found == {"EOS-CFG-032", "EOS-CFG-036", "EOS-CFG-133"}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        # Keys that one component alone reads decide, however many keys of others there are.
        (
            "application.id=a\nlinger.ms=0\nbatch.size=1\nacks=all\ntransaction.timeout.ms=5000\nmax.block.ms=1\n",
            ["Kafka Streams application (application.id)"],
        ),
        ("processing.guarantee=exactly_once_v2\nlinger.ms=0\nacks=all\n", ["Kafka Streams application"]),
        ("application.id=a\ngroup.id=g\ntransactional.id=t\n", ["Kafka Streams application (application.id)"]),
        ("node.id=1\nretention.ms=1\ncleanup.policy=delete\nsegment.bytes=1\nnum.partitions=3\n", ["Kafka broker"]),
        ("log.dirs=/d\nnum.partitions=1\nmin.insync.replicas=2\n", ["Kafka broker (log.dirs)"]),
        ("listeners=PLAINTEXT://:9092\nnum.partitions=1\n", ["Kafka broker (listeners)"]),
        ("controller.quorum.voters=1@a:1\nnum.partitions=1\n", ["Kafka broker (controller.quorum.voters)"]),
        ("num.partitions=1\nprocess.roles= controller \n", ["Kafka controller (process.roles)"]),
        (
            "group.id=connect\nlisteners=http://:8083\nstatus.storage.topic=s\nacks=all\n",
            ["Kafka Connect worker (status.storage.topic)"],
        ),
        ("clusters=a,b\na.bootstrap.servers=x:1\nb.bootstrap.servers=y:1\nlisteners=http://:8083\n", ["MirrorMaker 2"]),
        ("a->b.enabled=true\nconfig.storage.replication.factor=3\n", ["MirrorMaker 2 (a->b.enabled)"]),
        ("mirrors=a->b\nconfig.storage.replication.factor=3\n", ["MirrorMaker 2 (mirrors)"]),
        ("transactional.id=t\ngroup.id=g\n", ["producer (transactional.id)", "consumer (group.id)"]),
        ("group.id=g\nzookeeper.connect=z:1\nisolation.level=read_committed\n", ["consumer (group.id)"]),
        ("producer.acks=all\nproducer.linger.ms=1\n", ["producer (producer.acks)"]),
        ("cleanup.policy=compact\nmin.insync.replicas=2\nretention.ms=1\n", ["topic"]),
        # Other servers have such keys as well.
        ("node.environment=test\nnode.id=ffffffff-ffff\nnode.data-dir=/var/trino\n", []),
        ("listeners=http://0.0.0.0:8081\nkafkastore.topic=_schemas\n", []),
    ],
)
def test_keys_that_one_component_alone_reads_decide(text: str, taken: list[str]) -> None:
    found = sentences("app.properties", text)
    assert len(found) == len(taken), found
    assert all(one.startswith(wanted) for one, wanted in zip(found, taken, strict=True)), found


@pytest.mark.parametrize("name", ["topic.properties", "producer.properties", "server.properties", "worker.properties"])
def test_the_name_of_the_file_does_not_outweigh_such_a_key(name: str) -> None:
    found = sentences(name, "application.id=a\nacks=all\nnum.partitions=1\n")
    assert found == ["Kafka Streams application (application.id), Kafka 4.4 (assumed)"]


def test_a_release_is_assumed_only_if_nothing_names_it() -> None:
    text = "application.id=a\nprocessing.guarantee=exactly_once_v2\n"
    assert sentences("s.properties", text, Releases((3, 9))) == [
        "Kafka Streams application (application.id), Kafka 3.9"
    ]
    librdkafka = sentences("client.conf", "transactional.id=t\nmessage.timeout.ms=1\n")
    assert librdkafka[0].startswith("librdkafka producer (transactional.id), librdkafka ")


def test_equal_parts_of_one_file_are_counted() -> None:
    text = "topics:\n" + "".join(
        f"  t{number}: {{partitions: 1, replication: 3, config: {{retention.ms: 1}}}}\n" for number in range(3)
    )
    assert sentences("topics.yaml", text) == ["topic (partitions), Kafka 4.4 (assumed), 3 times"]


def test_a_role_that_the_user_gives_is_named_so() -> None:
    from eosctl.model.deployment import Role

    parts = tuple(read_components("strange.conf", "acks=all\n", Role.PRODUCER))
    assert [sentence(one) for one in read_as(Deployment(parts, load_tables()))] == [
        "producer (--role), Kafka 4.4 (assumed)"
    ]


def test_settings_of_two_components_are_judged_as_each_of_them() -> None:
    text = "min.insync.replicas=1\nunclean.leader.election.enable=true\ncompression.type=lz4\n"
    (taken,) = sentences("replication.properties", text)
    assert taken.startswith(("topic or Kafka broker (by", "Kafka broker or topic (by"))
    results = judge(Deployment(tuple(read_components("replication.properties", text)), load_tables()))
    found = {f.check_id: f for f in findings_of(results)}
    # What holds for both is said once and is certain; what holds for one of them is marked.
    assert found["EOS-CFG-037"].confidence is Confidence.CERTAIN
    assert sum(f.check_id == "EOS-CFG-037" for f in findings_of(results)) == 1
    assert found["EOS-CFG-035"].confidence is Confidence.LIKELY
    assert "they may be those of a topic" in found["EOS-CFG-035"].cause


@pytest.mark.parametrize("name", ["topic.properties", "server.properties"])
def test_a_name_decides_between_two_components(name: str) -> None:
    (taken,) = sentences(name, "min.insync.replicas=1\ncompression.type=lz4\n")
    assert " or " not in taken


def test_each_of_streams_and_producer_is_judged() -> None:
    parts = read_components("app.properties", "transaction.timeout.ms=60000\ncommit.interval.ms=90000\n")
    assert {part.role for part in parts if part.inside is None} == {Role.STREAMS, Role.PRODUCER}
