"""Commands that a pipeline's runner finds anywhere in a line are text in each format, and read back as they were."""

from __future__ import annotations

import json

import pytest
import yaml

from eosctl.render.escaping import lines_text, without_commands
from eosctl.render.findings.github import annotation_property, annotation_text
from eosctl.render.machine import render_csv, render_json, render_json_line, render_tsv, render_yaml
from tests.commands.inert import commands_in

TEXTS = (
    "##[error]a", "a ##vso[task.setvariable variable=x]y", "##teamcity[buildStatus text='a']", "###[error]a",
    "a\\##[error]b", "a\\\\##[error]b", '"##[error]"', "'##[error]", "a\n##[error]b\n", "##[", "::error::a ##[error]b",
    "é ##[error]", f"{'word ' * 40}##[error]", "##[error]: a", "- ##[error]",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_documents_read_back_as_they_were(text: str) -> None:
    value = {text: [text, {"a": text}]}
    for encoded in (render_json(value), render_json_line(value)):
        assert not commands_in(encoded)
        assert json.loads(encoded) == value
    as_yaml = render_yaml(value)
    assert not commands_in(as_yaml)
    assert yaml.safe_load(as_yaml) == value


@pytest.mark.parametrize("text", TEXTS)
def test_lines_hold_no_command(text: str) -> None:
    shown = (
        lines_text(text), without_commands(text), render_tsv([[text, text]]), render_csv([[text, text]]),
        f"x{annotation_text(text)}", f"x{annotation_property(text)}",
    )  # fmt: skip
    assert [commands_in(one) for one in shown] == [[]] * len(shown)


@pytest.mark.parametrize("text", ["## Title [x]", "# [x]", "a#[b]", "##", "## a", "a::b"])
def test_other_signs_stay(text: str) -> None:
    assert without_commands(text) == text
