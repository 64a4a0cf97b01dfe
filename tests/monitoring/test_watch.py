"""Derived values come of one reading or two; `metrics watch` shows the worst program's, with their course."""

from __future__ import annotations

import json

import pytest

from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.model.metric_page import MetricPage
from eosctl.model.metric_reading import Looks
from eosctl.monitoring.derived import DERIVED, derive_values
from eosctl.monitoring.watching import observe_metrics
from eosctl.render.metrics.watch import render_metric_frame
from eosctl.render.page import Style
from eosctl.render.transactions.watch import sparkline
from tests.commands.conftest import eosctl
from tests.monitoring.endpoints import Answer, served

REQUESTS = 'kafka_network_RequestMetrics_{}{{name="RequestsPerSec",request="{}",version="3"}} {}\n'
ERRORS = 'kafka_network_RequestMetrics_{}{{name="ErrorsPerSec",request="{}",error="{}"}} {}\n'
LAG = 'kafka_cluster_Partition_Value{{name="LastStableOffsetLag",topic="{0}",partition="0"}} {1}\n'
END = 'kafka_log_Log_Value{{name="LogEndOffset",topic="{0}",partition="0"}} {1}\n'
QUEUE = 'kafka_coordinator_transaction_TransactionMarkerChannelManager_Value{{name="{}"}} {}\n'
UNVERIFIED = 'kafka_server_AddPartitionsToTxnManager_Count{{name="VerificationFailureRate"}} {}\n'
COMMIT_TIME = 'kafka_producer_producer_metrics_txn_commit_time_ns{{client_id="{}"}} {}\n'
THREAD = 'kafka_streams_stream_thread_metrics_{}{{thread_id="{}"}} {}\n'
DONE = 'eosctl_transactions_completed_total{{outcome="{}"}} {}\n'


def page(text: str, at_s: int = 0, source: str = "b1") -> MetricPage:
    return MetricPage(source, at_s * 1000, tuple(parse_samples(text)))


def derived(looks: Looks) -> dict[str, tuple[float, bool | None]]:
    return {one.metric.name: (one.value, one.is_bad) for one in derive_values(looks)}


def test_one_poll_has_the_rates_that_kafka_keeps() -> None:
    text = (
        REQUESTS.format("Count", "EndTxn", 9000)
        + REQUESTS.format("OneMinuteRate", "EndTxn", 12.5)
        + ERRORS.format("Count", "InitProducerId", "PRODUCER_FENCED", 60)
        + ERRORS.format("OneMinuteRate", "InitProducerId", "PRODUCER_FENCED", 0.5)
        + ERRORS.format("OneMinuteRate", "EndTxn", "INVALID_PRODUCER_EPOCH", 0.25)
        + ERRORS.format("OneMinuteRate", "EndTxn", "NONE", 12)
        + QUEUE.format("UnknownDestinationQueueSize", 2)
        + QUEUE.format("LogAppendRetryQueueSize", 1)
    )
    found = derived(Looks((page(text),)))
    assert found["transaction-rate"] == (12.5, None)
    assert found["fencing-rate"] == (0.75, True)
    assert found["marker-backlog"] == (3, True)
    assert "lso-lag-time" not in found


def test_two_polls_have_the_rates_between_them() -> None:
    before = REQUESTS.format("Count", "EndTxn", 100) + ERRORS.format("Count", "EndTxn", "NONE", 100)
    after = (
        REQUESTS.format("Count", "EndTxn", 150)
        + REQUESTS.format("OneMinuteRate", "EndTxn", 999)
        + ERRORS.format("Count", "EndTxn", "NONE", 150)
        # The bean of an error appears with its first answer.
        + ERRORS.format("Count", "EndTxn", "PRODUCER_FENCED", 1)
    )
    found = derived(Looks((page(after, 10),), (page(before, 0),)))
    assert found["transaction-rate"] == (5, None)
    assert found["fencing-rate"] == (0.1, False)


def test_a_program_that_was_started_again_counts_from_zero() -> None:
    before, after = REQUESTS.format("Count", "EndTxn", 1000), REQUESTS.format("Count", "EndTxn", 20)
    assert derived(Looks((page(after, 10),), (page(before, 0),)))["transaction-rate"] == (2, None)


def test_rates_of_programs_add_up_with_their_own_clocks() -> None:
    looks = Looks(
        (page(REQUESTS.format("Count", "EndTxn", 10), 10), page(REQUESTS.format("Count", "EndTxn", 10), 5, "b2")),
        (page(REQUESTS.format("Count", "EndTxn", 0), 0), page(REQUESTS.format("Count", "EndTxn", 0), 0, "b2")),
    )
    assert derived(looks)["transaction-rate"] == (3, None)


def test_the_unstable_end_is_shown_in_the_partitions_traffic() -> None:
    before = LAG.format("a", 0) + END.format("a", 0) + LAG.format("b", 0) + END.format("b", 0) + END.format("c", 7)
    after = (
        LAG.format("a", 90) + END.format("a", 100) + LAG.format("b", 50) + END.format("b", 5)
        + LAG.format("c", 1000) + END.format("c", 7)
    )  # fmt: skip
    (value,) = [
        one
        for one in derive_values(Looks((page(after, 10),), (page(before),)))
        if one.metric.name == "lso-lag-time"
    ]  # fmt: skip
    # 90 offsets at 10/s are 9 s, 50 at 0.5/s are 100 s; a partition without writes has no traffic to wait for.
    assert (value.value, dict(value.where)["topic"], value.is_bad) == (100, "b", True)


def test_fenced_and_early_transactions_are_not_unverified_writes() -> None:
    def look(at_s: int, early: int, fenced: int, unknown: int) -> MetricPage:
        errors = {"CONCURRENT_TRANSACTIONS": early, "PRODUCER_FENCED": fenced, "TRANSACTION_ABORTABLE": unknown}
        return page(
            UNVERIFIED.format(early + fenced + unknown)
            + REQUESTS.format("Count", "AddPartitionsToTxn", 10 * at_s)
            + "".join(ERRORS.format("Count", "AddPartitionsToTxn", error, n) for error, n in errors.items()),
            at_s,
        )

    well = derived(Looks((look(10, 30, 20, 0),), (look(0, 0, 0, 0),)))
    assert well["unverified-write-rate"] == (0, False)
    assert well["concurrent-transactions-ratio"] == (0.3, True)
    assert derived(Looks((look(10, 0, 0, 5),), (look(0, 0, 0, 0),)))["unverified-write-rate"] == (0.5, True)


def test_commits_are_compared_with_their_interval() -> None:
    streams = (
        THREAD.format("commit_latency_avg", "t1", 80) + THREAD.format("commit_rate", "t1", 10)
        + THREAD.format("commit_latency_avg", "t2", "NaN") + THREAD.format("commit_rate", "t2", 0)
    )  # fmt: skip
    before, after = COMMIT_TIME.format("p", 0), COMMIT_TIME.format("p", 2_000_000_000)
    found = derived(Looks((page(streams + after, 10),), (page(before),)))
    assert found["streams-commit-share"] == (0.8, True)
    assert found["producer-commit-share"] == (0.2, False)


def test_aborts_come_from_the_transaction_log() -> None:
    before = DONE.format("committed", 100) + DONE.format("aborted", 3) + DONE.format("timed-out", 0)
    after = DONE.format("committed", 170) + DONE.format("aborted", 23) + DONE.format("timed-out", 10)
    value, is_bad = derived(Looks((page(after, 10),), (page(before),)))["abort-ratio"]
    assert (value, is_bad) == (pytest.approx(0.3), True)


def test_nothing_is_derived_from_nothing() -> None:
    assert derive_values(Looks((page("up 1\n"),))) == ()
    assert len({metric.name for metric in DERIVED}) == len(DERIVED)


def test_the_worst_program_is_shown_with_problems_first() -> None:
    idle = 'kafka_network_SocketServer_Value{{name="NetworkProcessorAvgIdlePercent"}} {}\n'
    now = (page(idle.format(0.9) + LAG.format("a", 5)), page(idle.format(0.1) + LAG.format("a", 4), source="b2"))
    moment = observe_metrics(0, Looks(now))
    assert [(one.name, one.value, one.source, one.is_bad) for one in moment.values] == [
        ("NetworkProcessorAvgIdlePercent", 0.1, "b2", True),
        ("LastStableOffsetLag", 5, "b1", None),
    ]
    assert [one.is_bad for one in observe_metrics(0, Looks(now), limits={"LastStableOffsetLag": 4}).values] == [
        True
    ] * 2


@pytest.mark.parametrize("width", [40, 62, 90, 150])
def test_a_frame_fits_the_terminal(width: int) -> None:
    moments = [
        observe_metrics(
            number, Looks((page(LAG.format("a" * 30, number) + QUEUE.format("LogAppendRetryQueueSize", 0)),))
        )
        for number in range(200)
    ]
    frame = render_metric_frame(moments, 10, Style(width=width))
    assert max(map(len, frame.splitlines())) <= width
    assert "LastStable" in frame
    assert "█" in frame
    assert ("WHERE" in frame) == (width >= 110)


def test_rows_that_do_not_fit_are_counted() -> None:
    text = "".join(LAG.format("a", 1) + QUEUE.format(name, 0) for name in ("LogAppendRetryQueueSize",))
    frame = render_metric_frame([observe_metrics(0, Looks((page(text),)))], 1)
    assert "more, none of them bad" in frame


def test_a_course_has_blanks_where_nothing_was_read() -> None:
    assert sparkline([0, None, 0.5, 1.0]) == "▁ ▄█"
    assert sparkline([None]) == " "
    assert sparkline([0.0, 0.0]) == "▁▁"


def test_lost_programs_are_reported_and_watching_continues() -> None:
    counts = iter(range(1000))

    def answer(_: object) -> Answer:
        number = next(counts)
        if number == 1:
            return Answer("", 503)
        return Answer(REQUESTS.format("Count", "EndTxn", 10 * number) + QUEUE.format("LogAppendRetryQueueSize", 0))

    with served(answer) as url:
        done = eosctl("metrics", "watch", url + "/metrics", "--interval", "1ms", "--count", "4", "-o", "json")
    assert done.code == 0
    moments = [json.loads(line) for line in done.out.splitlines()]
    assert [moment["unread"] for moment in moments] == [[], [f"{url}/metrics"], [], []]
    names = [{one["metric"] for one in moment["metrics"]} for moment in moments]
    assert ["transaction-rate" in one for one in names] == [False, False, False, True]


def test_watch_refuses_what_it_cannot_do() -> None:
    assert eosctl("metrics", "watch", "http://127.0.0.1:1/metrics", "-o", "tsv").code == 2
    assert eosctl("metrics", "watch", "http://127.0.0.1:1/metrics", "--count", "1").code == 1
    with served(lambda _: Answer(QUEUE.format("LogAppendRetryQueueSize", 1))) as url:
        done = eosctl("metrics", "watch", url + "/metrics", "--count", "1")
    assert done.code == 0
    assert "2 beyond their limits" in done.out
