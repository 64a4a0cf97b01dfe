"""Keys and values in XML: .NET's App.config, and beans of Spring."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.settings.formats.tree import flatten
from eosctl.settings.formats.xml_file import parse_xml
from tests.settings.test_environments import found

DOTNET = """<?xml version="1.0" encoding="utf-8"?>
<configuration>
  <appSettings>
    <add key="Kafka.Consumer.GroupId" value="claims" />
    <add key="Kafka.Consumer.EnableAutoCommit" value="AUTO" />
    <add key="Kafka.Producer.TransactionalId" value="claims-1" />
    <!-- <add key="Kafka.Producer.Acks" value="None" /> -->
    <add key='Kafka.Producer.EnableIdempotence' value='true' />
  </appSettings>
</configuration>
"""
BEANS = """<beans>
  <bean id="producer" class="org.springframework.kafka.core.DefaultKafkaProducerFactory">
    <constructor-arg><map>
      <entry key="transactional.id" value="claims-1"/>
      <entry key="acks"><value>ACKS</value></entry>
    </map></constructor-arg>
  </bean>
  <util:properties id="consumer">
    <prop key="group.id">a &amp; b</prop>
    <prop key="isolation.level">read_committed</prop>
    <prop key="enable.auto.commit">false</prop>
  </util:properties>
</beans>
"""


def leaves(text: str) -> dict[str, tuple[str | None, int]]:
    return {key: (leaf.text, leaf.line) for document in parse_xml(text) for key, leaf in flatten(document)}


def test_keys_of_dotnet_are_mappings() -> None:
    read = leaves(DOTNET)
    assert read["Kafka.Consumer.GroupId"] == ("claims", 4)
    assert read["Kafka.Producer.EnableIdempotence"] == ("true", 8)
    assert "Kafka.Producer.Acks" not in read


def test_beans_have_their_own_maps() -> None:
    read = leaves(BEANS.replace("ACKS", "all"))
    assert read["producer.acks"] == ("all", 5)
    assert read["consumer.group.id"] == ("a & b", 9)


@given(st.text(alphabet="<>/=\"' !-&;abkeyprop\n", max_size=80))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= line <= lines for _, line in leaves(text).values())


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("App.config", DOTNET.replace("AUTO", "true"), {("EOS-CFG-021", "App.config", 5)}),
        ("App.config", DOTNET.replace("AUTO", "false"), set()),
        ("kafka-context.xml", BEANS.replace("ACKS", "1"), {("EOS-CFG-011", "kafka-context.xml", 5)}),
        ("kafka-context.xml", BEANS.replace("ACKS", "all"), set()),
        ("client.config", "transactional.id=a\nacks=1\n", {("EOS-CFG-011", "client.config", 2)}),
    ],
)
def test_files_of_xml_are_judged(tmp_path: Path, name: str, text: str, expected: set[tuple[str, str, int]]) -> None:
    assert {one for one in found(tmp_path, {name: text}) if one[0] in ("EOS-CFG-011", "EOS-CFG-021")} == expected
