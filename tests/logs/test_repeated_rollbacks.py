"""A producer whose transactions time out again and again, with the logs of its client and of the coordinator."""

from __future__ import annotations

from pathlib import Path

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
