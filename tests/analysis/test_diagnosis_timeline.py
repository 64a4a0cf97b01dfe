"""A hanging transaction is visible on the timeline of a diagnosis, also where no coordinator knows its start."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from eosctl.analysis.diagnosis_timeline import build_diagnosis_timeline
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import Tone
from eosctl.render.formats import OutputFormat
from eosctl.render.transactions.hanging import render_hanging
from tests.analysis.scenes import NOW_MS, producer, transaction, two_reads


def scene(last_timestamp_ms: int) -> ClusterSnapshot:
    late = replace(producer(), last_timestamp_ms=last_timestamp_ms)
    return two_reads([late], [transaction("CompleteCommit", partitions=())])


def shown(snapshot: ClusterSnapshot) -> str:
    verdicts = classify_open_transactions(snapshot)
    return render_hanging(snapshot, verdicts, snapshot.captured_at_ms, OutputFormat.WIDE, empty="none")


def test_a_late_record_is_open_from_its_time_to_the_reading() -> None:
    snapshot = scene(NOW_MS - 5_000)
    timeline = build_diagnosis_timeline(snapshot, (), classify_open_transactions(snapshot))
    assert timeline is not None
    ((mark,),) = [lane.marks for lane in timeline.lanes]
    assert (mark.at_ms, mark.until_ms, mark.tone) == (NOW_MS - 5_000, snapshot.captured_at_ms, Tone.HANGING)


def test_a_hang_without_a_start_is_older_than_its_newest_record() -> None:
    snapshot = scene(NOW_MS - 600_000)
    text = shown(snapshot)
    assert "> 10 min" in text
    assert "by the producer's clock" in text


@pytest.mark.parametrize("stamp", [-1, NOW_MS + 86_400_000])
def test_a_clock_ahead_gives_no_age(stamp: int) -> None:
    snapshot = scene(stamp)
    assert build_diagnosis_timeline(snapshot, (), classify_open_transactions(snapshot)) is None
    assert "by the producer's clock" not in shown(snapshot)
