"""New messages, bursts, precursors of failures, pauses against timeouts, and clock differences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.cli import main
from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.digest.bursts import find_bursts
from eosctl.logs.digest.clocks import compare_clocks
from eosctl.logs.digest.pauses import weigh_pauses
from eosctl.logs.digest.precursors import CAUSES, FAILURES, MIN_FAILURES, rank_precursors
from eosctl.logs.digest.templates import find_templates, template_of
from eosctl.model.log_event import LogEvent


def event(
    category: str,
    time_ms: int | None,
    message: str = "it broke",
    level: str = "ERROR",
    application: str = "relay",
    fields: Mapping[str, str] | None = None,
) -> LogEvent:
    return LogEvent(
        "a.log", time_ms or 0, 1, time_ms, False, level, "", "", application, "", category, fields or {}, None, message
    )


def test_every_category_that_is_named_is_in_the_catalog() -> None:
    assert {category.id for category in load_catalog().categories} >= CAUSES | FAILURES


def test_messages_that_differ_in_values_are_one_template() -> None:
    messages = [
        "[Producer clientId=a-1, transactionalId=pay-3] Failed to append to orders-0 after 120001 ms",
        "[Producer clientId=b, transactionalId=x] Failed to append to invoices-12 after 9 ms",
    ]
    (template,) = find_templates([event("TIMEOUT_SEND", number, text) for number, text in enumerate(messages)])
    assert template.event_count == 2
    assert template.is_new is None
    assert template.text == "[Producer clientId=<*>, transactionalId=<*>] Failed to append to <*> after <*> ms"
    assert template_of("session 3f2504e0-4f89-11d3-9a0c-0305e82c3301 of 'x y' at /var/log/kafka/a.log") == (
        "session <*> of <*> at <*>"
    )


def test_what_the_baseline_does_not_have_is_new_and_comes_first() -> None:
    usual = [event("UNCLASSIFIED", number, f"retry {number} of 5") for number in range(9)]
    found = find_templates([*usual, event("UNCLASSIFIED", 50, "disk is gone")], usual[:1])
    assert [(one.text, one.is_new, one.event_count) for one in found] == [
        ("disk is gone", True, 1),
        ("retry <*> of <*>", False, 9),
    ]


def test_dense_records_are_a_burst_and_sparse_ones_are_not() -> None:
    drip = [event("NOT_LEADER", number * 1_000, level="WARN") for number in range(600)]
    crowd = [event("TIMEOUT_SEND", 300_000 + number * 100) for number in range(30)]
    later = [event("TIMEOUT_SEND", 500_000)]
    (burst,) = find_bursts([*drip, *crowd, *later])
    assert (burst.category, burst.start_ms, burst.end_ms, burst.event_count) == ("TIMEOUT_SEND", 300_000, 302_900, 30)
    assert burst.factor > 100
    assert find_bursts([]) == ()


def test_records_mostly_before_failures_rank_first() -> None:
    failures = [event("TXN_TIMEOUT_ABORT", 100_000 * number) for number in range(1, 10)]
    pauses = [event("GC_PAUSE", 100_000 * number - 2_000) for number in range(1, 9)]
    everywhere = [event("INIT_PRODUCER_ID", number) for number in range(0, 1_000_000, 5_000)]
    ranked = rank_precursors([*failures, *pauses, *everywhere])
    assert [(one.failure, one.cause) for one in ranked.pairs] == [("TXN_TIMEOUT_ABORT", "GC_PAUSE")]
    (pair,) = ranked.pairs
    assert (pair.failure_count, pair.preceded_count, pair.typical_lag_ms) == (9, 8, 2_000)
    assert 9 < pair.lift < 14
    assert [(one.failure, one.unexplained_count, one.failure_count) for one in ranked.unexplained] == [
        ("TXN_TIMEOUT_ABORT", 1, 9)
    ]


def test_the_closer_of_two_equal_precursors_leads() -> None:
    failures = [event("PRODUCER_FENCED", 200_000 * number) for number in range(1, 6)]
    near = [event("EPOCH_BUMP", one.time_ms - 500) for one in failures if one.time_ms]
    far = [event("COORDINATOR_LOAD", one.time_ms - 9_000) for one in failures if one.time_ms]
    assert [one.cause for one in rank_precursors([*failures, *near, *far]).pairs] == ["EPOCH_BUMP", "COORDINATOR_LOAD"]


@given(
    st.lists(
        st.builds(
            event,
            st.sampled_from(sorted(CAUSES | FAILURES)),
            st.none() | st.integers(min_value=0, max_value=200_000),
        ),
        max_size=60,
    )
)
def test_ranks_hold_together(events: list[LogEvent]) -> None:
    ranked = rank_precursors(events)
    for pair in ranked.pairs:
        assert 0 < pair.preceded_count <= pair.failure_count
        assert 0 < pair.expected_share <= 1
        assert pair.lift >= 2
        assert 0 <= pair.typical_lag_ms <= 10_000
    explained = {pair.failure for pair in ranked.pairs}
    counts = Counter(one.category for one in events if one.time_ms is not None and one.category in FAILURES)
    ranked_failures = explained | {one.failure for one in ranked.unexplained}
    assert ranked_failures == {category for category, count in counts.items() if count >= MIN_FAILURES}


def test_a_few_failures_are_not_enough_for_a_ranking() -> None:
    failures = [event("PRODUCER_FENCED", 200_000 * number) for number in range(1, 5)]
    near = [event("EPOCH_BUMP", one.time_ms - 500) for one in failures if one.time_ms]
    assert rank_precursors([*failures, *near]) == ((), ())


def test_a_pause_near_a_timeout_is_reported() -> None:
    events = [
        event("GC_PAUSE", 5, level="", fields={"pause_ms": "31000.5"}),
        event("GC_PAUSE", 6, level="", fields={"pause_ms": "3.2"}),
        event("GC_PAUSE", 7, level="", application="broker-1", fields={"pause_ms": "12.0"}),
        event("CLIENT_CONFIG", 1, level="INFO", fields={"transaction_timeout_ms": "60000"}),
        event("CLIENT_CONFIG", 1, level="INFO", fields={"max_poll_interval_ms": "300000"}),
    ]
    relay, broker = weigh_pauses(events)
    assert (relay.application, relay.pause_count, relay.longest_ms, relay.longest_at_ms) == ("relay", 2, 31000.5, 5)
    assert (relay.nearest, relay.nearest_ms, relay.is_near) == ("transaction.timeout.ms", 60_000, True)
    assert not broker.is_near
    assert weigh_pauses(events[2:3])[0].nearest == ""


def test_every_report_format_shows_a_wrong_time_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(
        "[2026-11-21 09:00:00,000] INFO [TransactionCoordinator id=1] Initialized transactionalId pay-1 with "
        "producerId 4001 and producer epoch 0 on partition __transaction_state-3 "
        "(kafka.coordinator.transaction.TransactionCoordinator)\n"
    )
    (tmp_path / "relay.log").write_text(
        "2026-11-21 10:00:00.021  INFO 4711 --- [main] o.a.k.c.p.internals.TransactionManager : [Producer clientId=a, "
        "transactionalId=pay-1] ProducerId set to 4001 with epoch 0\n"
    )
    for form in ("table", "markdown", "html"):
        assert main(["logs", "report", str(tmp_path), "-o", form, "--static"]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "relay is 1 h ahead of the coordinators (1 producer id on both sides)" in out, form
    assert main(["logs", "report", str(tmp_path), "-o", "json"]) == 0
    clocks = json.loads(capsys.readouterr().out)["digest"]["clocks"]
    assert clocks == [{"application": "relay", "offset_ms": 3_600_021, "pair_count": 1}]


def initialized(producer_id: int, time_ms: int, application: str, partition: str = "") -> LogEvent:
    fields = {"producer_id": str(producer_id), "producer_epoch": "0"}
    if partition:
        fields["coordinator_partition"] = partition
    return event("INIT_PRODUCER_ID", time_ms, level="INFO", application=application, fields=fields)


@given(st.integers(-10_000_000, 10_000_000), st.lists(st.integers(0, 30), min_size=1, max_size=9))
def test_a_clock_is_as_far_off_as_the_ids_that_both_sides_print(offset_ms: int, lags_ms: list[int]) -> None:
    given_out = [initialized(number, number * 60_000, "broker-1", "__transaction_state-3") for number in range(12)]
    got = [initialized(number, number * 60_000 + lag + offset_ms, "relay") for number, lag in enumerate(lags_ms)]
    (relay,) = compare_clocks([*got, *given_out])
    assert relay.pair_count == len(lags_ms)
    assert 0 <= relay.offset_ms - offset_ms <= 30
    if abs(offset_ms) > 2_030:
        assert relay.is_apart


def test_a_wrong_time_zone_is_distinguished_from_a_wrong_clock() -> None:
    given_out = initialized(7, 100_000_000, "broker-1", "__transaction_state-3")
    for offset_ms, like_a_zone in (
        (3_600_040, True),
        (-7_199_990, True),
        (19_800_100, True),
        (95_000, False),
        (0, False),
    ):
        (relay,) = compare_clocks([given_out, initialized(7, 100_000_000 + offset_ms, "relay")])
        assert (relay.is_apart, relay.is_like_a_zone) == (offset_ms != 0, like_a_zone), offset_ms
    assert compare_clocks([initialized(8, 0, "relay"), given_out]) == ()
