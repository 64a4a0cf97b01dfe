"""Records that rotation cut in two are read as a whole, wherever the cut is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.scan import plan_splits, scan_paths, scan_split

STAMP, LATER = "2026-11-21T11:07:50.000000001Z", "2026-11-21T11:07:58.301000001Z"
BEFORE = "2026-11-21 11:07:50.000 INFO  [main] a.b.Relay - started\n"
CUT = """\
2026-11-21 11:07:58.301 ERROR [main] a.b.Relay - cannot go on
java.lang.RuntimeException: stopped
\tat a.b.Relay.run(Relay.java:7)
Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same \
transactionalId which fences the current one.
\t... 3 more
"""
BEHIND = (
    "2026-11-21 11:08:00.000 INFO  [main] a.b.Relay - started\n2026-11-21 11:08:01.000 ERROR [main] a.b.Relay - x\n"
)


def parts(folder: Path, first: str, second: str, suffix: str = "") -> list[Path]:
    older, newer = folder / f"app.log.1{suffix}", folder / "app.log"
    older.write_bytes(gzip.compress(first.encode()) if suffix else first.encode())
    newer.write_text(second, "utf-8")
    return [newer, older]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("cut", [4, 30, 70, 100, CUT.index("\tat"), CUT.index("Caused") + 20, len(CUT) - 4])
def test_a_cut_record_is_the_event_that_it_was(cut: int, suffix: str, tmp_path: Path) -> None:
    whole = BEFORE + CUT
    place = len(BEFORE) + cut
    scan = scan_paths(parts(tmp_path, whole[:place], whole[place:] + BEHIND, suffix))
    fenced, last = sorted((event for event in scan.events), key=lambda event: event.time_ms or 0)
    assert (fenced.category, fenced.line, fenced.offset) == ("PRODUCER_FENCED", 2, len(BEFORE))
    assert Path(fenced.file).name == f"app.log.1{suffix}"
    assert fenced.exception is not None
    assert fenced.exception.root_class.endswith("ProducerFencedException")
    assert last.message == "x"


def test_a_banner_at_the_start_of_a_file_is_not_a_second_half(tmp_path: Path) -> None:
    banner = "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes\n"
    scan = scan_paths(parts(tmp_path, BEFORE + CUT, banner + BEHIND))
    assert [event.line for event in scan.events if event.category == "PRODUCER_FENCED"] == [2]
    assert [event.line for event in scan.events if event.message == "x"] == [3]


def test_files_of_two_programs_are_not_joined(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text(BEFORE + CUT[:100], "utf-8")
    (tmp_path / "two.log").write_text(CUT[100:] + BEHIND, "utf-8")
    scan = scan_paths([tmp_path])
    assert "PRODUCER_FENCED" not in {event.category for event in scan.events if event.file.endswith("one.log")}


def docker(text: str, stamp: str = STAMP) -> str:
    lines = (json.dumps({"log": f"{line}\n", "stream": "stdout", "time": stamp}) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines)


def cri(text: str, stamp: str = STAMP) -> str:
    return "".join(f"{stamp} stdout F {line}\n" for line in text.splitlines())


@pytest.mark.parametrize("wrap", [docker, cri])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("record_count", [1, 4_000])
def test_a_record_is_whole_in_a_rotated_wrapper(
    wrap: Callable[..., str], suffix: str, record_count: int, tmp_path: Path
) -> None:
    cut = CUT.index("\tat")
    before = BEFORE * record_count
    first, second = wrap(before + CUT[:cut]), wrap(CUT[cut:] + BEHIND, LATER)
    scan = scan_paths(parts(tmp_path, first, second, suffix))
    fenced, last = sorted((event for event in scan.events), key=lambda event: event.time_ms or 0)
    assert (fenced.category, fenced.line, fenced.offset) == ("PRODUCER_FENCED", record_count + 1, len(wrap(before)))
    assert fenced.exception is not None
    assert fenced.exception.root_class.endswith("ProducerFencedException")
    assert last.message == "x"


def test_a_scan_in_tasks_joins_cut_records(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the spark extra is not installed")
    from spark_log_analytics.job import collect_scan, plan_reading
    from spark_log_analytics.rows import scan_batches

    paths = parts(tmp_path, BEFORE + CUT[:100], CUT[100:] + BEHIND)
    reading, classifier = plan_reading(paths), Classifier()
    splits = [split for source in reading.sources for split in plan_splits(source, 60)]
    batches = [
        one for split in splits for one in scan_batches(split.source.name, split.start, scan_split(split, classifier))
    ]
    scan = scan_paths(paths)
    assert len(splits) > len(paths)
    assert "PRODUCER_FENCED" in {event.category for event in scan.events}
    assert collect_scan(reading, batches) == scan
