"""The brokers of a running cluster are judged together with the files."""

from __future__ import annotations

from eosctl.checks.configuration.cluster import broker_components, topic_components
from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import Broker, ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.settings.deployment.deployment_files import read_components


def cluster(**maximum_ms: str) -> Deployment:
    """Return brokers with a maximum timeout each: by its name ``b1``, explicit; ``d1``, a default."""
    brokers = tuple(
        Broker(
            int(name[1:]),
            "h",
            1,
            settings=(
                Setting(
                    "transaction.max.timeout.ms",
                    text,
                    SettingSource.DEFAULT if name.startswith("d") else SettingSource.STATIC_BROKER,
                ),
            ),
        )
        for name, text in maximum_ms.items()
    )
    snapshot = ClusterSnapshot(captured_at_ms=0, cluster_id="c", brokers=brokers)
    return Deployment(broker_components(snapshot), load_tables())


def findings_by_file(deployment: Deployment) -> list[str]:
    return [f"{finding.check_id} {dict(finding.facts)['file']}" for finding in findings_of(judge(deployment))]


def test_a_client_is_judged_by_what_the_cluster_allows() -> None:
    client = read_components("p.properties", "transactional.id=t\nacks=all\ntransaction.timeout.ms=600000\n")
    for brokers, expected in ((cluster(b1="599999"), ["EOS-CFG-004 p.properties"]), (cluster(b1="600000"), [])):
        assert findings_by_file(Deployment((*client, *brokers.components), brokers.tables)) == expected


def test_brokers_of_a_cluster_are_compared() -> None:
    assert findings_by_file(cluster(b1="600000", d2="900000")) == ["EOS-CFG-087 broker 1"]
    assert findings_by_file(cluster(d1="900000", d2="900000")) == []


def test_brokers_without_reported_settings_are_left_out() -> None:
    assert broker_components(ClusterSnapshot(captured_at_ms=0, cluster_id="c", brokers=(Broker(1, "h", 1),))) == ()


def test_a_setting_that_differs_from_the_existing_topic_is_found() -> None:
    where = TopicPartition("__transaction_state", 0)
    topic = Topic(where.topic, "t", internal=True, partitions=(PartitionInfo(where, 1, 0, (1,), (1,)),))
    for count, expected in (("2", ["EOS-CFG-030 broker 1"]), ("1", [])):
        name = "transaction.state.log.num.partitions"
        broker = Broker(1, "h", 1, settings=(Setting(name, count, SettingSource.STATIC_BROKER),))
        snapshot = ClusterSnapshot(captured_at_ms=0, cluster_id="c", brokers=(broker,), topics=(topic,))
        running = (*broker_components(snapshot), *topic_components(snapshot))
        assert findings_by_file(Deployment(running, load_tables())) == expected
