"""A producer that is fenced by the answer to its own request for a higher epoch."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

LIBRARY = "%{}|{:.3f}|{}|rdkafka#producer-4| [thrd:main]: {}\n"
START = 1_772_435_400.0
FENCED = "Broker: There is a newer producer with the same transactionalId which fences the current one"


def test_a_refused_request_for_a_new_epoch_is_its_own(tmp_path: Path) -> None:
    gap = (
        "ProduceRequest for gauges.raw [2] with 1 message(s) failed due to skipped sequence numbers "
        "(PID{Id:71,Epoch:3}, base seq 9 > next seq 7) caused by previous failed request: "
        "recovering and retrying"
    )
    begin = LIBRARY.format(7, START, "ERRSEQ", gap)
    rounds = "".join(
        LIBRARY.format(7, START + at, "GETPID", "TxnCoordinator/4: Requesting ProducerId bump for PID{Id:71,Epoch:3}")
        + LIBRARY.format(
            4,
            START + at + 0.01,
            "GETPID",
            f"Failed to acquire transactional PID from broker TxnCoordinator/4: {FENCED}: retrying",
        )
        for at in range(1, 5)
    )
    (one,) = judge(tmp_path / "own", {"gauge-feed.log": begin + rounds})
    assert (one.kind, one.root_cause) == ("producer_fenced", "own-epoch-bump-refused")
    assert (one.subject["topic-partition"], one.subject["producerId"]) == ("gauges.raw-2", "71")
    assert one.t_start_ms == int(START * 1000)
    without = "".join(text for text in rounds.splitlines(True) if "bump" not in text)
    (other,) = judge(tmp_path / "other", {"gauge-feed.log": without})
    assert other.root_cause != "own-epoch-bump-refused"
