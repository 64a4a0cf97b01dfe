"""Incidents that repeat are one incident with their number, first and last time, and names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.incidents.joining.repeats import PAUSE_MS, RETURNS, join_repeats
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

MEMBER = (
    "{} WARN  [heartbeat] o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=geo-{}, groupId=geo] consumer poll "
    "timeout has expired. This means the time between subsequent calls to poll() was longer than the configured "
    "max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.\n"
)
UNCLEAN = (
    "[2026-01-27 03:12:10,{}] INFO [QuorumController id=902] UNCLEAN partition change for wallet-{} with topic ID "
    "8kT0q3w2SfKcR5b3b1aZ4Q: isr: [1] -> [2], leader: 1 -> 2, leaderEpoch: 42 -> 43, partitionEpoch: 212 -> 213 "
    "(org.apache.kafka.controller.ReplicationControlManager)\n"
)
EXPIRED = (
    "2026-01-19 09:00:0{},412 ERROR [main] o.a.k.c.p.i.TransactionManager - [Producer clientId=mail-{}, "
    "transactionalId=mail-{}] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id.\n"
)


def fault(at_ms: int, subject: Mapping[str, str], severity: Severity = Severity.ERROR) -> Incident:
    place = (EvidenceLine("app.log", at_ms, 1),)
    return Incident("send_timeout", "cause", severity, 0.6, subject, at_ms, at_ms + 100, place, "Why.", "Do.")


def test_a_group_whose_members_leave_again_and_again_is_one(tmp_path: Path) -> None:
    text = "".join(MEMBER.format(f"2026-05-20 12:{minute:02}:03,116", minute % 4) for minute in range(0, 40, 5))
    (found,) = judge(tmp_path, {"geo.log": text})
    assert (found.kind, found.subject["group"]) == ("poll_interval_exceeded", "geo")
    assert "The fault returned 7 times" in found.explanation
    assert found.t_end_ms - found.t_start_ms == 35 * 60_000


def test_unclean_elections_of_one_moment_are_one(tmp_path: Path) -> None:
    text = "".join(UNCLEAN.format(336 + 4 * number, number) for number in range(4))
    (found,) = judge(tmp_path, {"controller.log": text})
    assert found.subject["topic-partitions"] == ("wallet-0", "wallet-1", "wallet-2", "wallet-3")
    assert (found.severity, len(found.evidence)) == (Severity.CRITICAL, 4)
    assert "4 partitions" in found.explanation


@pytest.mark.parametrize(("clients", "incidents"), [(2, 2), (4, 4), (6, 1)])
def test_only_a_flood_of_ids_is_one_incident(clients: int, incidents: int, tmp_path: Path) -> None:
    found = judge(tmp_path, {"mailer.log": "".join(EXPIRED.format(one, one, one) for one in range(clients))})
    assert len(found) == incidents
    names = {f"mail-{number}" for number in range(clients)}
    assert ("transactional.ids" in found[0].subject) == (incidents == 1)
    assert {name for name in names if any(name in str(one.subject) for one in found)} == names


def test_a_fault_that_returns_after_an_hour_is_another_one() -> None:
    apart = [fault(hour * 6 * PAUSE_MS, {"group": "a"}) for hour in range(4)]
    assert len(list(join_repeats(apart))) == 4


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abcdefgh"), st.sampled_from(list(Severity))), max_size=20)
)
def test_joining_loses_no_name_time_or_severity(drawn: list[tuple[int, str, Severity]]) -> None:
    single = [
        fault(minute * 120_000, {"transactional.id": name, "application": "x"}, severity)
        for minute, name, severity in drawn
    ]
    joined = list(join_repeats(single))
    names = {str(one.subject["transactional.id"]) for one in single}
    assert all(any(name in str(one.subject) for one in joined) for name in names)
    for one in single:
        home = [
            other
            for other in joined
            if other.t_start_ms <= one.t_start_ms
            and one.t_end_ms <= other.t_end_ms
            and other.severity.at_least(one.severity)
        ]
        assert home
    assert len(joined) <= len(single)
    assert len(single) < RETURNS or joined
