"""Files of misspelled settings are named, and are not taken for those of another program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.settings.names.misspelled import misspelled_settings
from tests.commands.conftest import eosctl

NAMES = ("transactional.id", "enable.idempotence", "bootstrap.servers", "min.insync.replicas", "isolation.level")


@given(st.sampled_from(NAMES), st.data())
def test_any_letter_missing_or_doubled_is_seen(name: str, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from([place for place, letter in enumerate(name) if letter != "."][1:-1]))
    for wrong in (name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:]):
        assert list(misspelled_settings(f"  {wrong}: x")) == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "transactional.id=x",
        "spring.jpa.open-in-view=false\nserver.port=80",
        "# transactonal.id",
        "isolation: level",
        "a.b=transactonal.id",
    ],
)
def test_other_keys_and_right_ones_are_not_misspelled(text: str) -> None:
    assert list(misspelled_settings(text)) == []


def test_a_file_of_misspelled_settings_is_not_understood(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("transactonal.id=payments\nenable.idempotnce=true\n")
    found = eosctl("config", "lint", path)
    assert found.code == 2
    assert "not understood" in found.out + found.err
