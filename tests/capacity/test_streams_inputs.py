"""Tasks and internal topics of Kafka Streams applications: what one sub-topology reads together, what is purged."""

from __future__ import annotations

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_plan import CapacityPlan
from tests.capacity.workloads import schema_errors

REGISTRATION = "shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000007-topic"
RESPONSE = "shop-named-subscription-response-topic"
ORDERS, CUSTOMERS, THREADS = 48, 24, 96
JOINED = f"[[orders, {RESPONSE}], [customers, {REGISTRATION}]]"


def join_text(reads: str = JOINED, threads: int = THREADS) -> str:
    """Return a workload with a join by a foreign key: two sub-topologies with two topics each."""
    return f"""\
apiVersion: eosctl/v1
kind: Workload
name: shop
cluster: {{brokers: 6}}
topics:
  orders: {{partitions: {ORDERS}, rate: 20000/s, value: 600 B}}
  customers: {{partitions: {CUSTOMERS}, rate: 200/s, value: 2 KB, cleanup: compact, live: 20 GB}}
  {REGISTRATION}: {{partitions: {CUSTOMERS}, rate: 20000/s, key: 32 B, value: 40 B}}
  {RESPONSE}: {{partitions: {ORDERS}, rate: 20000/s, key: 16 B, value: 2 KB}}
applications:
  shop:
    kind: streams
    producers: {threads}
    commit_interval: 500 ms
    reads: {reads}
    writes: {{{REGISTRATION}: auto, {RESPONSE}: auto}}
"""


def plan(text: str) -> CapacityPlan:
    return plan_capacity(parse_workload(text, "w.yaml"))


def test_topics_of_one_sub_topology_share_its_tasks() -> None:
    alone = f"[orders, {RESPONSE}, customers, {REGISTRATION}]"
    assert plan(join_text()).applications[0].task_count == ORDERS + CUSTOMERS
    assert plan(join_text(alone)).applications[0].task_count == 2 * (ORDERS + CUSTOMERS)


def test_threads_without_a_task_commit_nothing() -> None:
    tasks = ORDERS + CUSTOMERS
    busy, idle = plan(join_text(threads=tasks)), plan(join_text(threads=THREADS))
    assert busy.transactions_per_s == pytest.approx(2 * tasks, rel=1e-6)
    assert idle.transactions_per_s == busy.transactions_per_s
    assert idle.applications[0].producer_entries == busy.applications[0].producer_entries
    assert "shop: producers" in {advice.setting for advice in idle.advice}
    assert "shop: producers" not in {advice.setting for advice in busy.advice}


def test_topics_of_joins_by_a_foreign_key_are_purged() -> None:
    stored = {topic.name: topic.stored_bytes for topic in plan(join_text()).topics}
    assert stored[RESPONSE] < stored["orders"] / 100
    assert stored[REGISTRATION] < stored["orders"] / 100


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ((JOINED, f"[[orders, orders], customers, {REGISTRATION}]"), "orders is read twice"),
        ((JOINED, "[[orders, custmers]]"), "'custmers' is none of the topics; did you mean customers?"),
        (("kind: streams", "kind: consume-process-produce"), "has no sub-topologies to list"),
    ],
)
def test_wrong_sub_topologies_are_refused(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(ConfigFileError) as refused:
        parse_workload(join_text().replace(*change), "w.yaml")
    assert complaint in refused.value.why


def test_editors_accept_sub_topologies() -> None:
    assert schema_errors(join_text()) == []
    assert schema_errors(join_text().replace("kind: streams", "kind: consume-process-produce"))
    assert schema_errors(join_text(f"[[orders, {RESPONSE}], []]"))
