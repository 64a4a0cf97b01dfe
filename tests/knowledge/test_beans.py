"""The beans that programs of each release registered agree with the catalog, and each is explained by its names."""

from __future__ import annotations

import pytest

from eosctl.knowledge.beans import Bean, bean_pattern, find_beans, load_beans
from eosctl.knowledge.metrics import load_metrics
from eosctl.model.known_bug import parse_version
from eosctl.model.metric import Metric
from eosctl.model.reference import EntryKind
from eosctl.services.explain import explain
from tests.knowledge.test_metrics import keys_of

#: Registered by controllers of older releases as well, but only with ZooKeeper.
LATE_WITH_KRAFT = {"UncleanLeaderElectionsPerSec": "3.9"}
BRANCHES = list(dict.fromkeys(branch for bean in load_beans() for branch in bean.releases))


def registered() -> dict[tuple[str, frozenset[tuple[str, str]], str], set[str]]:
    found: dict[tuple[str, frozenset[tuple[str, str]], str], set[str]] = {}
    for bean in load_beans():
        for attribute in bean.attributes:
            found.setdefault((bean.component, keys_of(bean.pattern), attribute), set()).update(bean.releases)
    return found


REGISTERED = registered()


def test_all_releases_of_the_lab_were_read() -> None:
    assert BRANCHES[:1] + BRANCHES[-1:] == ["3.3", "4.4"]
    assert len(load_beans()) > 1000


def releases_of(metric: Metric, attribute: str) -> set[str]:
    return REGISTERED.get((metric.component, keys_of(metric.bean), attribute), set())


@pytest.mark.parametrize("metric", load_metrics(), ids=lambda metric: metric.name)
def test_a_metric_is_registered_in_its_releases_only(metric: Metric) -> None:
    for attribute in metric.attributes:
        # What this load does not register in any release is known from longer runs (tests/fixtures/metrics).
        if found := releases_of(metric, attribute):
            since = parse_version(LATE_WITH_KRAFT.get(metric.name, BRANCHES[0]))
            versions = {branch: parse_version(branch) for branch in BRANCHES}
            assert found == {
                branch for branch, version in versions.items() if version >= since and metric.exists_in(version)
            }


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (
            "kafka.server:type=socket-server-metrics,listener=PLAINTEXT,networkProcessor=0",
            "kafka.server:listener={listener},networkProcessor={networkProcessor},type=socket-server-metrics",
        ),
        (
            "kafka.consumer:type=consumer-fetch-manager-metrics,client-id=x fetch-latency-avg",
            "kafka.consumer:client-id={client-id},type=consumer-fetch-manager-metrics",
        ),
        ("AcceptorBlockedPercent", "kafka.network:listener={listener},name=AcceptorBlockedPercent,type=Acceptor"),
        (
            "kafka_producer_producer_metrics_io_wait_time_ns_avg",
            "kafka.producer:client-id={client-id},type=producer-metrics",
        ),
    ],
)
def test_a_bean_is_explained_by_any_of_its_names(text: str, pattern: str) -> None:
    (first, *_) = explain(text).explanations
    assert first.entry.kind is EntryKind.METRIC
    assert first.entry.name.startswith(pattern)
    assert any(fact.label == "releases" and "4.4" in fact.text for fact in first.entry.facts)


def test_a_bean_of_another_name_is_not_explained_as_known() -> None:
    assert find_beans("kafka.server:type=no-such-metrics") == ()
    assert find_beans("kafka.server:type=ReplicaManager,name=NoSuchCount") == ()
    assert find_beans("Count") == ()
    answer = explain("kafka.server:type=socket-server-metric,listener=PLAINTEXT,networkProcessor=0")
    assert answer.explanations == ()
    assert any(name.endswith("type=socket-server-metrics") for name in answer.nearest)


def test_variable_keys_do_not_depend_on_their_values() -> None:
    one = bean_pattern('kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory="/data,1"')
    assert one == "kafka.log:logDirectory={logDirectory},name=LogDirectoryOffline,type=LogManager"
    assert bean_pattern(one) == one


def test_a_bean_has_the_name_of_its_only_metric() -> None:
    assert (
        Bean("broker", "kafka.network:name=IdlePercent,type=Processor", ("Value",), ("4.4",), "").name == "IdlePercent"
    )
