"""A check that was interrupted at any segment and continued reports what one run reports; nothing else is taken."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.collect.data_dirs import Inspected, inspect_data_dirs
from eosctl.collect.fsck_progress import FsckProgressFile, Pace, Taken
from eosctl.errors import UsageError
from eosctl.storage.survey import survey_data_dir
from tests.analysis.fsck.damage import DAMAGES
from tests.analysis.fsck.test_recorded_cases import CASES
from tests.commands.decode.running import run
from tests.storage.cases import FIXTURES

NOW_MS = 1_795_253_419_624
EVERY_SEGMENT = Pace(point_bytes=0, save_bytes=0)
RECORDED = FIXTURES / "k431-tv2-transactions" / "data"


class Interrupted(BaseException):
    """Stops a check, as Ctrl-C does."""


def inspect(
    directories: list[Path], file: Path | None = None, *, stop_after: int = -1, pace: Pace = EVERY_SEGMENT
) -> tuple[Inspected, Taken | None]:
    """Check directories; stop before the log after so many reads, without a last save."""
    left = [stop_after]

    def read(descriptor: int, size: int, position: int) -> bytes:
        if not left[0]:
            raise Interrupted
        left[0] -= 1
        return os.pread(descriptor, size, position)

    progress = None if file is None else FsckProgressFile(file, directories, NOW_MS, pace)
    found = inspect_data_dirs([survey_data_dir(one) for one in directories], read, lambda: None, progress=progress)
    return found, None if progress is None else progress.taken


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_continued_check_equals_one_run(case: Path, tmp_path: Path) -> None:
    directories = sorted(case.glob("data*"))
    whole, _ = inspect(directories)
    logs = [log for one in directories for log in one.glob("*/*.log")]
    reads = 0
    while True:
        try:
            found, taken = inspect(directories, tmp_path / "file", stop_after=reads)
            break
        except Interrupted:
            reads += 1
    assert found == whole
    assert taken is not None
    assert (taken.segments + taken.read_segments, taken.changed) == (len(logs), 0)
    assert bool(taken.segments) == (sum(log.stat().st_size > 0 for log in logs) > 1)


@settings(max_examples=40)
@given(
    case=st.sampled_from([path for path in CASES if len(list(path.glob("data*/*/*.log"))) > 4]),
    stops=st.lists(st.integers(0, 12), max_size=4),
    damage=st.sampled_from(DAMAGES),
    seed=st.integers(0, 2**32),
)
def test_what_changed_between_runs_is_judged_again(
    case: Path, stops: list[int], damage: object, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("resumed")
    data = shutil.copytree(sorted(case.glob("data*"))[0], home / "data", copy_function=shutil.copyfile)
    for path in data.rglob("*/"):
        path.chmod(0o755)
    chance = random.Random(seed)
    for number, stop in enumerate(stops):
        try:
            inspect([data], home / "file", stop_after=stop)
        except Interrupted:
            pass
        else:
            (home / "file").unlink()
        if number == len(stops) - 1:
            partition = chance.choice(sorted(path for path in data.glob("*-*/") if any(path.glob("*.log"))))
            damage(partition, chance)  # type: ignore[operator]
    found, _ = inspect([data], home / "file")
    assert found == inspect([data])[0]


def test_a_grown_last_segment_is_read_again_alone(tmp_path: Path) -> None:
    data = shutil.copytree(RECORDED, tmp_path / "data", copy_function=shutil.copyfile)
    shutil.rmtree(data / "__transaction_state-1", ignore_errors=True)
    for path in data.iterdir():
        if path.is_dir() and path.name != "journal-0":
            shutil.rmtree(path)
    logs = sorted((data / "journal-0").glob("*.log"))
    sizes = [log.stat().st_size for log in logs]
    assert len(logs) == 6
    last = logs[-1].read_bytes()
    logs[-1].write_bytes(last[: len(last) // 2])
    inspect([data], tmp_path / "file")
    logs[-1].write_bytes(last)
    found, taken = inspect([data], tmp_path / "file")
    assert found == inspect([data])[0]
    assert taken is not None
    assert (taken.segments, taken.log_bytes, taken.read_segments, taken.changed) == (5, sum(sizes[:5]), 1, 0)
    logs[2].write_bytes(logs[2].read_bytes()[:-7])
    found, taken = inspect([data], tmp_path / "file")
    assert found == inspect([data])[0]
    assert taken is not None
    assert (taken.segments, taken.read_segments, taken.changed) == (0, 6, 1)


def test_the_command_says_what_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, alone = tmp_path / "progress", run(capsys, "fsck", RECORDED)
    pread, left = os.pread, [30]

    def stop(descriptor: int, size: int, position: int) -> bytes:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return pread(descriptor, size, position)

    monkeypatch.setattr("os.pread", stop)
    interrupted = run(capsys, "fsck", RECORDED, "--progress-file", file)
    monkeypatch.undo()
    assert (interrupted.code, interrupted.out) == (130, "")
    assert f"progress saved to {file}" in interrupted.err
    left_over = file.read_bytes()
    again = run(capsys, "fsck", RECORDED, "--progress-file", file)
    assert (again.code, again.out.startswith(alone.out)) == (alone.code, True)
    assert "Taken from the interrupted run of " in again.out
    assert not file.exists()
    file.write_bytes(left_over)
    (remark,) = json.loads(run(capsys, "fsck", RECORDED, "--progress-file", file, "-o", "json").out)["remarks"]
    assert remark in again.out
    fresh = run(capsys, "fsck", RECORDED, "--progress-file", file)
    assert (fresh.out, file.exists()) == (alone.out, False)


def test_a_torn_or_foreign_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "progress"
    inspect([RECORDED], file)
    whole = file.read_bytes()
    chance = random.Random(1)
    torn = [whole[: chance.randrange(len(whole))] for _ in range(50)]
    flipped = [
        whole[:at] + bytes((whole[at] ^ 1 << chance.randrange(8),)) + whole[at + 1 :]
        for at in (chance.randrange(len(whole)) for _ in range(50))
    ]
    for content in (*torn, *flipped, b"", b"{}", whole + b"x"):
        file.write_bytes(content)
        with pytest.raises(UsageError, match=r"cannot be used|does not hold the progress"):
            inspect([RECORDED], file)
        assert file.read_bytes() == content
    assert run(capsys, "fsck", RECORDED, "--progress-file", file).code == 2


def test_progress_is_of_one_set_of_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = tmp_path / "progress", FIXTURES / "damaged-bitflip-payload" / "data"
    inspect([RECORDED], file)
    with pytest.raises(UsageError, match="a check of other directories"):
        inspect([RECORDED, other], file)
    ran = run(capsys, "fsck", other, "--progress-file", file)
    assert (ran.code, f"It was written for {RECORDED}." in ran.err) == (2, True)


def test_progress_of_another_eosctl_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "progress"
    inspect([RECORDED], file)
    monkeypatch.setattr("eosctl.__version__", "99.0")
    with pytest.raises(UsageError, match=r"this is 99\.0"):
        inspect([RECORDED], file)


def test_no_progress_is_written_into_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = shutil.copytree(RECORDED, tmp_path / "data", copy_function=shutil.copyfile)
    ran = run(capsys, "fsck", data, "--progress-file", data / "progress")
    assert (ran.code, "Data directories are only read" in ran.err, (data / "progress").exists()) == (2, True, False)
    missing = run(capsys, "fsck", data, "--progress-file", tmp_path / "missing" / "progress")
    assert (missing.code, "Cannot write" in missing.err) == (2, True)
