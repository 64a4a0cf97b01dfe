"""Logs that begin at an incident or after its cause: the verdict is the best one that the rest allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"

BROKER = (
    "[2026-11-21 11:{}] INFO [TransactionCoordinator id=1] {} (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
INIT = "Initialized transactionalId pay-7 with producerId 9 and producer epoch 3 on partition __transaction_state-3"
ROLLBACK = "Completed rollback of ongoing transaction for transactionalId pay-7 due to timeout"
LATE = (
    "TransactionalId: pay-7's state is CompleteAbort, but received transaction marker result to send: COMMIT, epoch: 9"
)
FENCED = """\
2026-11-21 11:07:58.301 ERROR [main] a.Relay - cannot commit{}
org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId which \
fences the current one.
"""
NAMED = FENCED.format(", transactional.id=pay-7")
REPLACED = ("producer_fenced", "duplicate-transactional-id")
PAUSED = ("transaction_timeout", "process-pause-beyond-transaction-timeout")


@pytest.mark.parametrize(
    ("broker", "verdict"),
    [
        (BROKER.format("07:55,100", INIT), REPLACED),
        (BROKER.format("01:55,100", INIT) + BROKER.format("07:40,100", ROLLBACK), PAUSED),
        (BROKER.format("07:58,300", LATE), PAUSED),
    ],
    ids=["taken", "rolled back", "late"],
)
def test_the_rest_of_the_coordinators_log_decides(broker: str, verdict: tuple[str, str], tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "named", {"broker-1/server.log": broker, "relay.log": NAMED})
    assert (found.kind, found.root_cause, found.subject["transactional.id"]) == (*verdict, "pay-7")
    (found,) = judge(tmp_path / "nameless", {"broker-1/server.log": broker, "relay.log": FENCED.format("")})
    assert (found.kind, found.root_cause, found.subject["transactional.id"]) == (*verdict, "pay-7")


def test_without_it_another_instance_is_likelier_than_a_rollback(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "named", {"relay.log": NAMED})
    assert (found.kind, found.root_cause, found.subject["transactional.id"]) == (*REPLACED, "pay-7")
    assert found.confidence < 0.6
    (found,) = judge(tmp_path / "nameless", {"relay.log": FENCED.format("")})
    assert (found.kind, found.root_cause, found.subject) == (*REPLACED, {"application": "relay"})


def test_a_message_about_fencing_is_not_a_fencing(tmp_path: Path) -> None:
    text = "2026-11-21 11:07:58.301 INFO [main] a.Relay - a ProducerFencedException closes the producer\n"
    assert judge(tmp_path, {"relay.log": text}) == []


def test_an_id_of_streams_belongs_to_one_process(tmp_path: Path) -> None:
    own = "clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9-1"
    (found,) = judge(tmp_path, {"clicks.log": NAMED.replace("pay-7", own)})
    assert (found.kind, found.root_cause) == PAUSED


def test_a_coordinators_log_shows_a_late_client(tmp_path: Path) -> None:
    broker = BROKER.format("07:40,100", ROLLBACK)
    (found,) = judge(tmp_path, {"broker-1/server.log": broker + BROKER.format("07:58,300", LATE)})
    assert (found.kind, found.root_cause, found.subject) == (*PAUSED, {"transactional.id": "pay-7", "broker": "1"})


@pytest.mark.parametrize("client", ["", "2026-11-21 11:07:50.301 INFO [main] a.Relay - started\n"])
def test_a_rollback_without_a_client_log_has_low_confidence(client: str, tmp_path: Path) -> None:
    broker = BROKER.format("01:55,100", INIT) + BROKER.format("07:40,100", ROLLBACK)
    found = judge(tmp_path, {"broker-1/server.log": broker} | ({"relay.log": client} if client else {}))
    verdicts_found = [((one.kind, one.root_cause), one.subject, one.confidence) for one in found]
    assert verdicts_found == [(PAUSED, {"transactional.id": "pay-7", "broker": "1"}, 0.5)]


def test_a_coordinators_log_alone_shows_a_second_instance(tmp_path: Path) -> None:
    broker = BROKER.format("07:50,100", INIT) + BROKER.format("07:58,300", LATE)
    (found,) = judge(tmp_path, {"broker-1/server.log": broker})
    assert (found.kind, found.root_cause) == REPLACED
    assert found.subject == {"transactional.id": "pay-7", "producerId": "9", "broker": "1"}


def test_an_ended_transaction_of_a_valid_epoch_was_rolled_back(tmp_path: Path) -> None:
    invalid = NAMED.partition("org.")[0] + "org.apache.kafka.common.errors.InvalidTxnStateException: No.\n"
    (found,) = judge(tmp_path, {"relay.log": invalid})
    assert (found.kind, found.root_cause) == PAUSED


def test_a_client_that_waited_for_brokers_need_not_be_fenced(tmp_path: Path) -> None:
    lost = "2026-11-21 11:07:48.301 WARN [io] a.Relay - Expiring 3 record(s) for ledger-1: 120000 ms have passed\n"
    (found,) = judge(tmp_path, {"relay.log": lost + NAMED})
    assert found.kind == "send_timeout"
    assert "Effect (producer_fenced)" in found.explanation


def test_one_client_with_two_files_is_one_incident(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"relay.log": NAMED, "stderr.log": FENCED.format("")})
    assert found.subject["transactional.id"] == "pay-7"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("paused-process-431/relay.log", ("transaction_timeout", "process-pause-beyond-transaction-timeout")),
        ("second-producer-392/relay-a.log", ("producer_fenced", "duplicate-transactional-id")),
    ],
)
def test_a_rejection_without_coordinator_log_has_a_likely_cause(
    name: str, verdict: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "relay.log").write_bytes((FIXTURES / name).read_bytes())
    scan = scan_paths([tmp_path])
    (found,) = judge_incidents(scan.events, scan.sources)
    assert (found.kind, found.root_cause, found.confidence) == (*verdict, 0.5)


THREAD = "clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9-StreamThread-1"
COMMIT = """\
2026-11-21 11:07:58.301 ERROR [main] a.Relay - cannot commit
org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already \
rebalanced and assigned the partitions to another member. This means that the time between subsequent calls to poll() \
was longer than the configured max.poll.interval.ms.
"""
MIGRATED = f"""\
2026-11-21 11:07:58.301 WARN [{THREAD}] o.a.k.s.processor.internals.StreamThread - stream-thread [{THREAD}] Detected \
that the thread is being fenced. This implies that this thread missed a rebalance and dropped out of the consumer group.
"""
EXPIRED = """\
2026-11-21 11:07:50.301 WARN [hb] o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=c, groupId=clicks] consumer \
poll timeout has expired.
"""


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        (COMMIT, "poll_interval_exceeded", {"application": "relay"}),
        (MIGRATED, "task_migrated", {"group": "clicks"}),
    ],
)
def test_a_member_that_is_out_of_its_group_was_slow(
    text: str, kind: str, subject: dict[str, str], tmp_path: Path
) -> None:
    (found,) = judge(tmp_path / "cut", {"relay.log": text})
    assert (found.kind, found.root_cause, found.subject, found.confidence) == (kind, "slow-processing", subject, 0.5)
    (found,) = judge(tmp_path / "whole", {"relay.log": EXPIRED + text})
    assert found.confidence > 0.9
