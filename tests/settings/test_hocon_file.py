"""HOCON: objects, paths, joined values and references as the specification has them, and nothing from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.findings.linted import findings_of
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.hocon_file import HoconError, parse_hocon
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten

ALPAKKA = """# Pekko's connector
include "outside.conf"
defaults { enable.idempotence = true }
pekko.kafka.producer {
  kafka-clients = ${defaults} {
    transactional.id = "orders"   // one instance
    acks = "1"
    acks = ${?ACKS}
  }
}
pekko.kafka.consumer.kafka-clients {
  isolation.level = read_uncommitted,
  enable.auto.commit : true
}
"""


def plain(node: Node) -> Any:
    match node:
        case Leaf(text):
            return text
        case Row(nodes):
            return [plain(member) for member in nodes]
        case Branch(entries):
            return {name: plain(child) for name, child in entries}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a { b = 2, c: x y  z }", {"a": {"b": "2", "c": "x y  z"}}),
        ('{ "a" : { "b" : [1, 2,] } }', {"a": {"b": ["1", "2"]}}),
        ('a.b.c = "q"\na.b.d = 3', {"a": {"b": {"c": "q", "d": "3"}}}),
        ('a."b.c" = 1', {"a": {"b.c": "1"}}),
        ("a { b = 1 }\na { c = 2 }", {"a": {"b": "1", "c": "2"}}),
        ("a { b = 1 }\na = 2", {"a": "2"}),
        ("a += 1\na += 2", {"a": ["1", "2"]}),
        ("a = [1\n2]  [3]", {"a": ["1", "2", "3"]}),
        ('a = foo"bar"baz', {"a": "foobarbaz"}),
        ('a = """x "y"\nz""""', {"a": 'x "y"\nz"'}),
        ("// c\na = 1 # d\n# e", {"a": "1"}),
        ('u = "http://x:9/y#z"', {"u": "http://x:9/y#z"}),
        ('a = null\nb = "null"', {"a": None, "b": "null"}),
        ("a =\n  5", {"a": "5"}),
        ("x = 5\ny = a-${x}", {"x": "5", "y": "a-5"}),
        ("y = ${x}\nx = 5", {"y": "5", "x": "5"}),
        ("k { base { z = 1 }\n own = ${k.base} { w = 2 } }", {"k": {"base": {"z": "1"}, "own": {"z": "1", "w": "2"}}}),
        ("a = 1\na = ${?HOME}", {"a": "1"}),
        ("a = ${?HOME}", {"a": "${?HOME}"}),
        ("a = ${HOME}/x", {"a": "${HOME}/x"}),
        ('include file("/etc/passwd")\na = 1', {"a": "1"}),
    ],
)
def test_meaning(text: str, meaning: object) -> None:
    assert plain(parse_hocon(text)) == meaning


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a {\n b = 1\n", 1, "a brace is not closed"),
        ("\na = [1,\n2", 2, "a bracket is not closed"),
        ('\n\na = "x', 3, "a quotation mark is not closed"),
        ("a = 1\nb\n", 2, "no value follows b"),
        ("a = 1\n}\n", 2, "a key is missing"),
        ("a =", 1, "a value is missing"),
        ('a = "\\q"', 1, "a backslash is not followed by an escape"),
        ("{ a = 1 }\nb = 2", 2, "'b' is not expected here"),
        ("a = " + "[" * 500, 1, "nested too deeply"),
        (".".join("a" * 300) + " = 1", 1, "more than 50000 values or 60 levels, references followed"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(HoconError) as refused:
        parse_hocon(text)
    assert (refused.value.line, refused.value.reason) == (line, reason)


@pytest.mark.parametrize("text", ["a = ${a}b", "a = ${b}\nb = ${a}", "a = ${a}", "a { b = ${a} }"])
def test_references_in_a_circle_stay_open(text: str) -> None:
    values = [leaf.text or "" for _, leaf in flatten(parse_hocon(text))]
    assert values
    assert all("${" in value for value in values)


def test_references_that_multiply_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eosctl.settings.formats.hocon_file.MAX_NODES", 2_000)
    text = "a0 = x\n" + "\n".join(f"a{n} = [${{a{n - 1}}}, ${{a{n - 1}}}]" for n in range(1, 40))
    with pytest.raises(HoconError, match="2000"):
        parse_hocon(text)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
KEYS = st.text("abc.d-_ ", min_size=1, max_size=6)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


def as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [as_text(inner) for inner in value]
    return value if value is None or isinstance(value, str) else json.dumps(value)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 1]))
def test_json_means_itself(value: dict[str, Any], indent: int | None) -> None:
    assert plain(parse_hocon(json.dumps(value, indent=indent))) == as_text(value)


@given(st.text('ab.="{}[]$?:,+#/\\ \n', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_hocon(text)
    except HoconError as refused:
        assert 1 <= refused.line <= text.count("\n") + 1


def test_mistakes_are_found_on_their_lines() -> None:
    findings = findings_of(judge(Deployment(tuple(read_components("application.conf", ALPAKKA)), load_tables())))
    found = {f"{f.check_id}:{dict(f.facts)['line']}" for f in findings}
    assert found == {"EOS-CFG-011:7", "EOS-CFG-020:12", "EOS-CFG-021:13"}


def test_nothing_is_read_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside.conf"
    outside.write_text("a = 1")
    monkeypatch.setenv("EOS_SECRET", "word")
    text = f'include file("{outside}")\nb = ${{EOS_SECRET}}\n'
    assert plain(parse_hocon(text)) == {"b": "${EOS_SECRET}"}


@pytest.mark.parametrize(
    "text",
    [
        'KafkaServer {\n  org.apache.kafka.common.security.plain.PlainLoginModule required\n  username="a";\n};\n',
        "server {\n  listen 80;\n}\n",
        "# librdkafka\ntransactional.id=a\nsasl.password={x}\n",
    ],
)
def test_other_files_of_that_ending_stay_what_they_are(text: str) -> None:
    (tree,) = parse_documents("x.conf", text)
    assert {key for key, _ in flatten(tree)} >= set() and isinstance(tree, Branch)
    assert read_components("x.conf", text) == [] or "librdkafka" in text


def test_malformed_hocon_is_named_by_file_and_line() -> None:
    with pytest.raises(ConfigFileError) as refused:
        parse_documents("application.conf", "a {\n b = 1\n")
    assert refused.value.what == "application.conf:1: a brace is not closed."


def test_quotes_around_values_of_paths_are_not_a_part_of_them() -> None:
    (tree,) = parse_documents("a.conf", 'my.kafka.group.id = "a"\nmy.kafka.isolation.level="read_committed"\n')
    assert [leaf.text for _, leaf in flatten(tree)] == ["a", "read_committed"]


def test_quoted_words_that_hocon_does_not_read_are_properties() -> None:
    (tree,) = parse_documents("a.conf", 'my.kafka.group.id = "a"\nacks=]\n')
    assert ("acks", "]") in {(key, leaf.text) for key, leaf in flatten(tree)}
