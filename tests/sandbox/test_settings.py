"""Settings: Kafka's tables, bounds in Kafka's words, and which value wins."""

from __future__ import annotations

import pytest

from eosctl.errors import UsageError
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.sandbox.broker.config import ConfigSources, NodeConfig, check_topic_setting
from eosctl.sandbox.faults.order import parse_order
from eosctl.sandbox.profile import node_settings
from eosctl.sandbox.settings import ConfigSource, InvalidSetting, setting_table
from eosctl.sandbox.user_settings import check_user_settings
from scripts.parameter_tables.history import MACHINE_DEPENDENT


@pytest.mark.parametrize(
    ("release", "broker_count", "topic_count"), [("3.9", 329, 36), ("4.3", 360, 34), ("4.4", 379, 38)]
)
def test_tables_hold_every_setting_of_the_release(release: str, broker_count: int, topic_count: int) -> None:
    table = setting_table(release)
    assert (len(table.broker), len(table.topic)) == (broker_count, topic_count)
    for setting in table.topic.values():
        assert all(name in table.broker for name in setting.synonyms if name != "log.flush.scheduler.interval.ms")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("retention.ms", "many", "Invalid value many for configuration retention.ms: Not a number of type LONG"),
        ("min.insync.replicas", "0", "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1"),
        ("no.such", "1", "Unknown topic config name: no.such"),
        ("max.message.bytes", "99999999999", "Not a number of type INT"),
        ("min.cleanable.dirty.ratio", "1.5", "Value must be no more than 1"),
        ("unclean.leader.election.enable", "maybe", "Expected value to be either true or false"),
        ("cleanup.policy", "burn", "String must be one of: compact, delete"),
        ("message.timestamp.type", "Never", "String must be one of"),
        ("remote.storage.enable", "True", "Topic cannot be configured with remote log storage."),
    ],
)
def test_refusals_are_kafkas(name: str, value: str, text: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        check_topic_setting(setting_table("4.3").topic, name, value)
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("retention.ms", "-1"), ("cleanup.policy", "compact,delete"), ("cleanup.policy", "compact"), ("segment.ms", "1")],
)
def test_good_values_pass(name: str, value: str) -> None:
    check_topic_setting(setting_table("4.3").topic, name, value)


def test_dynamic_wins_over_static_over_default() -> None:
    config = NodeConfig("4.3", {"min.insync.replicas": "2"})
    name = "min.insync.replicas"
    assert config.entry(name) == (name, "2", ConfigSource.STATIC_BROKER)
    config.replace_dynamic(ConfigSources({}, {name: "3"}))
    assert config.get_int(name) == 3
    config.replace_dynamic(ConfigSources({name: "4"}, {name: "3"}))
    assert [entry.value for entry in config.entries(name)] == ["4", "3", "2", "1"]
    assert config.topic_value({}, name) == "4"
    assert config.topic_value({name: "5"}, name) == "5"


def test_topic_settings_fall_back_to_older_broker_names() -> None:
    assert NodeConfig("4.3", {}).topic_value({}, "retention.ms") == "604800000"
    assert NodeConfig("4.3", {"log.retention.hours": "2"}).topic_value({}, "retention.ms") == "7200000"
    both = {"log.retention.hours": "2", "log.retention.ms": "5"}
    assert NodeConfig("4.3", both).topic_value({}, "retention.ms") == "5"


def test_a_bad_static_setting_is_refused_immediately() -> None:
    with pytest.raises(InvalidSetting, match=r"Not a number of type INT"):
        NodeConfig("4.3", {"num.partitions": "some"})


@pytest.mark.parametrize(("brokers", "replication", "min_isr"), [(1, "1", "1"), (2, "2", "2"), (5, "3", "2")])
def test_internal_topics_fit_the_cluster(brokers: int, replication: str, min_isr: str) -> None:
    settings = node_settings(1, brokers)
    assert settings["transaction.state.log.replication.factor"] == replication
    assert settings["transaction.state.log.min.isr"] == min_isr
    assert (
        node_settings(1, brokers, overrides={"transaction.state.log.min.isr": "1"})["transaction.state.log.min.isr"]
        == "1"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("listeners", "--port-base"),
        ("log.dirs", "--data-dir"),
        ("listener.name.internal.sasl.enabled.mechanisms", "--sasl"),
        ("node.id", "numbers its nodes"),
        ("transaction.max.timout.ms", "'transaction.max.timeout.ms'"),
        ("inter.broker.protocol.version", "are available"),
    ],
)
def test_a_setting_that_would_have_no_effect_is_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_user_settings({name: "1"}, "4.3")
    assert name in refused.value.what
    assert words in f"{refused.value.why} {refused.value.next_step}"


def test_tiered_storage_cannot_be_enabled() -> None:
    check_user_settings({"remote.log.storage.system.enable": "false"}, "4.3")
    with pytest.raises(UsageError, match="cannot be true"):
        check_user_settings({"remote.log.storage.system.enable": "true"}, "4.3")


def test_settings_of_the_release_and_authorizer_are_accepted() -> None:
    check_user_settings({"inter.broker.protocol.version": "3.9", "super.users": "User:a"}, "3.9")
    check_user_settings({"unstable.api.versions.enable": "true", "authorizer.class.name": ""}, "4.3")


@pytest.mark.parametrize(
    ("text", "node"), [("kill 2", 2), ("kill node=broker-2", 2), ("kill controller-100", 100), ("kill node-1", 1)]
)
def test_a_node_has_the_name_of_its_logs(text: str, node: int) -> None:
    assert parse_order(text.split()).node == node


@pytest.mark.parametrize("word", ["broker-", "topic-2", "broker-x", "-2"])
def test_other_names_are_not_nodes(word: str) -> None:
    with pytest.raises(UsageError, match="is not a value of node"):
        parse_order(["kill", f"node={word}"])


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
@pytest.mark.parametrize("scope", ["broker", "topic"])
def test_the_tables_of_knowledge_have_the_same_facts(release: str, scope: str) -> None:
    """The sandbox cannot import knowledge: the two tables are held to each other, setting by setting."""
    major, minor = map(int, release.split("."))
    spans = {
        name: (span, parameter.type)
        for name, parameter in load_tables()[scope].parameters.items()
        if not parameter.alias and (span := parameter.at((major, minor))) is not None
    }
    own = getattr(setting_table(release), scope)
    assert {name for name, setting in own.items() if not setting.internal} <= spans.keys() <= own.keys()
    for name, (span, kind) in spans.items():
        assert span.bounds == own[name].valid, name
        # Knowledge has one type for all releases: these became lists or integers in 4.x.
        became = {("list", "string"), ("int", "short")}
        assert kind == own[name].type.name.lower() or (kind, own[name].type.name.lower()) in became, name
        assert span.default == own[name].default or name in MACHINE_DEPENDENT, name
