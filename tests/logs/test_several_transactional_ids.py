"""Producers of one program that reach no broker are one fault with the ids of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

LABEL = "[Producer clientId=producer-{0}, transactionalId={0}]"
TIMED_OUT = (
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000milliseconds while awaiting "
    "InitProducerId\n"
)
SPRING = "2021-03-09 14:{:02}:{} {} 1874 --- [oducer-{}] {} : {}\n"
PLAIN = "[2021-03-09 14:{:02}:{}] {} {} {} {}\n"
SINGLE = "On a single broker"


def attempts(form: str, *ids: str) -> str:
    text = ""
    for minute, name in enumerate(ids):
        lost = f"{LABEL.format(name)} Connection to node -1 (kp.internal/10.30.1.9:9092) could not be established."
        for second in ("10.140", "11.141", "22.152"):
            text += form.format(2 * minute, second, "WARN", name, "org.apache.kafka.clients.NetworkClient", lost)
        words = f"{LABEL.format(name)} could not begin"
        text += form.format(2 * minute + 1, "10.135", "ERROR", name, "com.example.Pay", words) + TIMED_OUT
    return text


@pytest.mark.parametrize("form", [SPRING, PLAIN])
def test_all_ids_of_the_evidence_are_named(form: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"pay.log": attempts(form, "pay-tx-0", "pay-tx-1", "pay-tx-2")})
    assert one.root_cause == "brokers-not-reached"
    assert one.subject["transactional.ids"] == ("pay-tx-0", "pay-tx-1", "pay-tx-2")
    assert "transactional.id" not in one.subject and SINGLE not in one.explanation


def test_a_single_id_stays_the_subject(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"pay.log": attempts(SPRING, "pay-tx-0")})
    assert one.subject["transactional.id"] == "pay-tx-0" and SINGLE not in one.explanation
