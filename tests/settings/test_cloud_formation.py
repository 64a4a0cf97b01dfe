"""Functions of CloudFormation: defaults of parameters count, everything else is named as not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.deployment import Role
from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration
from eosctl.settings.deployment.deployment_files import read_components

TASK = """Parameters:
  Count: {Type: Number, Default: 3}
  Acks: {Type: String, Default: "%s"}
Resources:
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - Name: pay
          Environment:
            - Name: SPRING_KAFKA_BOOTSTRAP_SERVERS
              Value: !Ref Brokers
            - {Name: SPRING_KAFKA_PRODUCER_ACKS, Value: !Ref Acks}
            - {Name: SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX, Value: %s}
  Service:
    Type: AWS::ECS::Service
    Properties: {DesiredCount: !Ref Count, TaskDefinition: !Ref Task}
"""
CLIENT = "Properties:\n  KafkaProducer:\n    bootstrap.servers: !ImportValue brokers\n    acks: %s\n"


def lint(folder: Path, text: str) -> LintResult:
    (folder / "stack.yaml").write_text(text)
    return lint_configuration(LintRequest((folder,)))


@pytest.mark.parametrize(
    ("acks", "prefix", "expected"),
    [
        ("all", '!Sub "pay-${Stage}-${Id}"', []),
        ("all", '!Join ["-", [pay, tx]]', [("EOS-CFG-072", 14)]),
        ("1", '{"Fn::Sub": ["pay-${A}", {A: {"Fn::GetAtt": [X, Y]}}]}', [("EOS-CFG-011", 13)]),
    ],
)
def test_a_task_is_judged_with_the_defaults(
    acks: str, prefix: str, expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    found = lint(tmp_path, TASK % (acks, prefix)).found
    assert [(one.check_id, int(dict(one.facts)["line"])) for one in found] == expected


@pytest.mark.parametrize(
    "value",
    [
        "!Ref Acks",
        "!GetAtt Kafka.Acks",
        "!ImportValue acks",
        "!If [Strict, all, 1]",
        "!FindInMap [A, !Ref Stage, acks]",
        '!Select [0, !Split [",", !Ref All]]',
        '{"Ref": "Acks"}',
        '{"Fn::Sub": "${Acks}"}',
        "!secret acks",
        "!vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      3136\n",
    ],
)
def test_what_is_not_in_the_file_is_named_as_not_judged(value: str, tmp_path: Path) -> None:
    result = lint(tmp_path, CLIENT % value)
    assert result.found == ()
    assert any("acks" in str(one) for one in result.linted.undecided)


def test_all_alternatives_of_a_choice_are_read() -> None:
    text = "Producer: !If [A, {transactional.id: a, acks: all}, {transactional.id: b, acks: 1}]\nOther: !Ref A\n"
    found = [one.word("acks") for one in read_components("kafka.yaml", text) if one.role is Role.PRODUCER]
    assert found == ["all", "1"]


def test_a_literal_of_ansible_is_its_text() -> None:
    (found,) = (one for one in read_components("k.yaml", CLIENT % "!unsafe all") if one.role is Role.PRODUCER)
    assert found.word("acks") == "all"
