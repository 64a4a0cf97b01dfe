"""Workers of a parallel run begin to collect at different parts of the tests, and each collects all."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import shares


def test_workers_begin_at_different_parts(tmp_path: Path) -> None:
    for name in (
        "a/test_1.py",
        "a/deep/test_2.py",
        "b/test_3.py",
        "b/data.txt",
        "c/test_4.py",
        "d/data.txt",
        "test_5.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [[Path(part).name for part in shares(tmp_path, worker, 3)] for worker in range(3)]
    assert found == [["a", "b", "c", "test_5.py"], ["a", "b", "c", "test_5.py"], ["c", "test_5.py", "a", "b"]]
    assert [Path(shares(tmp_path, worker, 5)[0]).name for worker in range(5)] == ["a", "a", "b", "c", "test_5.py"]
