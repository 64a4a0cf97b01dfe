"""What reading every file of public repositories showed: each is a kind, with files made for the test."""

from __future__ import annotations

from typing import Final

import pytest

from eosctl.model.deployment import Component, Role
from eosctl.settings.deployment_files import read_components
from eosctl.settings.yaml_file import YamlError, parse_yaml

TABLE: Final = """CREATE TABLE parcels (id INT) WITH (
  'connector' = 'kafka', 'topic' = 'parcels', 'format' = 'json', {more}
  'properties.bootstrap.servers' = 'k:9092'
);
"""


def roles_of(file: str, text: str) -> list[Role]:
    """Return the roles of what a text configures, the clients inside others aside."""
    return [one.role for one in read_components(file, text) if one.inside is None]


def inside(found: list[Component]) -> list[Role]:
    return [one.role for one in found if one.inside is not None]


class TestYaml:
    def test_an_anchor_is_named_again(self) -> None:
        (document,) = parse_yaml("a: &x 1\nb: *x\nc: &x 2\nd: [*x, '&x']\n")
        assert document == parse_yaml("a: &x 1\nb: *x\nc: &y 2\nd: [*y, '&x']\n")[0]

    def test_a_variable_stands_in_brackets(self) -> None:
        (document,) = parse_yaml('a: [ ${A} ]\nb: ${B:c}-${D}\nc: "${! e }"\n')
        assert document == parse_yaml('a: ["${A}"]\nb: "${B:c}-${D}"\nc: "${! e }"\n')[0]

    @pytest.mark.parametrize("text", ["a: [${A}", "a: *x\nb: &x 1\nc: &x 2", "a: &x 1\nb: &x [\n"])
    def test_a_malformed_text_is_refused(self, text: str) -> None:
        with pytest.raises(YamlError):
            parse_yaml(text)


class TestFlinkSql:
    @pytest.mark.parametrize(
        ("more", "client"),
        [
            ("'properties.group.id' = 'a',", Role.CONSUMER),
            ("", Role.PRODUCER),
            ("'properties.group.id' = 'a', 'sink.parallelism' = '2',", Role.PRODUCER),
        ],
    )
    def test_a_table_is_read_without_options(self, more: str, client: Role) -> None:
        found = read_components("jobs.sql", TABLE.format(more=more))
        assert (found[0].role, inside(found)) == (Role.FLINK, [client])

    def test_a_statement_stands_in_a_resource(self) -> None:
        text = (
            f'resource "aiven_flink_application_version" "a" {{\n  statement = <<EOT\n{TABLE.format(more="")}EOT\n}}\n'
        )
        assert roles_of("main.tf", text) == [Role.FLINK]


class TestKsqlDb:
    def test_a_server_is_a_streams_application(self) -> None:
        text = "listeners=http://0.0.0.0:8088\nbootstrap.servers=k:9092\nksql.service.id=parcels_\n"
        assert roles_of("ksql-server.properties", text) == [Role.STREAMS]
