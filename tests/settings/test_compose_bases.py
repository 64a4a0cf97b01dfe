"""Services of Compose have what the services have that they extend."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Component, Place, Role
from eosctl.settings.deployment.deployment_files import read_deployment

COMMON = """services:
  base:
    image: acme/settler:3
    environment:
      - KAFKA_BOOTSTRAP_SERVERS=kafka:9092
      - KAFKA_TRANSACTIONAL_ID=settler
"""
ALONE = """services:
  a:
    extends: {file: common.yml, service: base}
"""
OWN = """services:
  a:
    extends: {file: common.yml, service: base}
    environment: {KAFKA_TRANSACTIONAL_ID: a}
  b:
    extends: a
    environment: {KAFKA_ACKS: all}
"""


def _producers(folder: Path) -> list[Component]:
    return [one for one in read_deployment([folder]).deployment.components if one.role is Role.PRODUCER]


def test_a_base_in_another_file_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("common.yml").write_text(COMMON)
    Path("compose.yml").write_text(ALONE)
    (producer,) = _producers(Path())
    identity = producer.value("transactional.id")
    assert (producer.name, identity.text, identity.place) == ("compose.yml (a)", "settler", Place("common.yml", 6))


def test_variables_of_a_service_lie_over_its_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("common.yml").write_text(COMMON)
    Path("compose.yml").write_text(OWN)
    found = {one.name: (one.word("transactional.id"), one.has("acks")) for one in _producers(Path())}
    assert found == {"compose.yml (a)": ("a", False), "compose.yml (b)": ("a", True)}


@pytest.mark.parametrize("base", ["a", "missing", "{file: gone.yml, service: base}", "{service: a}", "[a]"])
def test_a_base_that_cannot_be_found_changes_nothing(base: str, tmp_path: Path) -> None:
    text = f"services:\n  a:\n    image: x/a\n    extends: {base}\n    environment: {{KAFKA_TRANSACTIONAL_ID: a}}\n"
    (tmp_path / "compose.yml").write_text(text)
    (producer,) = _producers(tmp_path)
    assert producer.word("transactional.id") == "a"
