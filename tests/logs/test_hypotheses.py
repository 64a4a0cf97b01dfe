"""Usual reasons that the rest of the input refutes are not reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Formatter

import pytest

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.remaining.observations import OBSERVATIONS
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

APP = "2026-07-03 {} {:5} [{}] {} - {}\n"
NET = "kafka-producer-network-thread | fees-1"
WHO = "[Producer clientId=fees-1, transactionalId=fees-7]"
PLAIN = "[Producer clientId=fees-1]"
UNMAPPED = (
    "Transiting to fatal error state due to org.apache.kafka.common.errors.InvalidPidMappingException: The producer "
    "attempted to use a producer id which is not currently assigned to its transactional id."
)
BROKER = "[2026-07-03 {}] {} {} ({})\n"


def line(time: str, level: str, text: str, logger: str = "o.a.k.c.p.internals.TransactionManager") -> str:
    return APP.format(time, level, NET, logger, text)


def incidents(folder: Path, text: str, name: str = "fees.log") -> Sequence[Incident]:
    return judge(folder, {name: text})


def test_an_id_in_use_before_has_not_expired(tmp_path: Path) -> None:
    ready = line("08:00:00,000", "INFO", f"{WHO} ProducerId set to 41 with epoch 0")
    lost = line("08:07:00,000", "ERROR", f"{WHO} {UNMAPPED}")
    (one,) = incidents(tmp_path / "used", ready + lost)
    assert one.root_cause == "mapping-lost-by-the-coordinator"
    assert "7 min before" in one.explanation
    assert "Most likely the transactional id expired" not in one.explanation
    (alone,) = incidents(tmp_path / "alone", lost)
    assert alone.root_cause == "idle-longer-than-the-expiration"


def test_an_id_that_was_idle_for_weeks_may_have_expired(tmp_path: Path) -> None:
    ready = line("08:00:00,000", "INFO", f"{WHO} ProducerId set to 41 with epoch 0")
    lost = line("08:07:00,000", "ERROR", f"{WHO} {UNMAPPED}").replace("2026-07-03", "2026-07-13")
    (one,) = incidents(tmp_path, ready + lost)
    assert one.root_cause == "idle-longer-than-the-expiration"


def test_a_producer_without_an_id_has_none_that_expired(tmp_path: Path) -> None:
    sent = line("08:00:00,000", "WARN", f"{PLAIN} Cancelled in-flight PRODUCE request with correlation id 5", "X")
    lost = line("08:00:09,000", "ERROR", f"{PLAIN} {UNMAPPED}")
    found = [one for one in incidents(tmp_path, sent + lost) if one.kind == "transactional_id_expired"]
    assert [one.root_cause for one in found] == ["producer-state-lost-by-the-service"]


def refused(isr: str, least: int) -> str:
    text = "[ReplicaManager broker=2] Error processing append operation on partition fees-3"
    thrown = (
        "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR "
        f"{isr} is insufficient to satisfy the min.isr requirement of {least} for partition fees-3\n"
    )
    times = ("08:00:00,000", "08:00:01,000", "08:00:02,000")
    return "".join(BROKER.format(at, "ERROR", text, "kafka.server.ReplicaManager") + thrown for at in times)


@pytest.mark.parametrize(
    ("isr", "least", "cause"),
    [
        ("Set(2, 5, 9)", 4, "min-isr-above-the-replicas"),
        ("Set(2)", 2, "fewer-replicas-in-sync-than-min-isr"),
        ("Set(2, 5)", 3, "fewer-replicas-in-sync-than-min-isr"),
    ],
)
def test_a_minimum_that_no_isr_can_reach(isr: str, least: int, cause: str, tmp_path: Path) -> None:
    (one,) = incidents(tmp_path, refused(isr, least), "server.log")
    assert one.root_cause == cause
    advice = "start those that are down" if isr == "Set(2)" else "Restart brokers of its replicas"
    assert (advice in one.next_step) is (least < 4)


def test_an_isr_that_has_shrunk_can_grow_again(tmp_path: Path) -> None:
    shrunk = (
        "[Partition fees-3 broker=2] Shrinking ISR from 2,5,9,1 to 2,5,9. Leader: (highWatermark: 5, endOffset: 6)."
    )
    text = BROKER.format("07:59:00,000", "INFO", shrunk, "kafka.cluster.Partition") + refused("Set(2, 5, 9)", 4)
    assert all(one.root_cause != "min-isr-above-the-replicas" for one in incidents(tmp_path, text, "server.log"))


def test_a_coordinator_that_answers_is_reached(tmp_path: Path) -> None:
    say = "2026-07-03T08:00:0{}+0000 {} kafka : {}\n"
    answer = (
        "[GETPID] [thrd:main]: Failed to acquire transactional PID from broker TxnCoordinator/4: Broker: {}: retrying"
    )
    begin = say.format(0, "info   ", "start, transactional.id=fees-7")
    tries = "".join(say.format(at, "warning", answer.format("Request timed out")) for at in range(1, 5))
    end = say.format(6, "error  ", "init_transactions: Failed to initialize Producer ID: Local: Timed out")
    (one,) = incidents(tmp_path, begin + tries + end)
    assert one.root_cause == "initialization-not-completed-by-the-coordinator"
    assert "broker 4" in one.explanation and "cannot be reached" not in one.explanation


def test_a_level_above_the_release_is_not_an_inconsistency(tmp_path: Path) -> None:
    fault = "Encountered fatal fault: Unable to apply FeatureLevelRecord record at offset 77 on standby controller"
    thrown = (
        "java.lang.RuntimeException: Tried to apply FeatureLevelRecord FeatureLevelRecord(name='metadata.version', "
        "featureLevel={}), but this controller only supports versions 1-21\n"
    )
    where = "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler"
    for level, cause in ((25, "feature-level-above-the-release"), (7, "metadata-log-inconsistent")):
        text = BROKER.format("08:00:00,000", "ERROR", fault, where) + thrown.format(level)
        (one,) = incidents(tmp_path / cause, text, "controller.log")
        assert one.root_cause == cause


def test_a_topic_in_later_metadata_was_not_refused(tmp_path: Path) -> None:
    fetch = f"{WHO} Error while fetching metadata with correlation id {{}} : {{{{fees={{}}}}}}"
    first = line("08:00:00,000", "WARN", fetch.format(3, "INVALID_REPLICATION_FACTOR"), "o.a.k.clients.NetworkClient")
    later = line("08:00:00,300", "WARN", fetch.format(4, "LEADER_NOT_AVAILABLE"), "o.a.k.clients.NetworkClient")
    ended = line("08:05:00,000", "INFO", f"{WHO} ProducerId set to 41 with epoch 0")
    assert [one.severity for one in incidents(tmp_path / "served", first + later + ended)] == [Severity.INFO]
    (one,) = incidents(tmp_path / "refused", first)
    assert one.root_cause == "replication-factor-above-the-brokers"


CLOSED = (
    f"{WHO.replace(', transactionalId=fees-7', '')} Bootstrap broker kafka.acme:9093 (id: -1 rack: null) disconnected"
)
CUT = (
    f"{WHO.replace(', transactionalId=fees-7', '')} Connection to node -1 (kafka.acme/10.1.1.1:9093) terminated during "
    "authentication. This may happen due to any of the following reasons: (1) Authentication failed due to invalid "
    "credentials with brokers older than 1.0.0, (2) Firewall blocking Kafka TLS traffic, (3) Transient network issue."
)


def test_a_client_that_is_admitted_again_has_its_rights(tmp_path: Path) -> None:
    cut = "".join(
        line(f"08:00:{at:02},000", "WARN", text, "org.apache.kafka.clients.NetworkClient")
        for at, text in enumerate((CLOSED, CLOSED, CUT, CLOSED, CUT, CLOSED))
    )
    again = line(
        "08:01:30,000", "INFO", f"{CLOSED.split(']')[0]}] Cluster ID: pX3k", "org.apache.kafka.clients.Metadata"
    )
    (one,) = incidents(tmp_path / "again", cut + again)
    assert one.root_cause == "connections-ended-in-passing"
    assert "2026-07-03T08:01:30" in one.explanation and "does not work at all" not in one.explanation
    (never,) = incidents(tmp_path / "never", cut)
    assert never.root_cause == "credentials-or-protocol-refused"


def test_one_refused_handshake_is_not_a_fault_of_a_broker(tmp_path: Path) -> None:
    tls = "[SocketServer listenerType=BROKER, nodeId=3] Failed authentication with /10.9.9.{} (SSL handshake failed)"
    start = BROKER.format("08:00:00,000", "INFO", tls.format(9), "org.apache.kafka.common.network.Selector")
    rest = BROKER.format("08:09:00,000", "INFO", "[BrokerServer id=3] Transition from STARTED to SHUTTING_DOWN", "X")
    assert [one.severity for one in incidents(tmp_path / "one", start + rest, "server.log")] == [Severity.INFO]
    many = "".join(start.replace(":00,000", f":{at:02},000", 1) for at in range(5))
    (one,) = [one for one in incidents(tmp_path / "many", many + rest, "server.log") if one.severity is Severity.ERROR]
    assert one.kind == "authentication_failed"


LOCK = (
    "stream-thread [fees-StreamThread-2] Encountered lock exception. Reattempting locking the state in the next "
    "iteration.\norg.apache.kafka.streams.errors.LockException: stream-thread [fees-StreamThread-2] task [0_1] Failed "
    "to lock the state directory for task 0_1"
)
RUNS = "stream-thread [fees-StreamThread-2] State transition from PARTITIONS_ASSIGNED to RUNNING"


def test_a_lock_that_another_thread_released_is_not_a_fault(tmp_path: Path) -> None:
    stream = "2026-07-03 {} INFO  [fees-StreamThread-2] o.a.k.s.processor.internals.TaskManager - {}\n"
    waits = stream.format("08:00:00,100", LOCK) + stream.format("08:00:00,200", LOCK)
    found = incidents(tmp_path / "got", waits + stream.format("08:00:00,900", RUNS))
    assert [(one.severity, one.root_cause) for one in found] == [(Severity.INFO, "lock-released-by-another-thread")]
    (one,) = incidents(tmp_path / "never", waits)
    assert one.severity is Severity.ERROR


def test_alternatives_name_known_observations() -> None:
    named = {one.shown for known in load_incidents().values() for one in known.alternatives}
    assert named == OBSERVATIONS.keys()


OF_SUBJECTS = {
    *("group", "group.instance.id"),
    *("broker-address", "connector", "connector-tasks", "is-fatal", "metadata-offset"),
    *("topic", "topic-partition", "transactional.id", "who"),
}
OBSERVED = {
    *(
        "fatal-reason",
        "loaded-at",
        "topic-id-error",
        *("unresolved", "reset-from", "reset-to"),
        *("ended", "ended-at", "left", "system"),
        *("position", "high-watermark", "answered-at"),
        "allocated",
        "limit",
        "who",
        "answer",
        "authenticated-at",
        "answers",
        "asked",
        "asked-at",
        "asked-until",
        "coordinator",
        "feature",
        "found-at",
        "got",
        "idle",
        "reason",
        "requested",
        "isr",
        "isr-size",
        "keeper",
        "kept-in",
        "least",
        "level",
        "min.isr",
        "most",
        "outstanding",
        "outstanding-at",
        "reset",
        "topic-or-partition",
    ),
    *(
        "running-at",
        "served-at",
        "slow-at",
        "took",
        "used-at",
        "when",
        "stopped-at",
        "closed-at",
        "back-at",
        "lasted",
        "losses",
    ),
}


def test_alternatives_have_texts_and_causes_of_their_own() -> None:
    for known in load_incidents().values():
        verdicts = [(one.kind, one.cause) for one in (known, *known.alternatives)]
        assert len(set(verdicts)) == len(verdicts)
        for one in known.alternatives:
            for text in (one.what, one.next_step):
                assert {name for _, name, _, _ in Formatter().parse(text) if name} <= OF_SUBJECTS | OBSERVED
                assert text.endswith(".")


def failures(broker: int, first_s: int, last_s: int) -> str:
    where = "[thrd:kb-{}:9092/{}]: kb-{}:9092/{}: Connect to ipv4#10.0.0.{}"
    text = f"%3|{{}}.100|FAIL|feed#producer-1| {where} failed: Connection refused"
    return "".join(text.format(1_790_000_000 + at, *[broker] * 5) + "\n" for at in (first_s, last_s))


def test_brokers_that_fail_in_turn_are_restarted(tmp_path: Path) -> None:
    turns = [failures(broker, broker * 60, broker * 60 + 30) for broker in (1, 2, 3)]
    assert incidents(tmp_path / "turns", "".join(turns)) == []
    longer = "".join((*turns[:2], failures(3, 180, 260)))
    assert [one.kind for one in incidents(tmp_path / "longer", longer)] == ["brokers_not_reached"]
    together = "".join(sorted("".join(failures(broker, broker, broker + 40) for broker in (1, 2, 3)).splitlines(True)))
    assert [one.kind for one in incidents(tmp_path / "together", together)] == ["brokers_not_reached"]
