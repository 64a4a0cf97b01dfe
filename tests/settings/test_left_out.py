"""A file that sets Kafka's settings is named if its name or its folder kept it from being read."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.settings.files.left_out import left_out
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")

GOOD = "transactional.id=pay-1\nbootstrap.servers=kafka-1:9092\n"
BAD = f"{GOOD}enable.idempotence=false\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.properties").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "producer.properties.prod",
        "producer.properties-prod",
        "producer.properties~",
        "producer.yaml.gotmpl",
        "kafka.props",
        "env.list",
        "build/bad.properties",
        "target/classes/producer.properties",
    ],
)
def test_a_file_that_was_not_read_is_named(name: str, folder: Path) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(BAD)
    linted = eosctl("config", "lint", folder, "--require-complete")
    assert (linted.code, name in linted.out) == (4, True)
    doctor = eosctl("doctor", folder, "--require-complete")
    assert (doctor.code, name in doctor.err) == (4, True)
    assert eosctl("doctor", folder).code == 0


def test_settings_in_a_program_are_named(folder: Path) -> None:
    (folder / "settings.rb").write_text('PRODUCER = {"transactional.id": "pay", "enable.idempotence": False}\n')
    (folder / "main.py").write_text('producer = Producer({"transactional.id": "pay"})\n')
    assert [Path(file).name for file in left_out([folder], ())] == ["settings.rb"]


def test_copies_and_other_files_are_not_named(folder: Path) -> None:
    for name in ("build/good.properties", "node_modules/bad.properties", ".git/config.properties.prod"):
        (folder / name).parent.mkdir()
        (folder / name).write_text(GOOD)
    (folder / "producer.properties.md").write_text(BAD)
    (folder / "readme.properties.prod").write_text("# transactional.id=a\ncolor=blue\n")
    linted = eosctl("config", "lint", folder, "--require-complete")
    assert (linted.code, "not understood" in linted.out) == (0, False)
