"""Generate straight-line decoders: fixed-width fields are unpacked together, one-byte lengths are read inline."""

from __future__ import annotations

from struct import calcsize

from eosctl.wire.schema.layout import Layout, Slot
from eosctl.wire.schema.table import Section
from scripts.generate_wire.source import Source
from scripts.generate_wire.structs import FORMATS, Struct, Structs


class Decoder:
    """Generates the body of a `decode` function; `p` is the current position in the buffer."""

    def __init__(self, source: Source, structs: Structs, section: Section, layout: Layout) -> None:
        self.source = source
        self.structs = structs
        self.section = section
        self.layout = layout
        self.preserves = structs.preserves_tags(section)
        self.run: list[tuple[str, str]] = []
        self.unchecked = False  # Whether a slice may have been cut off by the buffer's end.

    def write(self) -> None:
        """Write the whole body."""
        message = self.struct(self.structs.message(self.section), self.layout.slots)
        self.flush()
        if self.unchecked:
            with self.source.block("if p > len(buffer):"):
                self.source.line(f"raise {self.source.helper('LengthError')}")
        self.source.line(f"return {message}, p")

    def struct(self, struct: Struct, slots: tuple[Slot, ...]) -> str:
        """Read a struct; return the expression that builds it, valid after the run is flushed."""
        values = {slot.field.name: self.slot(slot) for slot in slots if slot.field.tag is None}
        if self.layout.flexible:
            values |= self.tags([slot for slot in slots if slot.field.tag is not None])
        arguments = [values.get(one.name) or self.constant(one.default) for one in struct.attributes]
        self.source.constants.add(struct.name)
        return f"{struct.name}({', '.join(arguments)})"

    def constant(self, default: str) -> str:
        """Use a default; a struct's default is created once per module."""
        if default == "ZERO_UUID" or default_name(default) != default:
            self.source.constants.add(default)
        return default_name(default)

    def slot(self, slot: Slot) -> str:
        """Read a field; return the expression of its value."""
        if slot.field.is_array:
            return self.array(slot)
        return self.value(slot, self.source.name(slot.field.name), slot.nullable)

    def value(self, slot: Slot, name: str, nullable: bool) -> str:
        """Read a value into a variable."""
        kind = slot.field.type
        if kind in FORMATS:
            self.run.append((FORMATS[kind], name))
            return name
        if not slot.field.is_struct:
            self.text(name, kind, nullable)
            return name
        struct = self.structs.of(self.section, slot.field)
        if not nullable:
            return self.struct(struct, slot.slots)
        tagged = slot.field.tag is not None  # Null is 0 in a tag and -1 elsewhere.
        self.run.append(("B" if tagged else "b", "n"))
        self.flush()
        with self.source.block("if not n:" if tagged else "if n < 0:"):
            self.source.line(f"{name} = None")
        with self.source.block("else:"):
            value = self.struct(struct, slot.slots)
            self.flush()
            self.source.line(f"{name} = {value}")
        return name

    def text(self, name: str, kind: str, nullable: bool) -> None:
        """Read a string, bytes or records."""
        line, block, compact = self.source.line, self.source.block, self.layout.flexible
        decoded = '.decode("utf-8", "replace")' if kind == "string" else ""
        start = "p + 1" if compact else "p"
        if compact:
            self.flush_to_length()
            helper = self.source.helper("compact_string_length" if kind == "string" else "compact_length")
            absent, odd = "not n", "n > 127" if nullable else "not 0 < n < 128"
        else:
            self.run.append(("h" if kind == "string" else "i", "n"))
            self.flush()
            absent = "n < 0"
        if nullable:
            with block(f"if {absent}:"):
                line(f"{name} = None")
                if compact:
                    line("p += 1")
            line("else:")
            self.source.indent += 1
        if compact:
            with block(f"if {odd}:"):
                line(f"n, p = {helper}(buffer, p)")
        elif not nullable:
            with block("if n < 0:"):
                line(f"raise {self.source.helper('LengthError')}")
        line("q = p + n")
        line(f"{name} = buffer[{start}:q]{decoded}")
        line("p = q")
        self.source.indent -= nullable
        self.unchecked = True

    def array(self, slot: Slot) -> str:
        """Read an array into a variable."""
        line, block, compact = self.source.line, self.source.block, self.layout.flexible
        name = self.source.name(slot.field.name)
        numbers = slot.field.type in FORMATS and slot.field.type != "uuid"
        if compact:
            self.flush_to_length()
        else:
            self.run.append(("i", "n"))
            self.flush()
        if slot.nullable:
            with block("if not n:" if compact else "if n < 0:"):
                line(f"{name} = None")
                if compact:
                    line("p += 1")
            line("else:")
            self.source.indent += 1
        self.numbers(slot, name) if numbers else self.elements(slot, name)
        self.source.indent -= slot.nullable
        return name

    def numbers(self, slot: Slot, name: str) -> None:
        """Read an array of numbers; short ones with a prepared format."""
        line, block, helper = self.source.line, self.source.block, self.source.helper
        form = FORMATS[slot.field.type]
        size = calcsize(f">{form}")
        table = self.source.struct("unpackers", form)
        if self.layout.flexible:
            with block("if 0 < n < 65:"):
                line(f"{name} = {table}[n - 1](buffer, p + 1)")
                line(f"p += {size} * n - {size - 1}" if size > 1 else "p += n")
            with block("else:"):
                line(f'{name}, p = {helper("read_many_compact")}("{form}", buffer, p)')
        else:
            with block("if 0 <= n < 64:"):
                line(f"{name} = {table}[n](buffer, p)")
                line(f"p += {size} * n")
            with block("else:"):
                line(f'{name}, p = {helper("read_many")}("{form}", buffer, p, n)')

    def elements(self, slot: Slot, name: str) -> None:
        """Read an array of structs, texts, or UUIDs in a loop."""
        line, block, helper = self.source.line, self.source.block, self.source.helper
        if self.layout.flexible:
            with block("if not 0 < n < 128:"):
                line(f"n, p = {helper('compact_length')}(buffer, p)")
            line("p += 1")
            count = "n - 1"
        else:
            with block("if not 0 <= n < 128:"):
                line(f"{helper('check_count')}(buffer, p, n)")
            count = self.copied_count(slot.field.name)
        line(f"{name} = []")
        with block(f"for _ in range({count}):"):
            element = self.value(slot, self.source.name(f"{slot.field.name}_item"), nullable=False)
            self.flush()
            line(f"{name}.append({element})")

    def copied_count(self, of: str) -> str:
        """Copy `n`, which the loop body modifies too; a compiled `range(n)` would use the new value."""
        count = self.source.name(f"{of}_count")
        self.source.line(f"{count} = n")
        return count

    def tags(self, known: list[Slot]) -> dict[str, str]:
        """Read a tag section; return the expressions of the tagged fields."""
        line, block = self.source.line, self.source.block
        if not known and not self.preserves:
            if self.run:
                self.run.append(("B", "n"))
                self.flush()
                with block("if n:"):
                    line(f"p = {self.source.helper('skip_tags')}(buffer, p - 1)")
            else:
                self.unchecked = False
                with block("if buffer[p]:"):
                    line(f"p = {self.source.helper('skip_tags')}(buffer, p)")
                with block("else:"):
                    line("p += 1")
            return {}
        self.run.append(("B", "n"))
        self.flush()
        values = {}
        for slot in known:
            values[slot.field.name] = self.source.name(slot.field.name)
            line(f"{values[slot.field.name]}: Any = {self.constant(self.structs.default(self.section, slot.field))}")
        if self.preserves:
            values["unknown_tags"] = self.source.name("unknown_tags")
            line(f"{values['unknown_tags']}: Any = ()")
        with block("if n:"):
            self.tag_loop(known, values)
        return values

    def tag_loop(self, known: list[Slot], values: dict[str, str]) -> None:
        """Read the present tags, each over its field's default."""
        line, block = self.source.line, self.source.block
        tag, size, end = (self.source.name(name) for name in ("tag_number", "tag_size", "tag_end"))
        if self.preserves:
            line(f"{values['unknown_tags']} = []")
        with block("if n > 127:"):
            line(f"n, p = {self.source.helper('read_unsigned_varint')}(buffer, p - 1)")
        with block(f"for _ in range({self.copied_count('tag')}):"):
            line(f"{tag} = buffer[p]")
            line(f"{size} = buffer[p + 1]")
            line("p += 2")
            with block(f"if {tag} > 127 or {size} > 127:"):
                line(f"{tag}, p = {self.source.helper('read_unsigned_varint')}(buffer, p - 2)")
                line(f"{size}, p = {self.source.helper('read_unsigned_varint')}(buffer, p)")
            line(f"{end} = p + {size}")
            with block(f"if {end} > len(buffer):"):
                line(f"raise {self.source.helper('LengthError')}")
            for number, slot in enumerate(known):
                with block(f"{'elif' if number else 'if'} {tag} == {slot.field.tag}:"):
                    self.tagged(slot, values[slot.field.name], end)
            if self.preserves and known:
                line("else:")
                self.source.indent += 1
            if self.preserves:
                line(f"{values['unknown_tags']}.append(({tag}, buffer[p:{end}]))")
                self.source.indent -= bool(known)
            line(f"p = {end}")
        if self.preserves:
            line(f"{values['unknown_tags']} = tuple({values['unknown_tags']})")

    def tagged(self, slot: Slot, name: str, end: str) -> None:
        """Read one tagged field over its default."""
        value = self.array(slot) if slot.field.is_array else self.value(slot, name, slot.nullable)
        self.flush()
        if value != name:
            self.source.line(f"{name} = {value}")
        with self.source.block(f"if p != {end}:"):
            self.source.line(f"raise {self.source.helper('LengthError')}")

    def flush(self) -> None:
        """Read the pending fixed-width fields and advance behind them."""
        size = self._unpack()
        if size:
            self.source.line(f"p += {size}")

    def flush_to_length(self) -> None:
        """Read the pending fields and the first byte of a length into `n`; stay at that byte."""
        self.run.append(("B", "n"))
        size = self._unpack()
        if size > 1:
            self.source.line(f"p += {size - 1}")

    def _unpack(self) -> int:
        if not self.run:
            return 0
        form = "".join(char for char, _ in self.run)
        names = [name for _, name in self.run]
        self.run = []
        self.unchecked = False
        if form == "B":
            self.source.line(f"{names[0]} = buffer[p]")
        else:
            comma = "," if len(names) == 1 else ""
            self.source.line(f"{', '.join(names)}{comma} = {self.source.struct('unpack', form)}(buffer, p)")
        return calcsize(f">{form}")


def default_name(default: str) -> str:
    """Return the constant of a struct's default; return other defaults unchanged."""
    if default.endswith("()") and default != "()":
        return f"DEFAULT_{default[:-2]}"
    return default
