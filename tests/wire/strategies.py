"""Hypothesis strategies for every message, drawn from the tables."""

from functools import cache
from importlib import import_module
from typing import Any

import msgspec
from hypothesis import strategies as st

from eosctl.wire.schema.layout import Layout, Slot, layouts
from eosctl.wire.schema.table import FOLDER, Section, load_table
from scripts.generate_wire.modules import module_of
from scripts.generate_wire.structs import Struct, Structs, message_name

_NUMBERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(["x" * 126, "x" * 127, "é" * 200]),
    "bytes": st.binary(max_size=8) | st.sampled_from([b"x" * 127, bytes(20_000)]),
} | {kind: st.integers(*limits) for kind, limits in _NUMBERS.items()}
_PRIMITIVES["records"] = _PRIMITIVES["bytes"]


class Subject:
    """One message in all its layouts."""

    def __init__(self, path: str, section_name: str) -> None:
        table = load_table(FOLDER / f"{path}.msg")
        self.structs = Structs(table)
        self.section: Section = table.section(section_name)
        self.name = message_name(table, self.section)
        self.module = import_module(f"eosctl.wire.messages.{module_of(path)}")
        self.layouts = [(versions.first, layout) for versions, layout in layouts(self.section)]

    def values(self, layout: Layout) -> st.SearchStrategy[Any]:
        """Draw a message that one layout can carry."""
        return self._struct(self.structs.message(self.section), layout.slots)

    def _struct(self, struct: Struct, slots: tuple[Slot, ...]) -> st.SearchStrategy[Any]:
        kind = getattr(self.module, struct.name)
        names = [slot.field.name for slot in slots]
        values = st.tuples(*(self._slot(slot) for slot in slots))
        return values.map(lambda drawn: kind(**dict(zip(names, drawn, strict=True))))

    def _slot(self, slot: Slot) -> st.SearchStrategy[Any]:
        if slot.field.is_struct:
            values = self._struct(self.structs.of(self.section, slot.field), slot.slots)
        else:
            values = _PRIMITIVES[slot.field.type]
        if slot.field.is_array:
            elements = values
            values = st.lists(elements, max_size=2)
            if slot.field.type in _NUMBERS:
                values |= st.sampled_from([[1] * count for count in (63, 64, 65, 200)])
        return st.none() | values if slot.nullable else values


@cache
def subjects() -> dict[str, Subject]:
    found = {}
    for path in sorted(FOLDER.rglob("*.msg")):
        name = path.relative_to(FOLDER).with_suffix("").as_posix()
        for section in load_table(path).sections:
            subject = Subject(name, section.name)
            found[subject.name] = subject
    return found


def plain(value: Any) -> Any:
    """Forget which kind of sequence an array is."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.structs.astuple(value))
    return value
