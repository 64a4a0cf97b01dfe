"""Options of an application's own program: settings of Kafka's clients on the command line of a container or a unit."""

from __future__ import annotations

import pytest

from eosctl.settings.formats.tree import Leaf
from eosctl.settings.programs.command_lines import options_in
from eosctl.settings.programs.program_options import variables_in_options
from tests.settings.test_deployment_files import findings

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: pay
          image: pay:1
          args:
            - --bootstrap-servers=k:9092
            - --transactional-id=pay
            - --kafka-acks
            - "1"
"""


def test_options_of_a_container_are_judged_at_their_lines() -> None:
    assert findings(("deploy.yaml", DEPLOYMENT)) == ["EOS-CFG-147 deploy.yaml:13", "EOS-CFG-011 deploy.yaml:14"]


def test_an_id_of_the_pod_differs_for_each_process() -> None:
    text = DEPLOYMENT.replace("id=pay", "id=pay-$(POD_NAME)").replace('"1"', "all")
    assert findings(("deploy.yaml", text)) == []


@pytest.mark.parametrize(
    "command",
    [
        "pay --transactional-id a --acks 1",
        "pay --kafka.transactional-id=a --kafka.acks=1",
        "python -m pay -X transactional.id=a -X acks=1",
        "pay -Xtransactional.id=a -Xacks=1",
        "pay --producer-config transactional.id=a --producer-config acks=1",
        "pay --kafka-config=transactional.id=a --kafka-config=acks=1",
        "pay --producer-props transactional.id=a acks=1",
    ],
)
def test_every_form_of_an_option_is_read(command: str) -> None:
    for file, text in (
        ("compose.yaml", f"services:\n  pay:\n    image: pay\n    command: {command}\n"),
        ("pay.service", f"[Service]\nExecStart=/opt/{command}\n"),
    ):
        assert [one.split()[0] for one in findings((file, text))] == ["EOS-CFG-011"], file


@pytest.mark.parametrize(
    "command",
    [
        "kafka-transactions.sh --bootstrap-server k:9092 find-hanging --transactional-id a",
        "kafka-acls.sh --add --transactional-id a --bootstrap-server k:9092",
        "pay --bootstrap-servers k:9092 --group-id a",
        "load --kafka-brokers k:9092 --acks-per-second 1",
        "rabbit --acks 1 --prefetch 5",
    ],
)
def test_other_options_set_nothing(command: str) -> None:
    assert variables_in_options([Leaf(command, 1)]) == []


def test_a_flag_without_a_value_is_true() -> None:
    words = [Leaf(word, line) for line, word in enumerate(("pay", "--enable-auto-commit", "--transactional-id", "a"))]
    assert [(name, leaf.text) for name, leaf in variables_in_options(words)] == [
        ("KAFKA_ENABLE_AUTO_COMMIT", "true"),
        ("KAFKA_TRANSACTIONAL_ID", "a"),
    ]


def test_an_option_with_an_empty_value_is_read() -> None:
    line = (
        "java -jar pay.jar --spring.kafka.properties.ssl.endpoint.identification.algorithm= --spring.kafka.client-id=a"
    )
    assert [leaf.text for _, leaf in options_in(line, 1)] == ["", "a"]
