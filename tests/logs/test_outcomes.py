"""The severity of incidents follows from what the logs show of their outcome."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.severity import Severity
from tests.logs.judging import judge

STREAM = (
    "2026-03-01 10:{} {} [fold-1-StreamThread-2] o.a.k.s.p.internals.StreamThread - stream-thread "
    "[fold-1-StreamThread-2] {}\n"
)
FENCED = STREAM.format(
    "00:30,973",
    "WARN ",
    "Detected that the thread is being fenced. This implies that this thread missed a rebalance and dropped out of the "
    "consumer group. Will close out all assigned tasks as zombies and rejoin the consumer group.\n"
    "org.apache.kafka.streams.errors.TaskMigratedException: Error encountered sending record to topic a-changelog\n"
    "Caused by: org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an "
    "old epoch.",
)
RUNNING = STREAM.format("00:51,655", "INFO ", "State transition from PARTITIONS_ASSIGNED to RUNNING")
COMMIT = "2026-03-01 10:{} {} [main] Pusher - [Producer clientId=p, transactionalId=rate-1] {}\n"
TIMED_OUT = COMMIT.format(
    "01:00,000",
    "WARN ",
    "commit failed\norg.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting "
    "EndTxn(COMMIT)",
)
RETRIED = COMMIT.format("01:02,000", "INFO ", "retrying commit, attempt 2")
SENT = COMMIT.format("01:20,000", "INFO ", "921 records in 60 ms")
REFUSED = (
    "2026-03-01 10:{} ERROR [net] o.a.k.c.NetworkClient - [Producer clientId=p, transactionalId=probe] Connection to "
    "node -1 (kb/10.0.0.1:9093) failed authentication due to: Authentication failed during authentication due to "
    "invalid credentials with SASL mechanism SCRAM-SHA-512\n"
)
BEGAN = "2026-03-01 10:{} INFO  [main] com.example.Probe - 40 records\n"


def test_a_streams_thread_that_runs_again_is_a_warning(tmp_path: Path) -> None:
    (stopped,) = judge(tmp_path / "stopped", {"fold.log": FENCED})
    (found,) = judge(tmp_path / "running", {"fold.log": FENCED + RUNNING})
    assert (stopped.severity, found.severity) == (Severity.ERROR, Severity.WARNING)
    assert "running again at 2026-03-01T10:00:51.655Z" in found.explanation
    assert found.evidence[-1].line == 4
    assert found.t_end_ms == stopped.t_end_ms


POLLED_LATE = STREAM.format(
    "00:20,100",
    "WARN ",
    "[Consumer clientId=fold-1-StreamThread-2-consumer, groupId=fold] consumer poll timeout has expired. This means "
    "the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms",
)
RESTORED = STREAM.format("00:51,600", "INFO ", "task [0_3] Restored and ready to run")


def test_a_thread_that_rejoins_has_its_tasks(tmp_path: Path) -> None:
    (stopped,) = judge(tmp_path / "stopped", {"fold.log": POLLED_LATE})
    (found,) = judge(tmp_path / "running", {"fold.log": POLLED_LATE + RESTORED + RUNNING})
    assert (stopped.severity, "running again" in found.explanation) == (Severity.ERROR, True)
    assert (found.kind, found.subject["task"]) == ("task_migrated", "0_3")
    (again,) = judge(tmp_path / "again", {"fold.log": POLLED_LATE + RUNNING + POLLED_LATE.replace("00:20", "01:20")})[
        -1:
    ]
    assert "running again" not in again.explanation


def test_a_thread_that_is_fenced_again_has_not_recovered(tmp_path: Path) -> None:
    again = FENCED.replace("10:00:30", "10:01:30")
    found = judge(tmp_path, {"fold.log": FENCED + RUNNING + again})
    assert max(found, key=lambda one: one.t_end_ms).severity is Severity.ERROR


def test_a_commit_that_was_retried_is_a_warning(tmp_path: Path) -> None:
    (lost,) = judge(tmp_path / "lost", {"push.log": TIMED_OUT + SENT})
    (found,) = judge(tmp_path / "retried", {"push.log": TIMED_OUT + RETRIED + SENT})
    failed = RETRIED + TIMED_OUT.replace("01:00,000", "02:02,000")
    (again,) = judge(tmp_path / "again", {"push.log": TIMED_OUT + failed})
    assert (lost.severity, found.severity, again.severity) == (Severity.ERROR, Severity.WARNING, Severity.ERROR)
    assert "retried at 2026-03-01T10:01:02.000Z" in found.explanation


def test_a_program_that_stopped_working_is_critical(tmp_path: Path) -> None:
    refused = "".join(REFUSED.format(f"30:{second:02},000") for second in range(0, 50, 5))
    (from_start,) = judge(tmp_path / "start", {"probe.log": refused})
    (found,) = judge(tmp_path / "later", {"probe.log": BEGAN.format("00:00,000") + refused})
    (over,) = judge(tmp_path / "over", {"probe.log": BEGAN.format("00:00,000") + refused + BEGAN.format("45:00,000")})
    assert (from_start.severity, found.severity, over.severity) == (Severity.ERROR, Severity.CRITICAL, Severity.ERROR)


def test_a_dead_producer_that_is_used_on_is_critical(tmp_path: Path) -> None:
    fatal = (
        "%1|1772359200.314|FATAL|ingest#producer-1| [thrd:kb:9094/4]: Fatal error: Broker: Broker received an out of "
        "order sequence number: ProduceRequest for meters [1] with 4 message(s) failed due to sequence "
        "desynchronization with broker 4 (PID{Id:330,Epoch:0}, base seq 18, idemp state change 91ms ago)\n"
    )
    used = "2026-03-01T10:{}Z ingest ERROR sink: produce() raised: KafkaError{{code=_FATAL,val=-150}}\n"
    (once,) = judge(tmp_path / "once", {"ingest.log": fatal})
    (found,) = judge(
        tmp_path / "on", {"ingest.log": fatal + "".join(used.format(f"0{minute}:38.402") for minute in range(1, 3))}
    )
    assert (once.kind, once.severity) == (found.kind, Severity.ERROR) == ("out_of_order_sequence", Severity.ERROR)
    assert found.severity is Severity.CRITICAL
    assert found.subject["client.id"] == "ingest"
    assert "kept using it until 2026-03-01T10:02:38.402Z" in found.explanation
