"""Faults with a reason in the record itself: refused authentications, metadata faults, slow consumers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

REFUSED = (
    "[2026-03-01 10:00:0{},123] ERROR [Producer clientId=p-{}] Connection to node -1 (b1.x/192.0.2.1:9096) failed "
    "authentication due to: {} (org.apache.kafka.clients.NetworkClient)\n"
)
REASONS = {
    "[3b7c4a2e-2222-4b58-bbf5-9b3befcc2418]: Too many connects": "connection-rate-limited",
    "[3b7c4a2e-2222-4b58-bbf5-9b3befcc2418]: Access denied": "permission-to-connect-missing",
    "[3b7c4a2e-2222-4b58-bbf5-9b3befcc2418]: Session too short": "token-expired",
    "Authentication failed during authentication due to invalid credentials with SASL mechanism PLAIN": (
        "user-or-password-wrong"
    ),
    "Client SASL mechanism 'PLAIN' not enabled in the server, enabled mechanisms are [GSSAPI]": "mechanism-not-enabled",
    '{"status":"invalid_token"}': "token-not-accepted",
    "GSS initiate failed [Caused by GSSException: (Mechanism level: Clock skew too great (37))]": "clocks-differ",
    "The request was rejected by firewall checks.": "address-not-allowed",
    "Ip has been prevented to connect to the endpoint": "address-not-allowed",
    "Authentication failed: Public network access is disabled for this namespace": "address-not-allowed",
    "Authentication failed: the connection was denied by an IP filter": "address-not-allowed",
    "Namespace evh-meters is disabled. Reference:4f0d": "service-disabled",
    "Put token failed. The messaging entity 'sb://evh-meters/' could not be found.": "cluster-unknown",
    "Authentication failed: logical cluster lkc-7x2kq does not exist": "cluster-unknown",
    "Authentication failed: API key 3QZ7PLXN2VJHT4RA was not found": "api-key-unknown",
    "Unauthorized access. 'Send' claim(s) are required to perform this operation.": "claim-missing",
    "Status: ConnectionsQuotaExceeded": "connection-quota-exhausted",
    "Authentication failed: the limit of 1000 connections was exceeded": "connection-quota-exhausted",
    "An error: (Unable to load AWS credentials from any provider in the chain) occurred": "credentials-not-found",
    "Local authentication is disabled for this namespace": "keys-disabled",
    "Put token failed. status-description: InvalidSignature: The token has an invalid signature.": "token-not-accepted",
    "JWT (claims->{aud=x}) rejected due to invalid claims or other invalid content": "token-not-accepted",
    # What says nothing about the reason names none.
    "Authentication failed": "credentials-or-protocol-refused",
    "terminated during authentication. This may happen due to any of the following reasons: (1) Authentication failed "
    "due to invalid credentials with brokers older than 1.0.0, (2) Firewall": "credentials-or-protocol-refused",
}
RAFT = "2026-03-01 10:00:{} {} [kafka-4-raft] {}:1 - [RaftManager id=4] {}\n"
NOT_RESOLVED = "Error connecting to node c-{0}.x:9090 (id: {0} rack: null)\njava.net.UnknownHostException: c-{0}.x"
LOST = "Election timed out before receiving sufficient vote responses to become candidate. Current epoch election state"
FENCING = (
    "[2026-03-01 10:00:00,000] ERROR [s|task-0] ExactlyOnceWorkerSourceTask{id=s-0} Task threw an uncaught and "
    "unrecoverable exception. Task is being killed and will not recover until manually restarted (o.a.k.WorkerTask)\n"
    "org.apache.kafka.connect.errors.ConnectException: Failed to perform zombie fencing\n"
)
FORWARDED = (
    "Caused by: org.apache.kafka.connect.runtime.rest.errors.ConnectRestException: IO Error trying to forward REST "
    "request: java.net.ConnectException: Connection refused\n"
)
REMOTE = (
    "[2026-03-01 10:00:00,000] ERROR [RemoteLogManager=2 partition=Yq0c7HsTQ2mK4dFzWb8nEw:a-0] Error occurred while "
    "copying log segments of partition: Yq0c7HsTQ2mK4dFzWb8nEw:a-0 (kafka.log.remote.RemoteLogManager)\n{}\n"
)
FAULT = (
    "[2026-03-01 10:00:00,000] ERROR Encountered fatal fault: Unable to apply TopicRecord record at offset 20 on "
    "standby controller, from the batch with baseOffset 20 (o.a.k.ProcessTerminatingFaultHandler)\n"
    "java.lang.RuntimeException: Found duplicate TopicRecord for t with a different ID than before.\n"
)
SARAMA = (
    "2026-03-01T10:0{}:00Z D! [sarama] consumer/broker/1 abandoned subscription to cut/9 because consuming was taking "
    "too long\n"
)


@pytest.mark.parametrize(("reason", "cause"), REASONS.items())
def test_the_text_of_a_refusal_names_its_cause(reason: str, cause: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": REFUSED.format(1, 1, reason) + REFUSED.format(2, 2, reason)})
    assert (found.kind, found.root_cause) == ("authentication_failed", cause)
    assert ("so brokers refuse all" in found.explanation) == (cause == "credentials-or-protocol-refused")


def test_different_reasons_do_not_name_one_cause(tmp_path: Path) -> None:
    first, _, second, *_ = REASONS
    (found,) = judge(tmp_path, {"app.log": REFUSED.format(1, 1, first) + REFUSED.format(2, 1, second)})
    assert found.root_cause == "credentials-or-protocol-refused"


def test_voters_without_addresses_elect_no_leader(tmp_path: Path) -> None:
    text = RAFT.format("12", "WARN", "NetworkClient", NOT_RESOLVED.format(3))
    text += "".join(RAFT.format(second, "INFO", "KafkaRaftClient", f"{LOST}: x") for second in (18, 20))
    (found,) = judge(tmp_path, {"controller.log": text})
    assert (found.kind, found.subject["unreachable"]) == ("controller_quorum_lost", ("3",))
    assert "and DNS does not resolve" in found.explanation
    assert found.next_step.startswith("First make DNS resolve")


def test_an_election_that_ends_is_not_a_lost_quorum(tmp_path: Path) -> None:
    led = "Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=3, leaderId=3, voters=[3, 4])"
    text = RAFT.format("12", "WARN", "NetworkClient", NOT_RESOLVED.format(3))
    text += "".join(RAFT.format(second, "INFO", "KafkaRaftClient", f"{LOST}: x") for second in (18, 20))
    text += RAFT.format("21", "INFO", "QuorumState", led)
    assert judge(tmp_path, {"controller.log": text}) == []


@pytest.mark.parametrize(
    ("inner", "kind"),
    [
        (FORWARDED, "connect_leader_not_reached"),
        (
            "Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out\n",
            "connector_transaction_failed",
        ),
    ],
)
def test_a_failed_fencing_is_not_a_failed_transaction(inner: str, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"connect.log": FENCING + inner})
    assert found.kind == kind
    assert "another system" not in found.explanation
    assert "could not complete its transaction" not in found.explanation


def test_a_local_fault_of_a_remote_copy_is_not_the_storage(tmp_path: Path) -> None:
    lacking = 'java.lang.NullPointerException: Cannot invoke "x()" because "producerStateSnapshotFile" is null'
    (local,) = judge(tmp_path, {"server.log": REMOTE.format(lacking)})
    (tmp_path / "server.log").unlink()
    (other,) = judge(tmp_path, {"server.log": REMOTE.format("a.b.S3Exception: Access Denied")})
    assert (local.root_cause, other.root_cause) == ("file-of-a-segment-missing", "unexplained")


def test_a_controller_that_cannot_replay_is_a_controller(tmp_path: Path) -> None:
    (found,) = judge(
        tmp_path,
        {
            "c.log": FAULT + "[2026-03-01 10:00:01,000] INFO [ControllerServer id=7] shut down "
            "completed (kafka.server.ControllerServer)\n"
        },
    )
    assert (found.kind, found.root_cause, found.subject["controller"]) == (
        "metadata_fault",
        "metadata-log-inconsistent",
        "7",
    )


def test_a_consumer_that_takes_no_records_is_reported(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"telegraf.log": SARAMA.format(1) + SARAMA.format(2)})
    assert (found.kind, found.subject["topic-partition"]) == ("consumer_too_slow", "cut-9")


def test_a_dead_streams_client_names_its_last_cause(tmp_path: Path) -> None:
    line = "2026-03-28 04:{},000 {} [t-1-StreamThread-1] o.a.k.streams.X - {}\n"
    lost = (
        "[Consumer clientId=t-1-StreamThread-1-consumer, groupId=t] Group coordinator kb:9092 (id: 2147483647 rack: "
        "null) is unavailable or invalid, will attempt rediscovery"
    )
    found = "[Consumer clientId=t-1-StreamThread-1-consumer, groupId=t] Discovered group coordinator kb:9092 (id: 1)"
    died = (
        "stream-thread [t-1-StreamThread-1] Encountered the following exception during processing and the thread is "
        "going to shut down: \norg.apache.kafka.streams.errors.StreamsException: Timed out while committing offsets\n"
        "Caused by: org.apache.kafka.common.errors.TimeoutException: Timeout of 60000ms expired before successfully "
        "committing offsets {t-1=OffsetAndMetadata{offset=8}}"
    )
    dead = "stream-client [t-1] All stream threads have died. The instance will be in error state and should be closed."
    end = line.format("30:30", "ERROR", died) + line.format("30:31", "ERROR", dead)
    (one,) = judge(tmp_path / "lost", {"t.log": line.format("29:30", "INFO", lost) + end})
    assert "Its last cause: TimeoutException: Timeout of 60000ms" in one.explanation
    assert "lost its coordinator at 2026-03-28T04:29:30.000Z" in one.explanation
    back = line.format("29:30", "INFO", lost) + line.format("29:40", "INFO", found)
    (other,) = judge(tmp_path / "found", {"t.log": back + end})
    assert "lost its coordinator" not in other.explanation
