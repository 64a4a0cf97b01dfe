"""Values from outside of the files, keys without one, and rules that only need one that is not empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.checks.undecided import is_never_empty
from eosctl.findings.diagnosis import CheckStatus
from eosctl.model.deployment import Value
from eosctl.services.lint_configuration import LintRequest, lint_configuration

OF_PRESENCE = ("EOS-CFG-010", "EOS-CFG-021")
OF_VALUE = ("EOS-CFG-046",)
APPLICATION = """\
spring.kafka.producer.transaction-id-prefix=%s
spring.kafka.consumer.group-id=orders
spring.kafka.consumer.isolation-level=read_committed
spring.kafka.consumer.enable-auto-commit=false
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders-${HOSTNAME}", True),
        ("${NAME:orders}-1", True),
        ("orders-%i", True),
        ("$(POD_NAME)-tx", True),
        ("{{ env }}-tx", True),
        ("${ID}", False),
        ("${A}-${B}", False),
        ("$(metadata.name)", False),
        ("%i", False),
        ("", False),
    ],
)
def test_a_text_around_references_is_never_empty(text: str, expected: bool) -> None:
    assert is_never_empty(Value("transactional.id", text, "transactional.id", resolved=False)) is expected


@pytest.mark.parametrize(
    ("prefix", "of_presence"), [("orders-${HOSTNAME}-", CheckStatus.PASSED), ("${PREFIX}", CheckStatus.SKIPPED)]
)
def test_rules_that_need_a_prefix_alone_are_decided(prefix: str, of_presence: CheckStatus, tmp_path: Path) -> None:
    (tmp_path / "application.properties").write_text(APPLICATION % prefix, "utf-8")
    results = lint_configuration(LintRequest((tmp_path,))).linted.diagnosis.results
    status = {one.check_id: one.status for one in results}
    assert {status[check_id] for check_id in OF_PRESENCE} == {of_presence}
    assert {status[check_id] for check_id in OF_VALUE} == {CheckStatus.SKIPPED}


@pytest.mark.parametrize("end", ["", "\n", " null\n", " ~\n"])
def test_a_key_without_a_value_is_not_judged(end: str, tmp_path: Path) -> None:
    (tmp_path / "application.yaml").write_text(
        f"spring.kafka:\n  bootstrap-servers: k:9092\n  producer:\n    acks:{end}"
    )
    (tmp_path / "connect.yaml").write_text(
        f"kind: KafkaConnect\nspec:\n  config:\n    group.id: c\n    producer.acks:{end}"
    )
    linted = lint_configuration(LintRequest((tmp_path,))).linted
    assert [one.value.key for one in linted.undecided] == ["spring.kafka.producer.acks", "producer.acks"]
    assert [one.reason for one in linted.undecided] == ["has no value"] * 2
    assert any(one.status is CheckStatus.SKIPPED for one in linted.diagnosis.results)
