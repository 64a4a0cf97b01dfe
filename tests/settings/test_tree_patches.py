"""Patches of Kubernetes' tools on trees: JSON patches as RFC 6902 has them, and strategic merges."""

from __future__ import annotations

import json

import pytest

from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.formats.tree_patches import merged, operated


def tree(text: str) -> Node:
    return parse_documents("a.yaml", text)[0]


def plain(node: Node) -> object:
    match node:
        case Leaf(text):
            return text
        case Branch(entries):
            return {key: plain(child) for key, child in entries}
        case Row(nodes):
            return [plain(child) for child in nodes]


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ('{"foo":"bar"}', '{"op":"add","path":"/baz","value":"qux"}', {"foo": "bar", "baz": "qux"}),
        ('{"foo":["bar","baz"]}', '{"op":"add","path":"/foo/1","value":"qux"}', {"foo": ["bar", "qux", "baz"]}),
        ('{"foo":["bar"]}', '{"op":"add","path":"/foo/-","value":["a"]}', {"foo": ["bar", ["a"]]}),
        ('{"foo":["bar"]}', '{"op":"add","path":"/foo/2","value":"a"}', {"foo": ["bar"]}),
        ('{"baz":"q","foo":"b"}', '{"op":"remove","path":"/baz"}', {"foo": "b"}),
        ('{"foo":["a","b","c"]}', '{"op":"remove","path":"/foo/1"}', {"foo": ["a", "c"]}),
        ('{"baz":"q","foo":"b"}', '{"op":"replace","path":"/baz","value":"x"}', {"baz": "x", "foo": "b"}),
        ('{"foo":["a","b"]}', '{"op":"replace","path":"/foo/0","value":"x"}', {"foo": ["x", "b"]}),
        ('{"foo":"a"}', '{"op":"replace","path":"/bar","value":"x"}', {"foo": "a"}),
        ('{"a":{"b":"1"},"c":{}}', '{"op":"move","from":"/a/b","path":"/c/d"}', {"a": {}, "c": {"d": "1"}}),
        ('{"a":{"b":"1"}}', '{"op":"copy","from":"/a/b","path":"/c"}', {"a": {"b": "1"}, "c": "1"}),
        ('{"a/b":"1","m~n":"2"}', '{"op":"replace","path":"/a~1b","value":"3"}', {"a/b": "3", "m~n": "2"}),
        ('{"a":"1"}', '{"op":"test","path":"/a","value":"2"}', {"a": "1"}),
        ('{"a":"1"}', '{"op":"remove","path":"/a/b/c"}', {"a": "1"}),
        ('{"a":[{"b":"1"}]}', '{"op":"replace","path":"/a/0/b","value":"2"}', {"a": [{"b": "2"}]}),
    ],
)
def test_operations_of_a_json_patch(before: str, operation: str, after: object) -> None:
    patch = tree(json.dumps([json.loads(operation)]))
    assert isinstance(patch, Row)
    assert plain(operated(tree(before), patch, "p.yaml")) == after


def test_copies_of_copies_are_bounded() -> None:
    patch = tree(json.dumps([{"op": "copy", "from": "/a", "path": f"/a/n{n}"} for n in range(100)]))
    assert isinstance(patch, Row)
    assert sum(1 for _ in flatten(operated(tree('{"a":{"b":"1"}}'), patch, "p.yaml"))) < 100_000


@pytest.mark.parametrize(
    ("base", "patch", "after"),
    [
        ("a: 1\nb: 2", "b: null\nc: 3", {"a": "1", "c": "3"}),
        ("a: {b: 1, c: 2}", "a: {c: 3}", {"a": {"b": "1", "c": "3"}}),
        ("a: {b: 1}", "a: {$patch: replace, c: 3}", {"a": {"$patch": "replace", "c": "3"}}),
        ("args: [a, b]", "args: [c]", {"args": ["c"]}),
        ("env: [{name: A, value: 1}, {name: B, value: 2}]", "env: [{name: B, value: 3}, {name: C, value: 4}]",
         {"env": [{"name": n, "value": v} for n, v in (("A", "1"), ("B", "3"), ("C", "4"))]}),
        ("env: [{name: A, value: 1}]", "env: [{name: A, $patch: delete}]", {"env": []}),
        ("env: [{name: A, value: 1}]", "env: [{name: A, valueFrom: {fieldRef: x}}]",
         {"env": [{"name": "A", "valueFrom": {"fieldRef": "x"}}]}),
    ],
)  # fmt: skip
def test_strategic_merges(base: str, patch: str, after: object) -> None:
    assert plain(merged(tree(base), tree(patch), "p.yaml")) == after


def test_what_a_patch_brings_keeps_its_place() -> None:
    changed = merged(tree("a: 1\nb: 2\n"), tree("\n\nb: 3\n"), "p.yaml")
    assert {key: (leaf.file, leaf.line) for key, leaf in flatten(changed)} == {"a": ("", 1), "b": ("p.yaml", 3)}
