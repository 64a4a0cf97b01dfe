"""The owner of a fault: the broker with the certificate, the group that waits, the voters that do not answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

EXPIRED = (
    "%3|{}.376|FAIL|rdkafka#consumer-1| [thrd:sasl_ssl://{}:9094/26]: sasl_ssl://{}:9094/26: SSL handshake failed: {} "
    "(after 14ms in state SSL_HANDSHAKE)\n"
)
OF_BROKER = "Failed to verify broker certificate: certificate has expired"
OF_EITHER = "sslv3 alert certificate_expired"
UNSTABLE = (
    "%7|{}.251|OFFSET|mover#consumer-3| [thrd:main]: GroupCoordinator/1: OffsetFetchResponse: parcels [0] offset -1, "
    "metadata 0 byte(s): UNSTABLE_OFFSET_COMMIT\n"
    '%7|{}.252|OFFFETCH|mover#consumer-3| [thrd:main]: Group "movers": 1/1 partition(s) have unstable offsets: '
    "retrying\n"
)
FLINK = "2026-08-17 06:0{} {} org.apache.flink.connector.kafka.sink.internal.KafkaCommitter [] - {}\n"
COMMITTABLE = (
    "Transaction (KafkaCommittable{{producerId=55013, epoch=7, transactionalId=fx-sink-0-8}}) encountered error and "
    "data has been potentially lost.\norg.apache.kafka.common.errors.{}"
)
VOTES = (
    "[2026-06-30 10:3{},000] INFO [RaftManager id=4] Election timed out before receiving sufficient vote responses to "
    "become candidate. Current epoch election state: EpochElection(voterStates={{3=VoterState(replicaKey=ReplicaKey("
    "id=3, directoryId=<undefined>), state=UNRECORDED), 4=VoterState(replicaKey=ReplicaKey(id=4, directoryId="
    "<undefined>), state=GRANTED), 5=VoterState(replicaKey=ReplicaKey(id=5, directoryId=<undefined>), "
    "state=REJECTED)}}) (org.apache.kafka.raft.KafkaRaftClient)\n"
)


def _handshakes(text: str, *hosts: str) -> str:
    return "".join(EXPIRED.format(1795651204 + number, host, host, text) for number, host in enumerate(hosts))


def test_one_broker_with_an_expired_certificate_is_named(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"meter.log": _handshakes(OF_BROKER, "kf1", "kf1", "kf1")})
    assert "cannot connect to the broker kf1:9094," in found.explanation
    assert "its own one is not the cause" in found.next_step


def test_several_brokers_with_expired_certificates(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"meter.log": _handshakes(OF_BROKER, "kf1", "kf2", "kf3")})
    assert "cannot connect to the brokers," in found.explanation
    assert "the brokers that the records name" in found.next_step


def test_an_alert_leaves_the_owner_of_the_certificate_open(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"meter.log": _handshakes(OF_EITHER, "kf1", "kf1")})
    assert "client's keystore" in found.next_step


def test_unstable_offsets_are_those_of_a_group_and_partition(tmp_path: Path) -> None:
    first = "2026-09-15T11:05:27Z mover: transactional.id=mover-8f21c0 (new id per start)\n"
    waits = "".join(UNSTABLE.format(second, second) for second in (1789470330, 1789470370, 1789471537))
    (found,) = judge(tmp_path, {"mover.log": first + waits})
    assert (found.subject["group"], found.subject["topic-partition"]) == ("movers", "parcels-0")
    assert "transactional.id" not in found.subject


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("InvalidPidMappingException: The producer attempted to use a producer id which is not", "stop the job first"),
        ("InvalidTxnStateException: The producer attempted a transactional operation in an", "Compare transaction"),
    ],
)
def test_a_committable_that_cannot_be_committed(error: str, words: str, tmp_path: Path) -> None:
    text = "".join(FLINK.format(f"{minute}:12,660", "ERROR", COMMITTABLE.format(error)) for minute in (2, 3))
    found = [one for one in judge(tmp_path, {"job.log": text}) if one.kind == "commit_lost"]
    assert [words in one.next_step for one in found] == [True]


def test_voters_without_a_vote_are_named(tmp_path: Path) -> None:
    text = "".join(VOTES.format(moment) for moment in ("0:42", "0:53", "1:20", "1:39", "2:10"))
    (found,) = judge(tmp_path, {"controller.log": text})
    assert found.subject["unreachable"] == ("3",)
