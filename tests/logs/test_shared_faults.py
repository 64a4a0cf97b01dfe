"""What a client reports without a reason is a part of the fault that cut it off, and of no other one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

LIBRDKAFKA = "%{level}|{stamp}|{name}|{client}| [thrd:main]: {text}\n"
REFUSED = "".join(
    LIBRDKAFKA.format(
        level=3,
        stamp=f"17869553{second}.980",
        name="FAIL",
        client="{client}",
        text="sasl_ssl://b-6.loy:9096/6: SASL authentication error: Authentication failed during authentication due to "
        "invalid credentials with SASL mechanism SCRAM-SHA-512 (after 301ms in state AUTH_REQ)",
    )
    for second in (51, 52, 81)
)
EXPIRED = LIBRDKAFKA.format(
    level=4,
    stamp="{stamp}",
    name="SESSTMOUT",
    client="{client}",
    text="Consumer group session timed out (in join-state steady) after 45390 ms without a successful response from "
    "the group coordinator (broker {node}, last error was Success): revoking assignment and rejoining group",
)
FENCED = (
    "[2026-08-17 08:29:08,931] ERROR [QuorumController id=4] processExpiredBrokerHeartbeat: controller event queue "
    "overloaded. Timed out heartbeat from broker 4. (org.apache.kafka.controller.ReplicationControlManager)\n"
    "[2026-08-17 08:29:40,553] INFO [QuorumController id=4] Fencing broker 4 because its session has timed out. "
    "(org.apache.kafka.controller.ReplicationControlManager)\n"
    "[2026-08-17 08:30:12,771] INFO [QuorumController id=4] The request from broker 4 to unfence has been granted "
    "because it has caught up with the offset of its register broker record 7. "
    "(org.apache.kafka.controller.BrokerHeartbeatManager)\n"
)
AT = "1786955401.120"
"""2026-08-17T08:30:01.120Z"""
OPEN = "does not show why"


def expired(client: str = "loyalty#consumer-1", node: int = 4, stamp: str = AT) -> str:
    return EXPIRED.format(client=client, node=node, stamp=stamp)


def test_a_session_follows_from_a_refused_login(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"loyalty.log": REFUSED.format(client="loyalty#consumer-1") + expired()})
    assert one.kind == "authentication_failed"
    assert "Effect (member_evicted)" in one.explanation and OPEN not in one.explanation


def test_a_session_follows_from_a_fenced_coordinator(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"controller.log": FENCED, "loyalty.log": expired()})
    assert (one.kind, one.subject["coordinator"]) == ("broker_fenced", "4")
    assert "most likely because of it" in one.explanation and OPEN not in one.explanation
    assert {place.file.rsplit("/", 1)[-1] for place in one.evidence} == {"controller.log", "loyalty.log"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(expired(node=5), id="another broker"),
        pytest.param(expired(stamp="1786955101.120"), id="before the fault"),
        pytest.param(expired(stamp="1786956301.120"), id="long after it"),
    ],
)
def test_another_fault_stays_one_of_its_own(other: str, tmp_path: Path) -> None:
    alone = judge(tmp_path / "alone", {"loyalty.log": other})
    both = judge(tmp_path / "both", {"controller.log": FENCED, "loyalty.log": other})
    assert {one.kind for one in both} == {"broker_fenced", "member_evicted"}
    kept = [one for one in both if one.kind == "member_evicted"]
    assert [one._replace(evidence=()) for one in kept] == [one._replace(evidence=()) for one in alone]


@pytest.mark.parametrize("client", ["loyalty#consumer-2", "other#consumer-1"])
def test_another_client_of_the_program_has_its_own_fault(client: str, tmp_path: Path) -> None:
    log = REFUSED.format(client="loyalty#consumer-1") + expired(client=client)
    assert {one.kind for one in judge(tmp_path, {"loyalty.log": log})} == {"authentication_failed", "member_evicted"}


def test_a_client_that_worked_meanwhile_has_its_own_fault(tmp_path: Path) -> None:
    worked = "2026-08-17T08:45:00Z INFO loyalty delivered 31 points\n"
    log = REFUSED.format(client="loyalty#consumer-1") + worked + expired(stamp="1786956601.120")
    assert len(judge(tmp_path, {"loyalty.log": log})) == 2


def test_a_name_less_client_joins_next_to_its_broker(tmp_path: Path) -> None:
    failed = (
        "2026-08-17T08:29:51.020Z ERROR relay: failed to produce message: MessageTimedOut (Local: Message timed out)\n"
    )
    of_controller = FENCED.replace("QuorumController id=4", "QuorumController id=9")
    apart = judge(tmp_path / "apart", {"controller.log": of_controller, "relay.log": failed})
    assert {one.kind for one in apart} == {"broker_fenced", "send_timeout"}
    assert len(judge(tmp_path / "own", {"kafka.log": FENCED, "relay.log": failed})) == 1
    composed = "".join(f"kafka-1 | {line}\n" for line in FENCED.splitlines()) + f"relay-1 | {failed}"
    (one,) = judge(tmp_path / "composed", {"all.log": composed})
    assert (one.kind, one.severity) == ("broker_fenced", Severity.ERROR)


def test_the_broker_names_a_fenced_static_member_too(tmp_path: Path) -> None:
    client = (
        "%0|1784115704.902|FATAL|rdkafka#consumer-1| [thrd:main]: Fatal error: Broker: Static consumer fenced by other "
        "consumer with same group.instance.id\n"
    )
    started = "2026-07-15 09:10:02,000 INFO starting group=matcher instance={}\n"
    broker = (
        "[2026-07-15 11:41:44,899] ERROR given member.id 1-17 is identified as a known static member 1,but not "
        "matching the expected member.id 1-18 (kafka.coordinator.group.GroupMetadata)\n"
    )
    files = {"consumer.log": started.format(1) + client, "kafka-0.log": broker}
    (one,) = judge(tmp_path / "one", files)
    assert one.subject["group.instance.id"] == "1" and len(one.evidence) == 2
    assert len(judge(tmp_path / "two", files | {"consumer.log": started.format(2) + client})) == 2
