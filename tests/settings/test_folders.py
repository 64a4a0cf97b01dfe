"""Which files of a folder are read, and what is reported of those that cannot be opened."""

from __future__ import annotations

from pathlib import Path

from eosctl.settings.deployment.deployment_files import read_deployment


def test_files_of_a_folder_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    for name, target in (("gone.yaml", "nowhere"), ("loop.properties", "loop.properties"), ("notes.md", "nowhere")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "cut.json").write_text('{"connector.class": "x", "exactly.once.support": "required"')
    read = read_deployment([tmp_path])
    assert [Path(one.file).name for one in read.unreadable] == ["cut.json", "gone.yaml", "loop.properties"]


def test_mounted_config_maps_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "..2026_11").mkdir()
    (tmp_path / "..2026_11" / "server.properties").write_text("process.roles=broker\n")
    (tmp_path / "..data").symlink_to("..2026_11")
    (tmp_path / "server.properties").symlink_to("..data/server.properties")
    assert read_deployment([tmp_path]).read == (str(tmp_path / "server.properties"),)
