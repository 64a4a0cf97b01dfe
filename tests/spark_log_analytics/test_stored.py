"""Logs in a file system that only Spark reaches: here Hadoop's ViewFs over a directory, without a server."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.files.sources import OTHER_NAME
from tests.logs.test_seams import BEFORE, BEHIND, CUT
from tests.logs.test_seams import parts as cut_in_two

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
FENCED = (
    "{} ERROR [Producer clientId=a, transactionalId=pay-1] Aborting producer batches due to "
    "fatal error (org.apache.kafka.clients.producer.internals.Sender)\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
)
STAMPED = FENCED.format("[2026-11-20 10:00:00,000]")
TIMED = (
    "11:00:00.000 [main] ERROR o.a.k.c.p.internals.Sender - [Producer clientId=a, transactionalId=pay-1] Aborting "
    "producer batches due to fatal error\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
)
NOVEMBER_MS = 1_794_000_000_000
TABLES = ("events", "exceptions", "incidents", "evidence", "fencing", "producers", "groups", "coverage")


@pytest.fixture
def storage(spark: Any, tmp_path: Path) -> tuple[str, Path]:
    """Return the URL of a directory and its path; ``URL/../out`` is another one."""
    # Hadoop keeps a file system by its authority, so each test has its own.
    authority = f"lab-{tmp_path.parent.name}-{tmp_path.name}".replace("_", "-").lower()
    for name in ("logs", "out"):
        (tmp_path / name).mkdir()
        spark.conf.set(f"fs.viewfs.mounttable.{authority}.link./{name}", (tmp_path / name).as_uri())
    return f"viewfs://{authority}/logs", tmp_path / "logs"


def test_stored_logs_give_the_tables_of_local_ones(spark: Any, storage: tuple[str, Path]) -> None:
    from spark_log_analytics.main import main
    from spark_log_analytics.results import last_run_id
    from spark_log_analytics.sinks import Sink

    url, folder = storage
    there, here = url.replace("/logs", "/out/there"), folder.parent / "out" / "here"
    scenario = folder / "dt=2026-11-26" / "host=broker-7" / "app"
    shutil.copytree(FIXTURES / "second-producer-392", scenario)
    for log in list(scenario.rglob("*.log"))[:3]:
        Path(f"{log}.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    (scenario / "rotated").mkdir()
    cut_in_two(scenario / "rotated", BEFORE + CUT[:100], CUT[100:] + BEHIND)
    assert main([f"{url}/dt=*", "--out", there, "--split-bytes", "7001"]) == 0
    assert main([str(folder), "--out", str(here)]) == 0

    def rows(place: str, root: str, table: str) -> list[str]:
        sink = Sink(spark, "parquet", place)
        found = sink.read(place, table, last_run_id(sink, place)).drop("run_id")
        return sorted(str(row).replace(root, "ROOT") for row in found.collect())

    for table in TABLES:
        found = rows(there, url, table)
        assert found == rows(str(here), str(folder), table)
        assert found
    assert not (here.parent / "there" / "incidents.json").exists()


def test_stamps_without_a_day_get_that_of_other_logs(spark: Any, storage: tuple[str, Path]) -> None:
    from eosctl.logs.scan import scan_paths
    from spark_log_analytics.stored import scan_stored
    from spark_log_analytics.stored_files import Reading

    url, folder = storage
    copied_s = NOVEMBER_MS // 1000 + 5 * 86_400
    for name, text in (("dated.log", FENCED.format("[2026-11-06 10:00:00,000]")), ("timed [x].log", TIMED)):
        (folder / name).write_text(text)
        os.utime(folder / name, (copied_s, copied_s))
    here = scan_paths([folder])
    there = scan_stored(spark, [url], Reading())
    found = {
        row.file.rpartition("/")[2]: row.time_ms
        for frame in there.rows
        for row in frame.where("counts is null").collect()
    }
    assert found == {Path(event.file).name: event.time_ms for event in here.events}
    assert max(found.values()) - min(found.values()) == 3_600_000
    assert [source.modified_ms for source in there.summaries] == [source.modified_ms for source in here.sources]
    for frame in there.cached:
        frame.unpersist()


def test_a_file_that_vanishes_before_its_day_is_known_is_named(
    spark: Any, storage: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_log_analytics import stored
    from spark_log_analytics.stored_files import Reading

    url, folder = storage
    copied_s = NOVEMBER_MS // 1000 + 5 * 86_400
    for name, text in (("dated.log", FENCED.format("[2026-11-06 10:00:00,000]")), ("a b%20.log", TIMED)):
        (folder / name).write_text(text)
        os.utime(folder / name, (copied_s, copied_s))
    only = stored._only

    def vanish_between_readings(*arguments: Any) -> Any:
        (folder / "a b%20.log").unlink(missing_ok=True)
        return only(*arguments)

    monkeypatch.setattr(stored, "_only", vanish_between_readings)
    there = stored.scan_stored(spark, [url], Reading())
    assert [source.file for source in there.summaries] == [f"{url}/dated.log"]
    assert there.unread == ((f"{url}/a b%20.log", stored.VANISHED, True),)
    assert sum(frame.where("counts is null").count() for frame in there.rows) == 1
    for frame in there.cached:
        frame.unpersist()


def test_what_is_not_read_is_named(
    spark: Any, storage: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from spark_log_analytics import main, stored

    url, folder = storage
    for name in ("early.log", "gone.log", "cut.log", "grown.log", "swapped.log", "kept.log", "large.log"):
        (folder / name).write_text(STAMPED)
    (folder / "large.log").write_text(STAMPED * 3)
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "ticket.md").write_text(f"# It stopped\n\n{STAMPED}")
    (folder / "readme.md").write_text("# How to start\n")
    (folder / "tool.py").write_text(STAMPED)
    monkeypatch.setattr(stored, "LARGEST_BYTES", len(STAMPED) * 2)
    listing, listed = stored._files, stored._wanted

    def vanish_after_listing(*arguments: Any) -> Any:
        files = listing(*arguments)
        (folder / "early.log").unlink(missing_ok=True)
        return files

    def change_after_listing(*arguments: Any) -> Any:
        (folder / "gone.log").unlink()
        (folder / "cut.log").write_text(STAMPED[:-20])
        (folder / "grown.log").write_text(f"{STAMPED}\n")
        (folder / "swapped.log").write_text(STAMPED.replace("pay-1", "pay-2"))
        os.utime(folder / "swapped.log", (NOVEMBER_MS // 1000, NOVEMBER_MS // 1000))
        return listed(*arguments)

    monkeypatch.setattr(stored, "_files", vanish_after_listing)
    monkeypatch.setattr(stored, "_wanted", change_after_listing)
    status = main.main([url, f"{url}/nowhere", "--out", str(folder.parent / "result")])
    done = capfd.readouterr()
    assert status == 4
    assert "early.log: it vanished after it was listed" in done.err
    assert "gone.log: it vanished after it was listed" in done.err
    assert f"grown.log: it has grown or was replaced: {len(STAMPED) + 1} bytes, when listed {len(STAMPED)}" in done.err
    assert "swapped.log: it was replaced by one of the same size: changed at 2026-11-06T" in done.err
    assert f"cut.log: it has become smaller: {len(STAMPED) - 20} bytes of {len(STAMPED)}" in done.err
    assert f"large.log: {len(STAMPED) * 3:,} bytes are more than Spark hands to a task" in done.err
    assert "table.csv: a table without log records" in done.err
    [others] = [line for line in done.err.splitlines() if line.endswith(f": {OTHER_NAME}")]
    assert others.startswith("not read: 2 files, e.g. ")
    assert "ticket.md" not in done.err
    assert f"not read: {url}/nowhere: " in done.err
    assert "5 events of 5 files" in done.out


def test_files_that_cannot_be_read_are_named_with_the_reason(
    spark: Any, storage: tuple[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    from spark_log_analytics import main

    url, folder = storage
    for name in ("kept.log", "broken [1].log"):
        (folder / name).write_text(STAMPED)
    # Hadoop compares what it reads with the checksums next to a file.
    (folder / ".broken [1].log.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + bytes(4))
    assert main.main([url, "--out", str(folder.parent / "result")]) == 4
    done = capfd.readouterr()
    assert "1 event of 1 file," in done.out
    [line] = [line for line in done.err.splitlines() if line.startswith("not read: ")]
    assert line.startswith(f"not read: {url}/broken [1].log: org.apache.hadoop.fs.ChecksumException: Checksum error")


def test_a_file_at_which_spark_stops_is_left_out(
    spark: Any, storage: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import PySparkException

    from spark_log_analytics import stored
    from spark_log_analytics.stored_files import Reading

    url, folder = storage
    for name in ("kept.log", "a denied.log"):
        (folder / name).write_text(STAMPED)
    read, left = stored._reports, [f"{url}/a%20denied.log", f"{url}/unknown.log"]

    def stop(rows: Any) -> Any:
        if len(left) > 1:
            denial = 'Permission denied: user=spark, access=READ, inode="/logs/a denied.log":root:root:-rw-------'
            raise PySparkException(f"Encountered error while reading file {left.pop(0)}. \nCaused by: {denial}")
        return read(rows)

    monkeypatch.setattr(stored, "_reports", stop)
    there = stored.scan_stored(spark, [url], Reading())
    assert [source.file for source in there.summaries] == [f"{url}/kept.log"]
    [gap] = there.unread
    assert gap.name == f"{url}/a denied.log"
    assert "HDFS denies spark the right READ on /logs/a denied.log" in gap.reason
    for frame in there.cached:
        frame.unpersist()
    left.insert(0, f"{url}/not-listed.log")
    with pytest.raises(PySparkException):
        stored.scan_stored(spark, [url], Reading())


def test_members_of_archives_are_read_below_their_url(spark: Any, storage: tuple[str, Path]) -> None:
    from spark_log_analytics.stored import scan_stored
    from spark_log_analytics.stored_files import Reading

    url, folder = storage
    copied_s = NOVEMBER_MS // 1000 + 5 * 86_400
    with zipfile.ZipFile(folder / "bundle.zip", "w") as archive:
        archive.writestr("app/a.log", STAMPED)
        archive.writestr("app/notes.py", STAMPED)
    with tarfile.open(folder / "logs.tar.gz", "w:gz") as packed:
        for name, text in (("b.log", STAMPED), ("c.log", TIMED)):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(text), copied_s
            packed.addfile(member, io.BytesIO(text.encode()))
    zipfile.ZipFile(folder / "empty.zip", "w").close()
    (folder / "cut.zip").write_bytes((folder / "bundle.zip").read_bytes()[:-30])
    there = scan_stored(spark, [url], Reading())
    names = [f"{url}/bundle.zip/app/a.log", f"{url}/logs.tar.gz/b.log", f"{url}/logs.tar.gz/c.log"]
    assert [source.file for source in there.summaries] == names
    rows = [row for frame in there.rows for row in frame.where("counts is null").collect()]
    assert sorted(row.file for row in rows) == names
    assert None not in [row.time_ms for row in rows]
    (damaged,) = (one for one in there.unread if one.is_failure)
    assert damaged.name == f"{url}/cut.zip"
    assert damaged.is_failure
    assert "not read to its end (zip)" in damaged.reason
    for frame in there.cached:
        frame.unpersist()


def test_storage_without_logs_is_a_failure(
    spark: Any, storage: tuple[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    from spark_log_analytics.main import main

    url, folder = storage
    assert main([url, "--out", str(folder.parent / "result")]) == 1
    assert main(["unknown-fs://lab/logs", "--out", str(folder.parent / "result")]) == 1
    done = capfd.readouterr().err
    assert f"not read: {url}: there are no files" in done
    assert "does not have a file system for unknown-fs://" in done


def test_a_file_that_two_urls_name_is_read_once(spark: Any, storage: tuple[str, Path]) -> None:
    from spark_log_analytics.stored import scan_stored
    from spark_log_analytics.stored_files import Reading

    url, folder = storage
    (folder / "a.log").write_text(STAMPED)
    (folder / "b.log").write_text(STAMPED)
    there = scan_stored(spark, [f"{url}/a*", url], Reading())
    assert [source.file for source in there.summaries] == [f"{url}/a.log", f"{url}/b.log"]
    assert there.unread == ()
    assert sum(frame.where("counts is null").count() for frame in there.rows) == 2
    for frame in there.cached:
        frame.unpersist()
