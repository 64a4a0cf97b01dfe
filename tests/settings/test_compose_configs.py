"""Configs of Compose: texts within the description that services mount as files."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Role
from tests.settings.test_deployment_files import findings, only

PRODUCER = "transactional.id=pay\nenable.idempotence=false\n"


def compose(mount: str, text: str, replicas: int = 1) -> str:
    lines = "".join(f"      {line}\n" for line in text.splitlines())
    return (
        f"services:\n  pay:\n    image: pay\n    deploy:\n      replicas: {replicas}\n    configs:\n      - {mount}\n"
        f"configs:\n  pay:\n    content: |\n{lines}"
    )


@pytest.mark.parametrize("mount", ["pay", "{source: pay, target: /etc/pay/producer.properties}"])
def test_a_text_of_a_config_is_judged_at_its_lines(mount: str) -> None:
    assert findings(("compose.yaml", compose(mount, PRODUCER))) == ["EOS-CFG-010 compose.yaml:12"]


def test_the_processes_of_a_service_share_the_ids_of_its_config() -> None:
    found = findings(("compose.yaml", compose("pay", "transactional.id=pay\n", replicas=3)))
    assert found == ["EOS-CFG-147 compose.yaml:11"]


def test_the_target_shows_what_a_config_is() -> None:
    mount = "{source: pay, target: /etc/kafka/consumer.properties}"
    assert only("compose.yaml", compose(mount, "session.timeout.ms=6000\n"), Role.CONSUMER).name.endswith(
        "(consumer.properties)"
    )
