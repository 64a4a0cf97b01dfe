"""Several processes add profiles concurrently, and a disk is full: no existing profile is lost."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError, UsageError
from eosctl.settings.clusters.profile_editing import add_profile, remove_profile
from eosctl.settings.clusters.profiles import read_profiles
from eosctl.whole_file import whole_file


def test_profiles_added_concurrently_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / "profiles.yaml"
    names = [f"p{number}" for number in range(20)]
    # Each call opens the lock anew, as a process of its own does.
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: add_profile(path, name, {"bootstrap.servers": "b:9092"}, protected=False), names))
    assert sorted(read_profiles(path)) == sorted(names)
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: remove_profile(path, name), names[1:]))
    assert sorted(read_profiles(path)) == names[:1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_refused_profile_releases_the_file(tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    add_profile(path, "a", {"bootstrap.servers": "b:9092"}, protected=False)
    with pytest.raises(UsageError):
        add_profile(path, "a", {"bootstrap.servers": "c:9092"}, protected=False)
    add_profile(path, "c", {"bootstrap.servers": "c:9092"}, protected=False)
    assert sorted(read_profiles(path)) == ["a", "c"]


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigFileError, match="Cannot write"):
        add_profile(tmp_path / "file" / "profiles.yaml", "a", {"bootstrap.servers": "b:9092"}, protected=False)


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("old")
    with pytest.raises(OSError), whole_file(path) as file:
        file.write(b"half of the n")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("state.json", "old")]


@pytest.mark.parametrize(("is_private", "mode"), [(True, 0o600), (False, 0o640)])
def test_a_replaced_file_has_the_right_readers(tmp_path: Path, is_private: bool, mode: int) -> None:
    path = tmp_path / "state.json"
    path.touch()
    path.chmod(0o640)
    with whole_file(path, is_private=is_private) as file:
        file.write(b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_a_replaced_file_stays_with_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.properties"
    path.touch()
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(Path, "stat", lambda *_, **__: os.stat_result((0o100640, 1, 1, 1, 4711, 4712, 0, 0, 0, 0)))
    monkeypatch.setattr(os, "fchown", lambda _, owner, group: given.append((owner, group)))
    with whole_file(path, is_private=False) as file:
        file.write(b"new")
    assert given == [(4711, 4712)]
