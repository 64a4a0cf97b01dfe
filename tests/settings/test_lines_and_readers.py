"""Short ways give what the long ones give: properties without escapes, and the readers of a file."""

from __future__ import annotations

import random
from collections.abc import Iterator

import javaproperties

from eosctl.settings.formats.properties_file import properties_in
from eosctl.settings.platforms.readers import Readers, is_read

LETTERS = " \t\f=:#!ab.\u2028\x85\x0b\n\r"
READS = (
    frozenset({"conf", "/etc/pay/a.env"}),
    frozenset({"deploy/**/a.env", "ConfigMap pay"}),
    frozenset({"conf/a.env"}),
    frozenset({"other"}),
    frozenset[str](),
)
HELD = ("conf/a.env", "./conf/a.env", "x/etc/pay/a.env", "deploy/b/c/a.env", "ConfigMap pay", "a.env", "/conf/a.env")


def by_the_library(text: str) -> Iterator[tuple[str, str]]:
    """Yield the properties as the library for escapes and continued lines reads them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for element in javaproperties.parse("".join(f"{line}\n" for line in lines)):
        if isinstance(element, javaproperties.KeyValue):
            yield element.key, element.value


def test_lines_without_escapes_are_read_as_by_the_library() -> None:
    source = random.Random(5)
    for _ in range(3_000):
        text = "".join(source.choice(LETTERS) for _ in range(source.randint(0, 18)))
        assert [(name, value) for name, value, _ in properties_in(text)] == list(by_the_library(text)), repr(text)


def test_lines_keep_their_numbers() -> None:
    assert list(properties_in("# a\n\nb=1\r\nc 2\rd:3", 7)) == [("b", "1", 9), ("c", "2", 10), ("d", "3", 11)]


def test_an_index_finds_the_readers_that_a_comparison_finds() -> None:
    readers = Readers(READS)
    for held in HELD:
        assert readers.of(held) == [number for number, reads in enumerate(READS) if is_read(held, reads)]
    assert [readers.of(held) for held in HELD] == [[0, 2], [0, 2], [0], [1], [1], [], []]
