"""A fault that returns after a pause is one with its first incident, unless its program had a success in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

EXPIRED = (
    "2026-03-17 06:{minute}:03,114 ERROR [main] org.apache.kafka.clients.producer.internals.TransactionManager - "
    "[Producer clientId=inv-p-0, transactionalId={id}] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id.\n"
)
RENEWED = (
    "2026-03-17 06:{minute}:00,500 INFO [main] org.apache.kafka.clients.producer.internals.TransactionManager - "
    "[Producer clientId=inv-p-0, transactionalId={id}] ProducerId set to 4021 with epoch 0\n"
)


def expired(minute: int, name: str = "inv-0") -> str:
    return EXPIRED.format(minute=f"{minute:02}", id=name)


@pytest.mark.parametrize("minutes", [(2, 14), (2, 14, 27), (2, 14, 27, 40)])
def test_a_fault_without_a_success_is_one_incident(minutes: tuple[int, ...], tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"app.log": "".join(map(expired, minutes))})
    assert one.subject["transactional.id"] == "inv-0"
    assert one.t_end_ms - one.t_start_ms == (minutes[-1] - minutes[0]) * 60_000
    assert f"returned until 2026-03-17T06:{minutes[-1]}:03.114Z" in one.explanation


def test_a_fault_after_a_success_is_another_incident(tmp_path: Path) -> None:
    text = expired(2) + RENEWED.format(minute="05", id="inv-0") + expired(14)
    assert len(judge(tmp_path, {"app.log": text})) == 2


def test_faults_of_other_subjects_stay_apart(tmp_path: Path) -> None:
    found = judge(tmp_path, {"app.log": expired(2) + expired(14, "inv-1")})
    assert {one.subject["transactional.id"] for one in found} == {"inv-0", "inv-1"}


def test_a_fault_a_long_time_later_is_another_incident(tmp_path: Path) -> None:
    assert len(judge(tmp_path, {"app.log": expired(2) + expired(40)})) == 2


def test_a_log_without_successes_cannot_miss_one(tmp_path: Path) -> None:
    without = judge(tmp_path / "without", {"app.log": expired(2) + expired(14)})
    assert "no success" not in without[0].explanation
    known = judge(tmp_path / "known", {"app.log": RENEWED.format(minute="01", id="inv-0") + expired(2) + expired(14)})
    assert ", and no success is logged in between." in known[0].explanation


def night(day: int, *, works: bool = False) -> str:
    at = f"2026-03-{day:02} 02:00:0"
    client = "INFO [Producer clientId=loader-tx, transactionalId=loader-tx]"
    refused = (
        f"{at}1,000 {client} Transiting to fatal error state due to org.apache.kafka.common.errors."
        "TransactionalIdAuthorizationException: Transactional Id authorization failed.\n"
    )
    return f"{at}0,000 {client} Instantiated a transactional producer.\n" + (
        f"{at}2,000 INFO loader: 210 rows written\n" if works else refused
    )


def test_a_permission_that_is_missing_each_night_is_one_fault(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"loader.log": night(3) + night(4) + night(5)})
    assert "The fault returned until 2026-03-05T02:00:01.000Z" in one.explanation
    apart = judge(tmp_path / "apart", {"loader.log": night(3) + night(4, works=True) + night(5)})
    assert [one.t_start_ms // 86_400_000 for one in apart] == [20_515, 20_517]


def test_a_denied_topic_is_one_fault_with_each_new_epoch(tmp_path: Path) -> None:
    client = "INFO [Producer clientId=mill, transactionalId=mill-0]"
    hours = "".join(
        f"2026-03-03 {hour}:00:03,000 {client} ProducerId set to 301 with epoch {hour}\n"
        f"2026-03-03 {hour}:00:04,000 ERROR [Producer clientId=mill, transactionalId=mill-0] Topic authorization "
        "failed for topics [flour.out]\n"
        for hour in (10, 11, 12)
    )
    (one,) = judge(tmp_path, {"mill.log": hours})
    assert one.subject["topic"] == "flour.out"
    assert "The fault returned until 2026-03-03T12:00:04.000Z" in one.explanation
