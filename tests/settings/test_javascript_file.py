"""Configuration modules of JavaScript and TypeScript: their objects, read without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.settings.formats.javascript_file import parse_javascript
from eosctl.settings.formats.tree import flatten
from tests.settings.test_environments import found

KAFKA = """const { Kafka } = require('kafkajs');
const kafka = new Kafka({ clientId: 'tickets', brokers: process.env.BROKERS.split(',') });
// one per pod
const producer = kafka.producer({
  transactionalId: `tickets-${process.env.HOSTNAME}`,
  idempotent: true, /* as it must be */
  maxInFlightRequests: 1,
  transactionTimeout: 60 * 1_000,
});
const consumer = kafka.consumer({ groupId: 'tickets', readUncommitted: false });
module.exports.run = () => consumer.run({
  autoCommit: false,
  eachMessage: async ({ message }) => {
    await producer.send({ topic: 'tickets', acks: -1, messages: [{ value: message.value }] });
  },
});
"""
PACKAGE = '{"name": "tickets", "dependencies": {"kafkajs": "^2.2.4"}}\n'


def leaves(text: str) -> dict[str, str | None]:
    return {key: leaf.text for document in parse_javascript(text) for key, leaf in flatten(document)}


def test_objects_stand_under_their_names_and_calls() -> None:
    read = leaves(KAFKA)
    assert read["producer.transactionalId"] == "tickets-${HOSTNAME}"
    assert read["producer.transactionTimeout"] == "60000"
    assert (read["consumer.groupId"], read["consumer.readUncommitted"]) == ("tickets", "false")
    assert (read["run.autoCommit"], read["send.acks"]) == ("false", "-1")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("export default { kafka: { acks: 1 } }", "exported.kafka.acks", "1"),
        ("module.exports = { 'linger.ms': 5, };", "exported.linger.ms", "5"),
        ("export const settings: Settings = { acks: 'all' } as const;", "settings.acks", "all"),
        ("export default registerAs('kafka', () => ({ producer: { acks: null } }))", "exported.producer.acks", None),
        ("const a = { acks: 'all' }; const b = { ...a, linger: 5 }", "b.acks", "all"),
        ("const a = { acks: 'all' }; const b = { producer: a }", "b.producer.acks", "all"),
        ("const a = { id: process.env.ID ?? 'x' }", "a.id", "${ID}"),
        ("const a = { f(x) { return { y: 1 } }, list: ['a', 'b'], z: name }", "a.list", "a,b"),
        ("send({ a: 1 }); send({ a: 2 })", "send in line 1.a", "2"),
    ],
)
def test_values_and_references(text: str, key: str, value: str | None) -> None:
    assert leaves(text)[key] == value


@pytest.mark.parametrize(("more", "expected"), [("", {"EOS-CFG-020", "EOS-CFG-021"}), (", ...options", set())])
def test_what_an_object_takes_in_may_set_it(tmp_path: Path, more: str, expected: set[str]) -> None:
    text = f"""const producer = create({{ 'key.serializer': 's', 'transactional.id': 'a' }});
const consumer = create({{ 'group.id': 'a', 'key.deserializer': 'd'{more} }});
"""
    assert {check for check, _, _ in found(tmp_path, {"kafka.js": text})} == expected


@given(st.text(alphabet="ab={}[](),:;\"'` \n*.1$/>", max_size=80))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= leaf.line <= lines for document in parse_javascript(text) for _, leaf in flatten(document))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", set()),
        ("readUncommitted: false", "readUncommitted: true", {("EOS-CFG-020", "kafka.js", 10)}),
        ("acks: -1", "acks: 1", {("EOS-CFG-011", "kafka.js", 14)}),
        ("maxInFlightRequests: 1", "maxInFlightRequests: 5", {("EOS-CFG-013", "kafka.js", 7)}),
    ],
)
def test_a_module_of_kafkajs_is_judged(tmp_path: Path, old: str, new: str, expected: set[tuple[str, str, int]]) -> None:
    assert found(tmp_path, {"kafka.js": KAFKA.replace(old, new), "package.json": PACKAGE}) == expected
