"""Consumers that cannot connect to the broker that coordinates their group."""

from __future__ import annotations

from pathlib import Path

from eosctl.logs.incidents.timeline.roles import coordinating_node
from eosctl.model.severity import Severity
from tests.logs.judging import judge

CLIENT = "[Consumer clientId=feed-1, groupId=feed] "
JOINED = (
    f"2022-10-18 09:{{}}.702  INFO 1 --- [c-1] o.a.k.c.c.i.ConsumerCoordinator : {CLIENT}Successfully joined group\n"
)
LOST = (
    f"2022-10-18 09:{{0}}.427  INFO 1 --- [c-1] o.a.k.c.c.i.ConsumerCoordinator : {CLIENT}Group coordinator "
    "kf-3.core:9092 (id: 2147483644 rack: null) is unavailable or invalid due to cause: coordinator unavailable."
    "isDisconnected: true. Rediscovery will be attempted.\n"
)
REFUSED = (
    f"2022-10-18 09:{{0}}.926  WARN 1 --- [hb] org.apache.kafka.clients.NetworkClient : {CLIENT}Connection to node "
    "2147483644 (kf-3.core/10.1.0.3:9092) could not be established. Broker may not be available.\n"
)
FOUND = (
    f"2022-10-18 09:{{0}}.430  INFO 1 --- [c-1] o.a.k.c.c.i.ConsumerCoordinator : {CLIENT}Discovered group coordinator "
    "kf-3.core:9092 (id: 2147483644 rack: null)\n"
)
TIMES = ("12:47", "12:48", "13:20", "14:20", "15:52")
AWAY = "".join(FOUND.format(at) + LOST.format(at) + REFUSED.format(at) for at in TIMES)


def test_the_id_of_a_connection_is_that_of_a_broker() -> None:
    assert [coordinating_node(one) for one in ("2147483647", "2147483644", "3", "-1", "")] == ["0", "3", "", "", ""]


def test_a_coordinator_that_refuses_connections_is_named(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"feed.log": JOINED.format("01:04") + AWAY})
    assert (one.kind, one.root_cause) == ("coordinator_unavailable", "coordinator-not-reached")
    assert (one.severity, one.subject["coordinator"]) == (Severity.ERROR, "3")
    assert one.explanation.startswith("feed could not reach its coordinator (broker 3 at kf-3.core:9092)")
    assert "broker 3" in one.next_step and "advertised" not in one.next_step
    assert "broker 2147483644" not in one.explanation


def test_a_coordinator_that_is_reached_again_is_a_warning(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"feed.log": JOINED.format("01:04") + AWAY + JOINED.format("16:30")})
    assert (one.root_cause, one.severity) == ("coordinator-not-reached", Severity.WARNING)


BEAT = "%7|16904440{0}.110|HEARTBEAT|rdkafka#consumer-3| [thrd:main]: {1}\n"
NOT_ITS = "GroupCoordinator/5: HeartbeatRequest failed: Broker: Not coordinator for group: actions Refresh"
GONE = "Heartbeat failed due to coordinator (10.2.0.5:9092/5) no longer available: Broker: Not coordinator for group"
OF_GROUP = 'Group "tiles.feed" heartbeat error response in state up: Broker: Not coordinator for group'


def test_librdkafka_names_the_group_and_its_coordinator(tmp_path: Path) -> None:
    lines = (BEAT.format(at, text) for at in range(10, 90, 10) for text in (NOT_ITS, OF_GROUP, GONE))
    (one,) = judge(tmp_path, {"app.log": "".join(lines)})
    assert (one.kind, one.subject["group"], one.subject["coordinator"]) == (
        "coordinator_unavailable",
        "tiles.feed",
        "5",
    )
    assert "broker 5 (10.2.0.5:9092)" in one.explanation
