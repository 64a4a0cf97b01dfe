"""Edits change one setting and nothing else, in every format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.editing import EditError, remove_key, rename_key, set_value
from eosctl.settings.formats.tree import flatten

YAML = "# top\nspring:\n  kafka:\n    producer:\n      acks: 1   # 1 is fast\n      retries: 1\n"


@pytest.mark.parametrize(
    ("file", "before", "line", "key", "value", "after"),
    [
        ("a.properties", "# c\nacks = 1 \nretries=1\n", 2, "acks", "all", "# c\nacks = all \nretries=1\n"),
        ("a.properties", "acks=\n", 1, "acks", "all", "acks=all\n"),
        ("a.properties", "acks: 1\r\nb: 2\r\n", 1, "acks", "all", "acks: all\r\nb: 2\r\n"),
        ("a.env", "KAFKA_ACKS=1\n", 1, "KAFKA_ACKS", "all", "KAFKA_ACKS=all\n"),
        ("a.yaml", YAML, 5, "spring.kafka.producer.acks", "all", YAML.replace("acks: 1 ", "acks: all ")),
        ("a.yaml", "a: {acks: '1', b: 1}\n", 1, "acks", "all", "a: {acks: 'all', b: 1}\n"),
        ("a.json", '{"acks": 1,\n "b": 1}', 1, "acks", "all", '{"acks": "all",\n "b": 1}'),
        ("a.json", '{"acks": "1"}', 1, "acks", "all", '{"acks": "all"}'),
        ("a.toml", '[p]\nacks = "1"\n', 2, "acks", "all", '[p]\nacks = "all"\n'),
        (
            "a.yaml",
            "data:\n  p.properties: |\n    # why\n    acks=1\n",
            4,
            "acks",
            "all",
            "data:\n  p.properties: |\n    # why\n    acks=all\n",
        ),
        (
            "a.yaml",
            "environment:\n  - K_ACKS=1\n  - B=1\n",
            2,
            "K_ACKS",
            "all",
            "environment:\n  - K_ACKS=all\n  - B=1\n",
        ),
        ("a.yaml", "env:\n- name: ACKS\n  value: '1'\n", 3, "ACKS", "all", "env:\n- name: ACKS\n  value: 'all'\n"),
        ("a.yaml", 'J: \'{"p": {"acks": "1"}}\'\n', 1, "p.acks", "all", 'J: \'{"p": {"acks": "all"}}\'\n'),
    ],
)
def test_a_value_is_set(file: str, before: str, line: int, key: str, value: str, after: str) -> None:
    assert set_value(file, before, line, key, value) == after


@pytest.mark.parametrize(
    ("file", "before", "line", "key", "new_key", "after"),
    [
        ("a.properties", "t.ms=1\n", 1, "t.ms", "producer.t.ms", "producer.t.ms=1\n"),
        ("a.yaml", "a:\n  t.ms: 1\n", 2, "t.ms", "p.t.ms", "a:\n  p.t.ms: 1\n"),
        ("a.yaml", "a->b:\n  topics.old: 1\n", 2, "a->b.topics.old", "a->b.topics.new", "a->b:\n  topics.new: 1\n"),
        ("a.json", '{"t": "t"}', 1, "t", "u", '{"u": "t"}'),
    ],
)
def test_a_key_is_renamed(file: str, before: str, line: int, key: str, new_key: str, after: str) -> None:
    assert rename_key(file, before, line, key, new_key) == after


@pytest.mark.parametrize(
    ("file", "before", "line", "key", "after"),
    [
        ("a.properties", "# keep\na=1\nb=2\n", 2, "a", "# keep\nb=2\n"),
        ("a.yaml", "p:\n  a: 1 # why\n  b: 2\n", 2, "a", "p:\n  b: 2\n"),
        ("a.json", '{\n "a": 1,\n "b": 2\n}\n', 3, "b", '{\n "a": 1\n}\n'),
        ("a.json", '{\n "a": 1,\n "b": 2\n}\n', 2, "a", '{\n "b": 2\n}\n'),
        ("a.json", '{"a": 1, "b": 2}', 1, "a", '{ "b": 2}'),
        ("a.json", '{"a": 1, "b": 2}', 1, "b", '{"a": 1}'),
        ("a.json", '{"b": 2}', 1, "b", "{}"),
        ("a.yaml", "p: {a: '1', b.c: 2}\n", 1, "p.b.c", "p: {a: '1'}\n"),
        ("a.yaml", "environment:\n  - A=1\n  - B=2\n", 3, "B", "environment:\n  - A=1\n"),
        (
            "a.yaml",
            "env:\n  - name: A\n    value: x\n  - name: B\n    value: y\n",
            5,
            "B",
            "env:\n  - name: A\n    value: x\n",
        ),
        ("a.yaml", "data:\n  p.properties: |\n    a=1\n    b=2\n", 4, "b", "data:\n  p.properties: |\n    a=1\n"),
    ],
)
def test_a_key_is_removed(file: str, before: str, line: int, key: str, after: str) -> None:
    assert remove_key(file, before, line, key) == after


@pytest.mark.parametrize(
    ("file", "text", "line", "key"),
    [
        ("a.json", '{"a": {"c": 1}, "b": 2}', 1, "a"),
        ("a.properties", "a=1\\\n 2\nb=3\n", 1, "a"),
        ("a.properties", "a=1\na=2\n", 1, "a"),
        ("a.properties", "b=1\n", 1, "a"),
    ],
)
def test_what_one_line_cannot_do_is_left_alone(file: str, text: str, line: int, key: str) -> None:
    with pytest.raises(EditError):
        remove_key(file, text, line, key)


OLD = st.sampled_from(["1", "11", "a", "true"])


@given(
    st.lists(st.tuples(st.from_regex(r"[a-z]{1,3}(\.[a-z]{1,3})?", fullmatch=True), OLD),
             min_size=1, max_size=6, unique_by=lambda pair: pair[0]),
    st.data(),
    st.sampled_from(["all", "5", "read_committed"]),
)  # fmt: skip
def test_other_settings_keep_their_values(pairs: list[tuple[str, str]], data: st.DataObject, value: str) -> None:
    text = "".join(f"{key}={old}  \n" for key, old in pairs)
    index = data.draw(st.integers(0, len(pairs) - 1))
    edited = set_value("a.properties", text, index + 1, pairs[index][0], value)
    wanted = [(key, value if number == index else old) for number, (key, old) in enumerate(pairs)]
    (document,) = parse_documents("a.properties", edited)
    found = [(key, leaf.text) for key, leaf in flatten(document)]
    assert found == wanted
