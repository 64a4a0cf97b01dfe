"""References to keys of the same document are read as the values of those keys."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from eosctl.settings.deployment.deployment_files import read_components

YAML = """spring:
  application: {{name: pay}}
  kafka:
    producer:
      acks: {acks}
      transaction-id-prefix: ${{spring.application.name}}-
app:
  kafka:
    producer: {{acks: "1"}}
"""


@pytest.mark.parametrize(
    ("acks", "expected"),
    [
        ("${app.kafka.producer.acks}", ("1", True)),
        ("${app.kafka.producer.acks:all}", ("1", True)),
        ("${app.kafka.other:all}", ("${app.kafka.other:all}", False)),
        ("${ACKS:all}", ("${ACKS:all}", False)),
    ],
)
def test_a_key_of_the_document_is_its_value(acks: str, expected: tuple[str, bool]) -> None:
    found = [one for one in read_components("application.yml", YAML.format(acks=acks)) if one.role is Role.PRODUCER]
    producer = next(one for one in found if one.inside is Role.SPRING)
    assert producer.word("transactional.id") == "pay-"
    assert (producer.value("acks").text, producer.value("acks").resolved) == expected


def test_a_value_used_elsewhere_configures_nothing_itself() -> None:
    found = read_components("application.yml", YAML.format(acks="${app.kafka.producer.acks}"))
    assert [one.inside for one in found if one.role is Role.PRODUCER] == [Role.SPRING]


def test_references_in_properties_are_filled() -> None:
    text = "app.tx=pay\nspring.kafka.producer.transaction-id-prefix=${app.tx}-\n"
    (producer,) = (one for one in read_components("application.properties", text) if one.role is Role.PRODUCER)
    assert producer.word("transactional.id") == "pay-"


def test_what_refers_to_itself_stays_as_it_is() -> None:
    text = "spring.kafka.producer.acks=${spring.kafka.producer.acks}\n"
    (producer,) = (one for one in read_components("application.properties", text) if one.role is Role.PRODUCER)
    assert not producer.value("acks").resolved
