"""Java class files: names, constants, and instructions (The Java Virtual Machine Specification, chapters 4 and 6).

Only what a search for strings needs is kept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

NEW: Final = 187
INVOKE_DYNAMIC: Final = 186
INVOKES: Final = frozenset({182, 183, 184, 185})
FIELD_READS: Final = frozenset({178, 180})
LOADS_CONSTANT: Final = frozenset({18, 19})
_OBJECT_LOADS: Final = {25: None, 42: 0, 43: 1, 44: 2, 45: 3}
_OBJECT_STORES: Final = {58: None, 75: 0, 76: 1, 77: 2, 78: 3}
_WIDE: Final = 196
_TABLE_SWITCH: Final = 170
_LOOKUP_SWITCH: Final = 171
_ONE_BYTE: Final = frozenset({16, 18, *range(21, 26), *range(54, 59), 169, 188})
_TWO_BYTES: Final = frozenset({17, 19, 20, 132, *range(153, 169), *range(178, 185), 187, 189, 192, 193, 198, 199})
_FOUR_BYTES: Final = frozenset({185, 186, 200, 201})
_SIZES: Final = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
"""Bytes of each kind of constant, text apart."""


class Instruction(NamedTuple):
    """An instruction: its code, and the constant or the local variable that it names; else None."""

    code: int
    constant: int | None
    load: int | None
    store: int | None


class Member(NamedTuple):
    """A field or method that an instruction names."""

    owner: str
    name: str
    descriptor: str


class Dynamic(NamedTuple):
    """An ``invokedynamic``: its name, its type, and the constants of its bootstrap method."""

    name: str
    descriptor: str
    arguments: tuple[int, ...]


class ClassFile:
    """A class: its constants and methods.

    Raises:
        ValueError: The bytes are not a class.
    """

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\xca\xfe\xba\xbe":
            raise ValueError("not a class file")
        self._data = data
        self._constants: dict[int, tuple[int, int]] = {}
        place = self._read_constants(10, struct.unpack_from(">H", data, 8)[0])
        self.name = self.class_name(struct.unpack_from(">H", data, place + 2)[0])
        interfaces = struct.unpack_from(">H", data, place + 6)[0]
        place = self._skip_members(place + 8 + 2 * interfaces)
        self.methods: Mapping[str, bytes]
        self.methods, place = self._read_methods(place)
        self._bootstraps = self._read_bootstraps(place)

    def text(self, index: int) -> str:
        """Return a constant of text."""
        _, place = self._constants[index]
        size = struct.unpack_from(">H", self._data, place)[0]
        return self._data[place + 2 : place + 2 + size].decode("utf-8", "replace")

    def class_name(self, index: int) -> str:
        """Return the name of a class, with slashes."""
        return self.text(struct.unpack_from(">H", self._data, self._constants[index][1])[0])

    def string(self, index: int) -> str | None:
        """Return a string constant; None for a constant of another kind."""
        kind, place = self._constants[index]
        return self.text(struct.unpack_from(">H", self._data, place)[0]) if kind == 8 else None

    def member(self, index: int) -> Member:
        """Return the field or method of a constant."""
        owner, name_and_type = struct.unpack_from(">HH", self._data, self._constants[index][1])
        return Member(self.class_name(owner), *self._name_and_type(name_and_type))

    def dynamic(self, index: int) -> Dynamic:
        """Return an ``invokedynamic`` constant."""
        bootstrap, name_and_type = struct.unpack_from(">HH", self._data, self._constants[index][1])
        return Dynamic(*self._name_and_type(name_and_type), self._bootstraps[bootstrap])

    def handle(self, index: int) -> Member | None:
        """Return the method of a method handle; None for a constant of another kind."""
        kind, place = self._constants[index]
        return self.member(struct.unpack_from(">H", self._data, place + 1)[0]) if kind == 15 else None

    def _name_and_type(self, index: int) -> tuple[str, str]:
        name, descriptor = struct.unpack_from(">HH", self._data, self._constants[index][1])
        return self.text(name), self.text(descriptor)

    def _read_constants(self, place: int, count: int) -> int:
        index = 1
        while index < count:
            kind = self._data[place]
            self._constants[index] = kind, place + 1
            place += 3 + struct.unpack_from(">H", self._data, place + 1)[0] if kind == 1 else 1 + _SIZES[kind]
            index += 2 if kind in (5, 6) else 1
        return place

    def _skip_members(self, place: int) -> int:
        count = struct.unpack_from(">H", self._data, place)[0]
        place += 2
        for _ in range(count):
            *_, (_, _, place) = self._attributes(place + 6)
        return place

    def _read_methods(self, place: int) -> tuple[dict[str, bytes], int]:
        methods: dict[str, bytes] = {}
        count = struct.unpack_from(">H", self._data, place)[0]
        place += 2
        for _ in range(count):
            name, descriptor = struct.unpack_from(">HH", self._data, place + 2)
            for attribute, body, end in self._attributes(place + 6):
                if attribute == "Code":
                    size = struct.unpack_from(">I", self._data, body + 4)[0]
                    methods[f"{self.text(name)}{self.text(descriptor)}"] = self._data[body + 8 : body + 8 + size]
                place = end
        return methods, place

    def _read_bootstraps(self, place: int) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for attribute, body, _ in self._attributes(place):
            if attribute == "BootstrapMethods":
                count = struct.unpack_from(">H", self._data, body)[0]
                at = body + 2
                for _ in range(count):
                    arguments = struct.unpack_from(">H", self._data, at + 2)[0]
                    found.append(struct.unpack_from(f">{arguments}H", self._data, at + 4))
                    at += 4 + 2 * arguments
        return found

    def _attributes(self, place: int) -> Iterator[tuple[str, int, int]]:
        """Yield the attributes at a place: name, first byte, and end; a single unnamed one if the list is empty."""
        count = struct.unpack_from(">H", self._data, place)[0]
        place += 2
        if not count:
            yield "", place, place
        for _ in range(count):
            name, size = struct.unpack_from(">HI", self._data, place)
            yield self.text(name), place + 6, place + 6 + size
            place += 6 + size


def read_instructions(code: bytes) -> Iterator[Instruction]:
    """Yield the instructions of a method, in the order of the bytes."""
    place = 0
    while place < len(code):
        op = code[place]
        operand = place + 1
        constant = load = store = None
        if op == _WIDE:
            place += 6 if code[operand] == 132 else 4
            continue
        if op in (_TABLE_SWITCH, _LOOKUP_SWITCH):
            place = _behind_switch(code, op, operand + (-operand % 4))
            continue
        if op in (18, 25, 58):
            value = code[operand]
        elif op in _TWO_BYTES or op in _FOUR_BYTES:
            value = struct.unpack_from(">H", code, operand)[0]
        else:
            value = 0
        if op in LOADS_CONSTANT or op in INVOKES or op in FIELD_READS or op in (INVOKE_DYNAMIC, NEW):
            constant = value
        if op in _OBJECT_LOADS:
            load = value if op == 25 else _OBJECT_LOADS[op]
        if op in _OBJECT_STORES:
            store = value if op == 58 else _OBJECT_STORES[op]
        yield Instruction(op, constant, load, store)
        place = operand + (1 if op in _ONE_BYTE else 3 if op == 197 else _operand_bytes(op))


def _operand_bytes(op: int) -> int:
    return 4 if op in _FOUR_BYTES else 2 if op in _TWO_BYTES else 0


def _behind_switch(code: bytes, op: int, place: int) -> int:
    if op == _LOOKUP_SWITCH:
        count: int = struct.unpack_from(">i", code, place + 4)[0]
        return place + 8 + 8 * count
    low: int
    high: int
    low, high = struct.unpack_from(">ii", code, place + 4)
    return place + 12 + 4 * (high - low + 1)
