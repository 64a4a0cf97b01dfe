"""A record that two runs read at the same time never loses what one of them added."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.command_line.updated_file import updating
from eosctl.errors import EosctlError
from eosctl.render.machine import render_json

BEFORE, ONE, OTHER = ({"schema": "eosctl.checklist-record", "answers": number} for number in range(3))


@pytest.mark.parametrize("exists", [False, True])
def test_the_second_writer_is_refused(exists: bool, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    if exists:
        path.write_text(render_json(BEFORE), "utf-8")
    first, second = updating(path, render_json), updating(path, render_json)
    first(ONE)
    first(ONE | {"answers": 7})
    with pytest.raises(EosctlError, match="changed since it was read"):
        second(OTHER)
    assert path.read_text("utf-8") == render_json(ONE | {"answers": 7})
    assert [one.name for one in tmp_path.iterdir()] == ["record.json"]


def test_devices_and_nothing_take_every_value() -> None:
    for keep in (updating(None, render_json), updating(Path("/dev/null"), render_json)):
        keep(ONE)
        keep(OTHER)
