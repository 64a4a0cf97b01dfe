"""When a log rolls to a new segment, and the state of the old one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.log import SegmentedLog
from eosctl.storage.recovery import open_log
from tests.storage.test_log import append, make_batch


@pytest.fixture
def descriptors() -> Descriptors:
    return Descriptors()


class TestRolling:
    """The conditions of Kafka's LogSegment.shouldRoll, each alone and at its edge."""

    def rolled(self, config: LogConfig, tmp_path: Path, batches: list[tuple[bytes, int]]) -> list[int | None]:
        log = SegmentedLog(tmp_path / "t-0", config, Descriptors())
        return [append(log, batch, now_ms) for batch, now_ms in batches]

    def test_size(self, tmp_path: Path) -> None:
        batches = [make_batch(offset, [0]) for offset in range(3)]
        size = len(batches[0])
        assert self.rolled(LogConfig(segment_bytes=2 * size), tmp_path, [(b, 0) for b in batches]) == [None, None, 2]
        assert self.rolled(LogConfig(segment_bytes=3 * size), tmp_path, [(b, 0) for b in batches])[2] is None

    def test_a_batch_larger_than_a_segment_gets_one_of_its_own(self, tmp_path: Path) -> None:
        batches = [(make_batch(offset, [0], 500), 0) for offset in range(3)]
        assert self.rolled(LogConfig(segment_bytes=100), tmp_path, batches) == [None, 1, 2]

    def test_age_by_timestamps(self, tmp_path: Path) -> None:
        config = LogConfig(segment_ms=1000)
        edge = [make_batch(0, [5000]), make_batch(1, [6000]), make_batch(2, [6001])]
        assert self.rolled(config, tmp_path, [(batch, 0) for batch in edge]) == [None, None, 2]

    def test_age_by_clock_without_timestamps(self, tmp_path: Path) -> None:
        config = LogConfig(segment_ms=1000)
        batches = [(make_batch(0, [-1]), 100), (make_batch(1, [-1]), 1100), (make_batch(2, [-1]), 1101)]
        assert self.rolled(config, tmp_path, batches) == [None, None, 2]

    @pytest.mark.parametrize("clean", [True, False])
    def test_age_after_a_restart(self, clean: bool, tmp_path: Path, descriptors: Descriptors) -> None:
        config = LogConfig(segment_ms=1000, index_interval_bytes=0)
        for name, timestamps in (("with", [5000, 5001, 5002]), ("without", [-1, -1, -1])):
            log = SegmentedLog(tmp_path / name, config, descriptors)
            for offset, timestamp in enumerate(timestamps):
                append(log, make_batch(offset, [timestamp]), 5000)
            log.flush()
            log.close(clean=clean)
        log = open_log(tmp_path / "with", config, descriptors, clean=clean, now_ms=9000).log
        assert [append(log, make_batch(3, [6000]), 9000), append(log, make_batch(4, [6001]), 9000)] == [None, 4]
        log = open_log(tmp_path / "without", config, descriptors, clean=clean, now_ms=9000).log
        assert [append(log, make_batch(3, [-1]), 10_000), append(log, make_batch(4, [-1]), 10_001)] == [None, 4]
        log = open_log(tmp_path / "without", config, descriptors, clean=False).log
        assert append(log, make_batch(5, [-1]), 20_000) is None, "of unknown age"

    def test_offset_index_full(self, tmp_path: Path) -> None:
        config = LogConfig(index_interval_bytes=0, segment_index_bytes=8 * 3)
        batches = [(make_batch(offset, [-1]), 0) for offset in range(5)]
        assert self.rolled(config, tmp_path, batches) == [None, None, None, None, 4]

    def test_time_index_full(self, tmp_path: Path) -> None:
        config = LogConfig(index_interval_bytes=0, segment_index_bytes=12 * 4)
        batches = [(make_batch(offset, [offset]), 0) for offset in range(5)]
        assert self.rolled(config, tmp_path, batches) == [None, None, None, None, 4]

    def test_offset_out_of_the_indexes_reach(self, tmp_path: Path) -> None:
        far = 2**31 - 1
        assert self.rolled(LogConfig(), tmp_path, [(make_batch(0, [0]), 0), (make_batch(far, [0]), 0)]) == [None, None]
        batches = [(make_batch(0, [0]), 0), (make_batch(far, [0, 0]), 0)]
        assert self.rolled(LogConfig(), tmp_path, batches) == [None, far]

    def test_a_closed_segment_is_complete(self, tmp_path: Path) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(segment_bytes=200), Descriptors())
        for offset in range(3):
            append(log, make_batch(offset, [100 + offset]))
        names = {path.name: path.stat().st_size for path in (tmp_path / "t-0").iterdir()}
        assert names == {f"{0:020d}.log": 2 * 78, f"{0:020d}.index": 0, f"{0:020d}.timeindex": 12}
