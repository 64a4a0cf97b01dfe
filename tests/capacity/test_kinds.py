"""Plans of applications whose transactions are not those of Kafka Streams: Flink, Connect, short-lived producers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from eosctl.capacity.grades import plan_with_grades
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.template import write_template
from eosctl.capacity.workload_file import parse_workload
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_plan import ApplicationPlan, CapacityPlan, Grade
from eosctl.model.workload import ApplicationKind

SUBTASKS, PARTITIONS, COPIES = 64, 64, 3
CHECKPOINTS_A_DAY, DAYS_OF_IDS = 24 * 60, 7


@dataclass(frozen=True)
class Sink:
    """A Flink sink of 64 subtasks into 64 partitions, with a checkpoint every minute."""

    naming: str = "incrementing"
    cluster: str = "brokers: 3"
    more: str = ""

    def text(self) -> str:
        return f"""\
apiVersion: eosctl/v1
kind: Workload
name: sink
cluster: {{{self.cluster}}}
topics:
  output: {{partitions: {PARTITIONS}, rate: 100000/s, key: 16 B, value: 500 B}}
applications:
  job:
    kind: flink
    producers: {SUBTASKS}
    commit_interval: 60 s
    naming: {self.naming}
    transaction_timeout: 15 min
    writes: {{output: auto}}
    {self.more}
"""

    def plan(self) -> CapacityPlan:
        return plan_capacity(parse_workload(self.text(), "sink.yaml"))

    def job(self) -> ApplicationPlan:
        return self.plan().applications[0]


def settings(plan: CapacityPlan) -> dict[str, str]:
    return {advice.setting: advice.value for advice in plan.advice}


@pytest.mark.parametrize("release", ["1.17", "3.4", "3.4.0"])
def test_connectors_before_4_have_no_other_naming(release: str) -> None:
    sink = Sink(more=f'connector: "{release}"', cluster="brokers: 3, heap: 6 GiB")
    unstated = parse_workload(sink.text().replace("    naming: incrementing\n", ""), "sink.yaml")
    assert unstated.applications[0].renews_ids
    assert "applications.job.naming" not in {assumption.path for assumption in unstated.assumptions}
    with pytest.raises(ConfigFileError, match="naming pooling needs connector"):
        parse_workload(sink.text().replace("incrementing", "pooling"), "sink.yaml")
    advice = next(one for one in sink.plan().advice if one.setting == "job: TransactionNamingStrategy")
    assert f"connector {release} has no other" in advice.reason


@pytest.mark.parametrize(("live", "partitions"), [("1 MB", 25), ("3200 B", 4), ("400 B", 1)])
@pytest.mark.parametrize("kind", ["connect", "mirror"])
def test_a_source_task_writes_offsets_of_its_own_partitions(kind: str, live: str, partitions: int) -> None:
    """Four tasks; an offset has 200 B, so 3200 B are four source partitions for each task."""
    text = f"""\
kind: Workload
name: source
cluster: {{brokers: 3, transaction_version: 1}}
topics:
  output: {{partitions: 8, rate: 100/s, value: 100 B}}
  offsets: {{partitions: 25, rate: 4/s, key: 120 B, value: 80 B, cleanup: compact, live: {live}}}
applications:
  source: {{kind: {kind}, producers: 4, commit_interval: 1 s, writes: {{output: 8, offsets: 1}}}}
"""
    (application,) = plan_capacity(parse_workload(text, "source.yaml")).applications
    assert application.producer_entries == 4 * (8 + partitions) * COPIES


def test_connectors_from_4_on_have_both_namings() -> None:
    sink = Sink(more='connector: "4.0"')
    unstated = parse_workload(sink.text().replace("    naming: incrementing\n", ""), "sink.yaml")
    assert "applications.job.naming" in {assumption.path for assumption in unstated.assumptions}
    pooling = parse_workload(sink.text().replace("incrementing", "pooling"), "sink.yaml")
    assert plan_capacity(pooling).applications[0].transactional_ids == 2 * SUBTASKS


@pytest.mark.parametrize("release", ["4", "2.0", "6.0", "four"])
def test_other_connectors_are_refused(release: str) -> None:
    with pytest.raises(ConfigFileError, match="is not a release"):
        parse_workload(Sink(more=f'connector: "{release}"').text(), "sink.yaml")


def test_a_new_id_per_checkpoint_keeps_producer_state_for_a_day() -> None:
    assert Sink().job().producer_entries == SUBTASKS * CHECKPOINTS_A_DAY * PARTITIONS * COPIES


def test_coordinators_keep_the_ids_of_a_week() -> None:
    in_use = 2 * SUBTASKS
    assert Sink().job().transactional_ids == in_use + SUBTASKS * CHECKPOINTS_A_DAY * DAYS_OF_IDS


def test_pooling_keeps_two_ids_for_each_subtask() -> None:
    job = Sink("pooling").job()
    assert job.transactional_ids == 2 * SUBTASKS
    assert job.producer_entries == pytest.approx(2 * SUBTASKS * PARTITIONS * COPIES, rel=0.05)


def test_concurrent_checkpoints_hold_more_ids_of_a_pool() -> None:
    assert Sink("pooling", more="concurrent_checkpoints: 3").job().transactional_ids == 4 * SUBTASKS


def test_a_sink_that_fills_the_heap_is_advised_to_pool() -> None:
    assert settings(Sink().plan())["job: TransactionNamingStrategy"] == "POOLING"
    assert "job: TransactionNamingStrategy" not in settings(Sink("pooling").plan())


def test_a_timeout_below_checkpoint_and_restart_is_raised() -> None:
    assert settings(Sink(more="longest_pause: 20 min").plan())["job: transaction.timeout.ms"] == "1261000"
    assert "job: transaction.timeout.ms" not in settings(Sink(more="longest_pause: 1 s").plan())


def test_readers_wait_for_the_checkpoint_too() -> None:
    quick, slow = (Sink(more=f"checkpoint_duration: {text}").job() for text in ("1 s", "31 s"))
    assert slow.visible_p50_ms == pytest.approx(quick.visible_p50_ms + 30_000)


def test_flinks_own_timeout_is_more_than_brokers_allow() -> None:
    text = Sink().text().replace("    transaction_timeout: 15 min\n", "")
    with pytest.raises(ConfigFileError, match="contradiction") as refused:
        parse_workload(text, "sink.yaml")
    assert "INVALID_TRANSACTION_TIMEOUT" in refused.value.why


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("producer", "naming: pooling"),
        ("flink", "group_id: 5 B"),
        ("connect", "reads: [output]"),
        ("mirror", "reads: [output]"),
    ],
)
def test_settings_of_another_kind_are_refused(kind: str, line: str) -> None:
    text = Sink(more=line).text().replace("    naming: incrementing\n", "").replace("kind: flink", f"kind: {kind}")
    with pytest.raises(ConfigFileError) as refused:
        parse_workload(text, "sink.yaml")
    assert f"kind {kind}" in refused.value.why


@pytest.mark.parametrize("kind", list(ApplicationKind))
def test_a_template_of_each_kind_can_be_planned(kind: ApplicationKind) -> None:
    answers = {
        "cluster.brokers": "3",
        "topic.partitions": "12",
        "topic.rate": "1000/s",
        "topic.value": "1 KiB",
        "application.producers": "6",
        "application.commit_interval": "2 s",
    }
    plan = plan_capacity(parse_workload(write_template("w", kind, answers), "w.yaml"))
    assert plan.applications[0].transactions_per_s == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize("kind", [ApplicationKind.CONNECT, ApplicationKind.MIRROR])
def test_a_source_task_marks_its_offsets_topic_too(kind: ApplicationKind) -> None:
    answers = {
        "cluster.brokers": "3",
        "topic.partitions": "1",
        "topic.rate": "1000/s",
        "topic.value": "1 KiB",
        "application.producers": "6",
        "application.commit_interval": "2 s",
    }
    text = write_template("w", kind, answers)
    assert plan_capacity(parse_workload(text, "w.yaml")).markers_per_s == pytest.approx(6, rel=0.01)


@pytest.mark.parametrize("brokers", ["1", "2"])
def test_a_template_for_few_brokers_is_a_workload(brokers: str) -> None:
    answers = {
        "cluster.brokers": brokers,
        "topic.partitions": "3",
        "topic.rate": "100/s",
        "topic.value": "1 KiB",
        "application.producers": "1",
        "application.commit_interval": "1 s",
    }
    plan = plan_capacity(parse_workload(write_template("w", ApplicationKind.PRODUCER, answers), "w.yaml"))
    assert plan.replication_factor == int(brokers)


def test_a_short_lived_producer_leaves_an_id_per_transaction() -> None:
    text = Sink().text().replace("kind: flink", "kind: short-lived").replace("    naming: incrementing\n", "")
    plan = plan_capacity(parse_workload(text.replace("commit_interval: 60 s", "transactions: 2/s"), "w.yaml"))
    job = plan.applications[0]
    assert job.producer_entries == pytest.approx(2 * 86_400 * PARTITIONS * COPIES)
    assert job.transactional_ids == SUBTASKS + 2 * 86_400 * DAYS_OF_IDS


@pytest.mark.parametrize("naming", ["incrementing", "pooling"])
def test_a_sink_initializes_a_producer_for_each_checkpoint(naming: str) -> None:
    (job,) = plan_capacity(parse_workload(Sink(naming).text(), "w.yaml")).applications
    assert job.initializations_per_s == pytest.approx(SUBTASKS / 60)
    appended = job.transaction_log_appends_per_s - job.transactions_per_s * (job.partition_waves + 2)
    assert appended == pytest.approx(SUBTASKS / 60)


def test_producers_that_take_new_ids_are_to_keep_them() -> None:
    # 200 invocations of a function in a second, each with a random transactional.id and one record.
    text = """
kind: Workload
name: functions
cluster: {brokers: 3, heap: 6 GiB}
topics: {events: {partitions: 12, rate: 200/s, key: 10 B, value: 500 B}}
applications: {fn: {kind: short-lived, producers: 20, transactions: 200/s, writes: {events: 1}}}
"""
    plan = plan_capacity(parse_workload(text, "w.yaml"))
    (function,) = plan.applications
    assert function.producer_entries == 200 * 86_400 * COPIES
    assert function.transactional_ids == 20 + 200 * 86_400 * DAYS_OF_IDS
    figures = {figure.name: figure.value for figure in plan.figures}
    # 330 B were measured for an id without a transaction, on 4.4.0.
    assert figures["heap for transactions"] == pytest.approx(function.transactional_ids * 365, rel=0.01)
    assert plan.advice[0].setting == "fn: transactional.id"
    assert plan.advice[0].urgent


def batches(key: str) -> tuple[float, float]:
    """Return the records of a batch and the partitions of a transaction."""
    text = Sink().text().replace("key: 16 B", f"key: {key}, linger: 20 ms")
    text = text.replace("commit_interval: 60 s", "commit_interval: 20 ms")
    plan = plan_capacity(parse_workload(text, "w.yaml"))
    return plan.topics[0].batch_records, plan.applications[0].data_partitions


def test_records_without_a_key_fill_the_batch_of_one_partition() -> None:
    (keyed, many), (keyless, few) = batches("16 B"), batches("0 B")
    assert keyed < 2
    # All records of a transaction fit into a batch, which is split where the producer leaves a partition in the middle.
    gathered = 1 + 100_000 / SUBTASKS * 0.020
    assert gathered / 2 <= keyless <= gathered
    assert few < 2 < many


def test_a_task_of_mirror_maker_keeps_to_what_it_copies() -> None:
    text = """\
apiVersion: eosctl/v1
kind: Workload
name: mirror
cluster: {brokers: 3, transaction_version: 1}
topics:
  east.orders: {partitions: 64, rate: 25000/s, key: 16 B, value: 700 B}
applications:
  mm2: {kind: mirror, producers: 16, commit_interval: 1 s, writes: {east.orders: 4}}
"""
    assert plan_capacity(parse_workload(text, "w.yaml")).applications[0].producer_entries == 16 * 4 * COPIES


def test_a_value_that_nothing_can_replace_is_known() -> None:
    text = """\
apiVersion: eosctl/v1
kind: Workload
name: one-task
cluster: {brokers: 3, transaction_version: 1}
topics:
  tables: {partitions: 6, rate: 1000/s, value: 700 B}
applications:
  source: {kind: connect, producers: 1, commit_interval: 1 s, writes: {tables: 6}}
"""
    plan = plan_with_grades(parse_workload(text, "w.yaml"))
    grades = {figure.name: figure.grade for figure in list_figures(plan) if figure.section == "cluster"}
    assert (grades["brokers"], grades["transactions"], grades["markers"]) == (Grade.EXACT, Grade.EXACT, Grade.EXACT)


@pytest.mark.parametrize("kind", list(ApplicationKind))
def test_comments_of_a_template_are_apart_from_values(kind: ApplicationKind) -> None:
    answers = {"cluster.brokers": "3", "topic.partitions": "1", "topic.rate": "1/s", "topic.value": "1 KB"}
    text = write_template("w", kind, {**answers, "application.producers": "1", "application.commit_interval": "1 s"})
    assert [line for line in text.splitlines() if "#" in line.lstrip("# ") and " # " not in line.lstrip("# ")] == []
