"""A producer whose transactions time out again and again, with the logs of its client and of the coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

ID = "mixer-4"
EXPIRED = (
    "[2026-05-04 10:{},100] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for "
    f"transactionalId {ID} due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
FENCED = (
    "2026-05-04 10:{},600 ERROR [mix-1] c.e.Mixer - "
    f"[Producer clientId=mix-1, transactionalId={ID}] Aborting producer batches due to fatal error\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)


def test_rollbacks_between_refusals_are_one_incident(tmp_path: Path) -> None:
    files = {
        "server.log": "".join(map(EXPIRED.format, ("00:10", "00:34", "00:58"))),
        "mixer.log": "".join(map(FENCED.format, ("00:13", "00:37", "01:01"))),
    }
    (one,) = judge(tmp_path, files)
    assert one.kind == "transaction_timeout"
    assert "resumed 4 s later" in one.explanation and "Its next ones timed out, too (2 times)." in one.explanation
    assert {(Path(place.file).name, place.line) for place in one.evidence if place.line} >= {
        *(("server.log", 1), ("server.log", 2), ("server.log", 3), ("mixer.log", 1)),
    }


def test_a_rollback_after_the_last_refusal_is_another_one(tmp_path: Path) -> None:
    files = {
        "server.log": "".join(map(EXPIRED.format, ("00:10", "09:34"))),
        "mixer.log": FENCED.format("00:13"),
    }
    found = judge(tmp_path, files)
    assert all("Its next ones" not in one.explanation for one in found)


KILN = "[Producer clientId=kiln-0, transactionalId=kiln-0]"
COORDINATOR = (
    "[2026-04-02 {},771] INFO [TransactionCoordinator id=1] {} (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
BEGUN = COORDINATOR.format(
    "10:30:00",
    "Initialized transactionalId kiln-0 with producerId 7011 and producer epoch 8 on partition __transaction_state-12",
)
OVER = COORDINATOR.format(
    "11:00:10", "Completed rollback of ongoing transaction for transactionalId kiln-0 due to timeout"
)
HAS_ID = (
    f"2026-04-02 {{}},820 INFO [main] o.a.k.c.p.internals.TransactionManager - {KILN} ProducerId set to 7011 with "
    "epoch {}\n"
)
LATE = (
    f"2026-04-02 {{}},120 ERROR [main] o.a.k.c.p.internals.TransactionManager - {KILN} Transiting to fatal error state "
    "due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
    "transactionalId which fences the current one.\n"
)


@pytest.mark.parametrize("at", ["11:00:40", "11:31:02", "17:00:00"])
def test_a_client_that_stood_still_for_long_was_rolled_back(at: str, tmp_path: Path) -> None:
    client = HAS_ID.format("10:30:00", 8) + LATE.format(at)
    (one,) = judge(tmp_path, {"kb-1.log": BEGUN + OVER, "kiln.log": client})
    assert one.kind == "transaction_timeout"
    assert "No other producer had taken the id." in one.explanation
    assert len({place.file for place in one.evidence}) == 2


def test_a_new_epoch_after_a_rollback_has_another_reason(tmp_path: Path) -> None:
    client = HAS_ID.format("10:30:00", 8) + HAS_ID.format("11:02:00", 10) + LATE.format("11:31:02")
    found = judge(tmp_path, {"kb-1.log": BEGUN + OVER, "kiln.log": client})
    assert "producer_fenced" in {one.kind for one in found}
