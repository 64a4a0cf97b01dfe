"""Values in the file of variables of Node.js' package config are names, and no settings."""

from __future__ import annotations

import pytest

from eosctl.settings.deployment.deployment_files import read_components

TEXT = """kafka:
  producer: {transactional.id: PAY_TX, acks: PAY_ACKS, client.id: pay-service}
"""


@pytest.mark.parametrize(
    ("file", "acks", "resolved"),
    [
        ("config/custom-environment-variables.yml", "${PAY_ACKS}", False),
        ("config/default.yml", "PAY_ACKS", True),
    ],
)
def test_names_of_variables_are_references(file: str, acks: str, resolved: bool) -> None:
    (producer,) = read_components(file, TEXT)
    value = producer.value("acks")
    assert (value.text, value.resolved, producer.word("client.id")) == (acks, resolved, "pay-service")
