"""Generate straight-line encoders: the message becomes a list of byte strings, joined once."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.wire.schema.layout import Layout, Slot
from eosctl.wire.schema.table import Section
from scripts.generate_wire.decoder import default_name
from scripts.generate_wire.source import Source
from scripts.generate_wire.structs import FORMATS, Struct, Structs


class Encoder:
    """Generates the body of an `encode` function.

    Fixed-width fields stay in `run` until another type of field follows. Complete expressions stay in `pieces` until
    the control flow branches, so that a message without arrays is a single expression.
    """

    def __init__(self, source: Source, structs: Structs, section: Section, layout: Layout) -> None:
        self.source = source
        self.structs = structs
        self.section = section
        self.layout = layout
        self.preserves = structs.preserves_tags(section)
        self.run: list[tuple[str, str]] = []
        self.pieces: list[str] = []
        self.out = source.name("parts")
        self.branched = False

    def write(self) -> None:
        """Write the whole body."""
        self.struct(self.structs.message(self.section), self.layout.slots, "message")
        self.flush()
        if self.branched:
            self.emit()
            self.source.lines.insert(0, f"    {self.out}: list[bytes] = []")
        self.source.line(f"return {self.joined()}")

    def joined(self) -> str:
        """Return the expression of the whole message."""
        if self.branched:
            return f'b"".join({self.out})'
        if len(self.pieces) > 3:
            return f'b"".join(({", ".join(self.pieces)}))'
        return " + ".join(self.pieces) or 'b""'

    def struct(self, struct: Struct, slots: tuple[Slot, ...], value: str) -> None:
        """Read the fields of a version from a struct, and write them."""
        wanted = {slot.field.name for slot in slots}
        if self.preserves:
            wanted.add("unknown_tags")
        names = {one.name: self.source.name(one.name) for one in struct.attributes if one.name in wanted}
        for field, name in names.items():
            self.source.line(f"{name} = {value}.{field}")
        self.fields(slots, names)

    def fields(self, slots: Sequence[Slot], names: dict[str, str]) -> None:
        """Write fields with values in variables."""
        for slot in slots:
            if slot.field.tag is None:
                self.refuse_null(slot, names[slot.field.name])
                self.slot(slot, names[slot.field.name])
        if self.layout.flexible:
            self.tags([slot for slot in slots if slot.field.tag is not None], names)

    def refuse_null(self, slot: Slot, value: str) -> None:
        """Reject null in a field that is nullable only in other versions."""
        if not slot.nullable and (slot.field.nullable is not None or slot.field.type == "records"):
            with self.source.block(f"if {value} is None:"):
                self.source.line(f'raise ValueError("{slot.field.name} cannot be null in this version")')

    def slot(self, slot: Slot, value: str) -> None:
        """Write one field."""
        if slot.field.is_array:
            self.array(slot, value)
        else:
            self.value(slot, value, slot.nullable)

    def value(self, slot: Slot, value: str, nullable: bool) -> None:
        """Write a single value."""
        kind = slot.field.type
        if kind in FORMATS:
            self.run.append((FORMATS[kind], value))
        elif not slot.field.is_struct:
            self.text(value, kind, nullable)
        elif nullable:
            self.flush()
            self.emit()
            with self.source.block(f"if {value} is None:"):
                null = 'b"\\xff"' if slot.field.tag is None else 'b"\\0"'
                self.source.line(f"{self.out}.append({null})")
            with self.source.block("else:"):
                self.run.append(("b", "1"))
                self.struct(self.structs.of(self.section, slot.field), slot.slots, value)
                self.flush()
                self.emit()
        else:
            self.struct(self.structs.of(self.section, slot.field), slot.slots, value)

    def text(self, value: str, kind: str, nullable: bool) -> None:
        """Write a string, bytes or records."""
        compact = self.layout.flexible
        body, size = self.source.name(f"{value}_bytes"), self.source.name(f"{value}_size")
        encoded = f"{value}.encode()" if kind == "string" else value
        plus = " + 1" if compact else ""
        if nullable:
            with self.source.block(f"if {value} is None:"):
                self.source.line(f'{body} = b""')
                self.source.line(f"{size} = {'0' if compact else '-1'}")
            self.source.line("else:")
            self.source.indent += 1
        self.source.line(f"{body} = {encoded}" if nullable else f"{body}: bytes = {encoded}")
        self.source.line(f"{size} = len({body}){plus}")
        self.source.indent -= nullable
        self.length(size, "h" if kind == "string" else "i")
        self.pieces.append(body)

    def length(self, size: str, form: str) -> None:
        """Write a length or a count; a compact one joins the run as a byte if it fits into one."""
        if not self.layout.flexible:
            self.run.append((form, size))
            self.flush()
            return
        varint = f"{self.source.helper('unsigned_varint')}({size})"
        if self.run:
            before = self.packed(self.run)
            short = self.packed([*self.run, ("B", size)])
            self.run = []
            self.pieces.append(f"({short} if {size} < 128 else {before} + {varint})")
        else:
            self.pieces.append(f"({self.source.helper('LENGTHS')}[{size}] if {size} < 128 else {varint})")

    def array(self, slot: Slot, value: str) -> None:
        """Write an array."""
        if slot.field.type in FORMATS and slot.field.type != "uuid":
            self.numbers(slot, value)
            return
        compact = self.layout.flexible
        size = self.source.name(f"{value}_count")
        count = f"len({value}) + 1" if compact else f"len({value})"
        if slot.nullable:
            count = f"{0 if compact else -1} if {value} is None else {count}"
            value = f"{value} or ()"
        self.source.line(f"{size} = {count}")
        self.length(size, "i")
        if slot.field.type == "uuid":
            self.pieces.append(f'b"".join({value})')
            return
        self.emit()
        self.loop(slot, value)

    def loop(self, slot: Slot, values: str) -> None:
        """Write the elements of an array."""
        if slot.field.is_struct:
            item = self.source.name(f"{slot.field.name}_item")
            with self.source.block(f"for {item} in {values}:"):
                self.struct(self.structs.of(self.section, slot.field), slot.slots, item)
                self.flush()
                self.emit()
        else:
            item = self.source.name(f"{slot.field.name}_item")
            with self.source.block(f"for {item} in {values}:"):
                self.value(slot, item, nullable=False)
                self.flush()
                self.emit()

    def numbers(self, slot: Slot, value: str) -> None:
        """Write an array of numbers; short ones with a prepared format."""
        self.flush()
        form, compact = FORMATS[slot.field.type], self.layout.flexible
        table = self.source.struct("compact_packers" if compact else "packers", form)
        many = self.source.helper("pack_many_compact" if compact else "pack_many")
        size = self.source.name(f"{value}_count")
        count = f"{size} + 1" if compact else size
        piece = f'{table}[{size}]({count}, *{value}) if ({size} := len({value})) < 64 else {many}("{form}", {value})'
        if slot.nullable:
            null = 'b"\\0"' if compact else 'b"\\xff\\xff\\xff\\xff"'
            piece = f"{null} if {value} is None else {piece}"
        self.pieces.append(f"({piece})")

    def tags(self, known: list[Slot], names: dict[str, str]) -> None:
        """Write a tag section: the fields that differ from their defaults, then unknown ones."""
        if not known and not self.preserves:
            self.run.append(("x", ""))
            return
        count, tagged = self.source.name("tag_count"), self.source.name("tagged")
        field = self.source.helper("tagged_field")
        self.source.line(f"{count} = 0")
        self.source.line(f'{tagged} = b""')
        for slot in known:
            value = names[slot.field.name]
            with self.source.block(f"if {self.differs(slot, value)}:"):
                body = self.inner(slot, value)
                self.source.line(f"{tagged} += {field}({slot.field.tag}, {body})")
                self.source.line(f"{count} += 1")
        if self.preserves:
            unknown = names["unknown_tags"]
            with self.source.block(f"if {unknown}:"):
                self.source.line(f'{tagged} += b"".join([{field}(*pair) for pair in {unknown}])')
                self.source.line(f"{count} += len({unknown})")
        self.length(count, "B")
        self.pieces.append(tagged)

    def inner(self, slot: Slot, value: str) -> str:
        """Write a tagged value separately; return its expression."""
        outer = self.run, self.pieces, self.out, self.branched
        self.run, self.pieces, self.out, self.branched = [], [], self.source.name("inner"), False
        start = len(self.source.lines)
        has_null_marker = slot.field.is_struct and not slot.field.is_array
        if self.structs.default(self.section, slot.field) == "None" and not has_null_marker:
            slot = slot._replace(nullable=False)  # Null is the default here, and defaults are omitted.
        self.slot(slot, value)
        self.flush()
        if self.branched:
            self.emit()
            self.source.lines.insert(start, "    " * self.source.indent + f"{self.out}: list[bytes] = []")
        expression = self.joined()
        self.run, self.pieces, self.out, self.branched = outer
        return expression

    def differs(self, slot: Slot, value: str) -> str:
        """Return the condition under which a tagged field is written."""
        default = self.structs.default(self.section, slot.field)
        if default == "None":
            return f"{value} is not None"
        if default in ("0", "False", '""', 'b""', "()"):
            return f"{value} is None or {value}" if slot.nullable else value
        if default.endswith("()") or default == "ZERO_UUID":
            self.source.constants.add(default)
        name = default_name(default)
        if default.endswith("()"):
            return f"{value} is not {name} and {value} != {name}"
        return f"{value} != {name}"

    def packed(self, run: list[tuple[str, str]]) -> str:
        """Return the expression that packs a run."""
        form = "".join(char for char, _ in run)
        if form == "x":
            return 'b"\\0"'
        return f"{self.source.struct('pack', form)}({', '.join(name for char, name in run if char != 'x')})"

    def flush(self) -> None:
        """Convert the pending run to a piece."""
        if self.run:
            self.pieces.append(self.packed(self.run))
            self.run = []

    def emit(self) -> None:
        """Append the pending pieces to the list, before the control flow branches."""
        self.branched = True
        if len(self.pieces) == 1:
            self.source.line(f"{self.out}.append({self.pieces[0]})")
        elif self.pieces:
            self.source.line(f"{self.out} += ({', '.join(self.pieces)})")
        self.pieces = []
