"""State directories that Kafka Streams wrote under exactly_once_v2, killed in its work and closed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.storage.errors import DamagedFile
from eosctl.storage.file_lock import LockState
from eosctl.storage.streams_state import find_applications, read_checkpoint, read_process_id
from tests.commands.decode.running import run

STREAMS = Path(__file__).parents[2] / "fixtures" / "streams"
STORE = "KSTREAM-AGGREGATE-STATE-STORE-0000000004"
CHANGELOG = f"word-count-{STORE}-changelog"
HOLD = "import fcntl,sys; f=open(sys.argv[1],'r+b'); fcntl.lockf(f, fcntl.LOCK_EX); print('held',flush=True); input()"


def decoded(
    capsys: pytest.CaptureFixture[str], path: Path, *, code: int = 0
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ran = run(capsys, "decode", "state-dir", path, "-o", "json")
    assert ran.code == code, ran.err
    application, *stores = [json.loads(line) for line in ran.out.splitlines()]
    return application, stores


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(STREAMS / "closed-3.9.2", tmp_path / "state")


@pytest.mark.parametrize(
    ("case", "changelog", "offsets", "home"),
    [
        ("closed-3.9.2", CHANGELOG, [403, 402], "checkpoint"),
        ("killed-3.9.2", CHANGELOG, [None, None], "nowhere"),
        ("closed-4.3.1", "", [None, None], "store"),
    ],
)
def test_recorded(
    case: str, changelog: str, offsets: list[int | None], home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    application, stores = decoded(capsys, STREAMS / case)
    assert (application["application_id"], application["task_count"]) == ("word-count", 2)
    assert len(application["process_id"]) == 36
    assert [(row["task"], row["store"], row["changelog"]) for row in stores] == [
        ("1_0", STORE, changelog),
        ("1_1", STORE, changelog),
    ]
    assert [row["offset"] for row in stores] == offsets
    assert {row["offset_in"] for row in stores} == {home}
    assert all(row["size_bytes"] > 10_000 for row in stores)


def test_an_application_and_a_task_may_be_named_too(capsys: pytest.CaptureFixture[str]) -> None:
    whole = decoded(capsys, STREAMS / "closed-3.9.2")[1]
    state = STREAMS / "closed-3.9.2" / "word-count"
    assert decoded(capsys, state)[1] == [{**row, "file": str(state)} for row in whole]
    application, stores = decoded(capsys, state / "1_1")
    assert application["task_count"] == 1
    assert [row["offset"] for row in stores] == [402]


def test_stores_in_memory_named_topologies_and_the_global_task(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    application = copy / "word-count"
    (application / "__billing__").mkdir()
    (application / "1_1").rename(application / "__billing__" / "1_1")
    (application / "global").mkdir()
    (application / "global" / ".checkpoint").write_text("0\n1\ncountries 0 17\n")
    checkpoint = application / "1_0" / ".checkpoint"
    checkpoint.write_text(f"0\n2\n{CHANGELOG} 0 403\nword-count-recent-changelog 0 9\n")
    _, stores = decoded(capsys, copy)
    assert [(row["task"], row["store"], row["changelog"], row["offset"]) for row in stores] == [
        ("1_0", STORE, CHANGELOG, 403),
        ("1_0", "recent", "word-count-recent-changelog", 9),
        ("__billing__/1_1", STORE, CHANGELOG, 402),
        ("global", "", "countries", 17),
    ]


def test_damage_is_reported_and_the_rest_is_read(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copy / "word-count" / "1_0" / ".checkpoint").write_text(f"0\n1\n{CHANGELOG} 0 many\n")
    (copy / "word-count" / "kafka-streams-process-metadata").write_text('{"processId":')
    application, stores = decoded(capsys, copy, code=1)
    assert application["process_id"] is None
    assert [(row["offset"], row["offset_in"]) for row in stores] == [(None, "nowhere"), (402, "checkpoint")]
    ran = run(capsys, "decode", "state-dir", copy)
    assert "1_0/.checkpoint" in ran.err
    assert "line 3" in ran.err
    assert "kafka-streams-process-metadata" in ran.err
    assert run(capsys, "decode", "state-dir", copy, "--strict").code == 1


@given(st.one_of(st.binary(max_size=200), st.just(b"[" * 100_000), st.just(b'{"processId":7}')))
def test_no_content_of_the_small_files_crashes(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        task = Path(name) / "0_0"
        task.mkdir()
        (task / ".checkpoint").write_bytes(content)
        (Path(name) / "kafka-streams-process-metadata").write_bytes(content)
        for read, path in ((read_checkpoint, task), (read_process_id, Path(name))):
            with suppress(DamagedFile):
                read(path)


def test_who_holds_the_directory_is_seen_without_taking_the_lock(copy: Path) -> None:
    lock = copy / "word-count" / ".lock"
    (application,) = find_applications(copy)
    assert (application.lock, application.lock_pid) == (LockState.FREE, None)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        (application,) = find_applications(copy)
        assert (application.lock, application.lock_pid) == (LockState.HELD, holder.pid)
    finally:
        holder.communicate(b"\n")
    lock.unlink()
    (application,) = find_applications(copy)
    assert application.lock is LockState.ABSENT


def test_folders_without_state_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "orders-0").mkdir()
    for wrong in (tmp_path, tmp_path / "absent"):
        ran = run(capsys, "decode", "state-dir", wrong)
        assert ran.code == 2
        assert "state.dir" in ran.err
    assert run(capsys, "decode", "state-dir", STREAMS / "closed-3.9.2", "-o", "kafka").code == 2
