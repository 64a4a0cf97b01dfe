"""Each alert fires on its fault and on nothing else, as promtool evaluates the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.monitoring.alerts import load_alerts, rules_document
from eosctl.monitoring.cluster_gauges import ENDED
from tests.monitoring.promtool import Moment, check_rules, prove_moments, requires_promtool, run_rule_tests

pytestmark = requires_promtool

WHERE = 'job="kafka",instance="b1"'
PLACE = 'topic="orders",partition="0"'
QUIET = "0x400"


def partition(name: str, place: str = PLACE) -> str:
    return f'kafka_cluster_Partition_Value{{{WHERE},name="{name}",{place}}}'


def replicas(name: str) -> str:
    return f'kafka_server_ReplicaManager_Value{{{WHERE},name="{name}"}}'


def requests(request: str, error: str = "") -> str:
    name = f'name="ErrorsPerSec",error="{error}"' if error else 'name="RequestsPerSec"'
    return f'kafka_network_RequestMetrics_Count{{{WHERE},{name},request="{request}"}}'


END_OFFSET = f'kafka_log_Log_Value{{{WHERE},name="LogEndOffset",{PLACE}}}'
LAG = partition("LastStableOffsetLag")
MARKERS = (
    f'kafka_coordinator_transaction_TransactionMarkerChannelManager_Value{{{WHERE},name="LogAppendRetryQueueSize"}}'
)
LOAD_TIME = f"kafka_server_transaction_coordinator_metrics_partition_load_time_max{{{WHERE}}}"
OFFLINE = f'kafka_controller_KafkaController_Value{{{WHERE},name="OfflinePartitionsCount"}}'
CONTROLLER = f'kafka_controller_KafkaController_Value{{{WHERE},name="ActiveControllerCount"}}'
END_TXN_TIME = f'kafka_network_RequestMetrics_99thPercentile{{{WHERE},name="TotalTimeMs",request="EndTxn"}}'
UNVERIFIED = f'kafka_server_AddPartitionsToTxnManager_Count{{{WHERE},name="VerificationFailureRate"}}'
DEAD = f'kafka_log_LogCleaner_Value{{{WHERE},name="DeadThreadCount"}}'
VERDICTS = "eosctl_open_transaction_partitions"
NETWORK_IDLE = f'kafka_network_SocketServer_Value{{{WHERE},name="NetworkProcessorAvgIdlePercent"}}'
HANDLER_IDLE = f'kafka_server_KafkaRequestHandlerPool_OneMinuteRate{{{WHERE},name="RequestHandlerAvgIdlePercent"}}'
FLUSH = f'kafka_log_LogFlushStats_99thPercentile{{{WHERE},name="LogFlushRateAndTimeMs"}}'
PURGATORY = f'kafka_server_DelayedOperationPurgatory_Value{{{WHERE},name="PurgatorySize",delayedOperation="Produce"}}'
TASK = f'{WHERE},thread_id="t",task_id="0_0"'
LATENESS = f"kafka_streams_stream_task_metrics_record_lateness_avg{{{TASK}}}"
DROPS = f"kafka_streams_stream_task_metrics_dropped_records_rate{{{TASK}}}"
COMMIT = f'kafka_streams_stream_thread_metrics_commit_latency_max{{{WHERE},thread_id="t"}}'
FAILED = f'kafka_streams_stream_metrics_failed_stream_threads{{{WHERE},client_id="c"}}'
DROPPED = f'kafka_producer_producer_metrics_record_error_rate{{{WHERE},client_id="c"}}'
INTERNAL = partition("UnderMinIsr", 'topic="__transaction_state",partition="3"')
CONCURRENT = requests("AddPartitionsToTxn", "CONCURRENT_TRANSACTIONS")

#: Alert: the fault's series with the minutes after which it fires, and near misses that must not fire.
CASES: dict[str, tuple[dict[str, str], float, list[dict[str, str]]]] = {
    "EosLateTransactions": (
        {replicas("PartitionsWithLateTransactionsCount"): "0x4 1x60"},
        7,
        [{replicas("PartitionsWithLateTransactionsCount"): "0x4 1x10 0x60"}],
    ),
    # A partition that is written to at 10/s and whose readers stand still; then open transactions of 20 s at most.
    "EosLastStableOffsetStalled": (
        {LAG: "0+150x60", END_OFFSET: "0+150x60"},
        12,
        [{LAG: "0x60", END_OFFSET: "0+150x60"}, {LAG: "0 150 0 150 200 0 150 0 100 200x50", END_OFFSET: "0+150x60"}],
    ),
    "EosCoordinatorLoadSlow": ({LOAD_TIME: "_x3 14000x3 _x20"}, 3, [{LOAD_TIME: "_x3 900x3 _x20"}]),
    "EosCoordinatorLoadVerySlow": ({LOAD_TIME: "_x3 45000x3 _x20"}, 3, [{LOAD_TIME: "_x3 900x3 _x20"}]),
    "EosMarkersStuck": ({MARKERS: "0x4 3x60"}, 8, [{MARKERS: "0x4 3x8 0x60"}]),
    "EosInternalTopicUnderMinIsr": ({INTERNAL: "0x4 1x20"}, 3, [{partition("UnderMinIsr"): "1x20"}]),
    "EosUnderReplicated": (
        {replicas("UnderReplicatedPartitions"): "0x4 5x100"},
        18,
        [{replicas("UnderReplicatedPartitions"): "5x40 0x60"}],
    ),
    "EosPartitionsOffline": ({OFFLINE: "0x4 2x20"}, 3, [{OFFLINE: "0x20"}]),
    "EosNoController": ({CONTROLLER: "1x4 0x20"}, 4, [{CONTROLLER: "1x4 0x3 1x20"}]),
    "EosEndTxnSlow": (
        {END_TXN_TIME: "4000x60", requests("EndTxn"): "0+30x60"},
        12,
        # A percentile that remains from a slow hour, while no producer commits.
        [{END_TXN_TIME: "4000x60", requests("EndTxn"): "30x60"},
         {END_TXN_TIME: "30x60", requests("EndTxn"): "0+30x60"}],
    ),
    "EosFencingStorm": (
        {requests("InitProducerId", "PRODUCER_FENCED"): "0+15x60"},
        12,
        [{requests("InitProducerId", "PRODUCER_FENCED"): "0+1x60"}, {requests("EndTxn", "NONE"): "0+1500x60"}],
    ),
    "EosConcurrentTransactionsHigh": (
        {CONCURRENT: "0+50x90", requests("AddPartitionsToTxn"): "0+100x90"},
        16,
        [{CONCURRENT: "0+5x90", requests("AddPartitionsToTxn"): "0+100x90"}],
    ),
    "EosVerificationFailures": (
        {requests("AddPartitionsToTxn", "TRANSACTION_ABORTABLE"): "0+15x90"},
        16,
        [{UNVERIFIED: "0+15x90", CONCURRENT: "0+15x90", requests("AddPartitionsToTxn"): "0+1000x90"},
         {requests("AddPartitionsToTxn", "INVALID_TXN_STATE"): "3x90"}],
    ),
    "EosProducerIdsGrow": (
        {replicas("ProducerIdCount"): "20000+200x400"},
        90,
        [{replicas("ProducerIdCount"): "20000x400"}, {replicas("ProducerIdCount"): "10+20x400"}],
    ),
    "EosCleanerBlocked": ({DEAD: "0x4 1x100"}, 18, [{DEAD: "0x100"}]),
    "EosNetworkThreadsBusy": ({NETWORK_IDLE: "0.1x60"}, 7, [{NETWORK_IDLE: "0.3x60"}, {NETWORK_IDLE: "0.1x12 0.9x60"}]),
    "EosRequestHandlersBusy": ({HANDLER_IDLE: "0.1x60"}, 7, [{HANDLER_IDLE: "0.2x60"}]),
    "EosLogFlushSlow": ({FLUSH: "4000x60"}, 7, [{FLUSH: "1000x60"}]),
    "EosProduceWaits": (
        {PURGATORY: "5000x60"}, 7, [{PURGATORY: "1000x60"}, {PURGATORY.replace("Produce", "Fetch"): "5000x60"}],
    ),
    "EosStreamsRecordsLate": ({LATENESS: "90000x80"}, 12, [{LATENESS: "60000x80"}]),
    "EosStreamsDropsRecords": ({DROPS: "2x60"}, 7, [{DROPS: "1x60"}]),
    "EosStreamsCommitNearTimeout": ({COMMIT: "9000x60"}, 7, [{COMMIT: "300x60"}]),
    "EosStreamsThreadFailed": ({FAILED: "0x8 1x20"}, 4, [{FAILED: "1x40"}]),
    "EosProducerDropsRecords": ({DROPPED: "0x4 2x20"}, 4, [{DROPPED: "0x40"}]),
    # Ten minutes after a broker is away, and its partition undecided, it fires still.
    "EosHangingTransaction": (
        {VERDICTS + '{status="hanging"}': "0x4 1x12 0x60"}, 12, [{VERDICTS + '{status="hanging"}': "0x4 1x4 0x40"}],
    ),
    "EosTransactionLate": (
        {VERDICTS + '{status="stalled"}': "0x4 1x40"}, 8, [{VERDICTS + '{status="open"}': "3x40"}],
    ),
    "EosUnstableOffsets": (
        {'eosctl_unstable_offsets{group="g"}': "2x90"}, 12,
        [{'eosctl_unstable_offsets{group="g"}': "2x8 stale _x10 1x60"}],
    ),
    "EosTransactionsTimeOut": (
        {ENDED + '{outcome="timed-out"}': "0+30x60"}, 12,
        [{ENDED + '{outcome="committed"}': "0+30x60"}, {ENDED + '{outcome="timed-out"}': "0+10x60"}],
    ),
    "EosTransactionsMany": (
        {'eosctl_transactions{state="Ongoing"}': "10001x60"}, 7,
        [{'eosctl_transactions{state="Ongoing"}': "10000x60"}, {'eosctl_transactions{state="Empty"}': "90000x60"}],
    ),
    "EosExporterBlind": ({"eosctl_up": "1x4 0x40"}, 8, [{"eosctl_up": "1x4 0x8 1x40"}]),
}  # fmt: skip


def test_the_rules_are_those_of_prometheus(tmp_path: Path) -> None:
    done = check_rules(rules_document(), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = {"groups": [{"name": "eosctl", "rules": [{"alert": "A", "expr": "sum by job) (up)"}]}]}
    assert check_rules(broken, tmp_path).returncode != 0


def test_every_alert_has_a_case() -> None:
    assert CASES.keys() == {alert.name for alert in load_alerts()}


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_on_its_fault_alone(name: str, tmp_path: Path) -> None:
    fault, at, near_misses = CASES[name]
    # Growth over a day shows in hours of samples, the other faults in minutes.
    moments = [Moment(fault, at, frozenset({name}), "1m" if name == "EosProducerIdsGrow" else "15s")]
    moments += [moments[0]._replace(series=series, firing=frozenset()) for series in near_misses]
    done = prove_moments(moments, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


KEPT = {alert.name: alert.keep for alert in load_alerts() if alert.keep}


def until(values: str, samples: int) -> str:
    """Return the first samples of a series in promtool's notation, and its end after them."""
    found: list[str] = []
    for word in values.split():
        start, _, more = word.partition("x")
        number, _, step = start.partition("+")
        count = int(more) + 1 if more and number != "_" else int(more or 1)
        rise = float(step or 0)
        found += [number if number == "_" else f"{float(number) + index * rise:g}" for index in range(count)]
    return " ".join([*found[:samples], "stale", "_x200"])


def test_states_that_outlast_a_broker_are_kept() -> None:
    of_exporter = {"EosHangingTransaction", "EosTransactionLate", "EosUnstableOffsets"}
    of_beans = {"EosLateTransactions", "EosLastStableOffsetStalled", "EosMarkersStuck", "EosCleanerBlocked"}
    of_cluster = {"EosInternalTopicUnderMinIsr", "EosPartitionsOffline", "EosNoController"}
    assert dict.fromkeys(of_exporter | of_beans | of_cluster, "15m") == KEPT


@pytest.mark.parametrize("name", KEPT)
def test_an_alert_keeps_firing_while_its_broker_is_away(name: str, tmp_path: Path) -> None:
    fault, at, _ = CASES[name]
    # The case of the hanging transaction shows the kept alert already.
    at = 4 if name == "EosHangingTransaction" else at
    # Until the case of the test above fires, and then the broker is gone with all its series.
    gone = {series: until(values, int(at * 4) + 1) for series, values in fault.items()}
    moments = [Moment(gone, at, frozenset({name})), Moment(gone, at + 10, frozenset({name}))]
    # A rate sees five minutes back, and so does an instant query.
    moments.append(Moment(gone, at + 15 + 7, frozenset()))
    done = prove_moments(moments, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_planted_expectation_is_refused(tmp_path: Path) -> None:
    wrong = Moment({OFFLINE: "0x20"}, 3, frozenset({"EosPartitionsOffline"}))
    assert prove_moments([wrong], tmp_path).returncode != 0


def test_the_alert_names_where_transactions_hang(tmp_path: Path) -> None:
    where = 'job="e",instance="x"'
    (hanging,) = (alert for alert in load_alerts() if alert.name == "EosHangingTransaction")
    series = {
        f'eosctl_open_transaction_partitions{{{where},status="hanging"}}': "2x40",
        f'eosctl_hanging_transaction{{{where},{PLACE},producer_id="7",transactional_id="app"}}': "1x40",
        'eosctl_hanging_transaction{job="e",instance="y",topic="other",partition="1",producer_id="8"}': "1x40",
    }
    expected = {
        "exp_labels": {"job": "e", "instance": "x", "severity": "critical"},
        "exp_annotations": {
            "summary": "2 partitions have a transaction that no coordinator will ever end",
            "description": f"{hanging.description} orders-0 (producer id 7 app) ",
            "next": "eosctl txn hanging",
            "runbook_url": "docs/metrics/alerts.md#eoshangingtransaction",
        },
    }
    test = {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "5m", "alertname": "EosHangingTransaction", "exp_alerts": [expected]}],
    }
    done = run_rule_tests([test], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
