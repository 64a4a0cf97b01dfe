"""Log calls in classes: their levels and templates, ``{}`` for each value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from scripts.log_templates.class_file import (
    FIELD_READS,
    INVOKE_DYNAMIC,
    INVOKES,
    LOADS_CONSTANT,
    NEW,
    ClassFile,
    Dynamic,
    read_instructions,
)

_LEVELS: Final = {"warn": "WARN", "error": "ERROR", "fatal": "FATAL"}
_LOGGER: Final = "Lorg/slf4j/Logger;"
_LAMBDA: Final = "(Lscala/Function0;"
_VALUE: Final = "{}"


class LogCall(NamedTuple):
    """A log call: the class that holds it, its level, and its template."""

    class_name: str
    level: str
    template: str


def find_log_calls(file: ClassFile) -> Iterator[LogCall]:
    """Yield the calls at WARN and above whose templates are constants of the class.

    SLF4J's calls take a string; those of Kafka's Scala classes take a function that returns one.
    """
    for code in file.methods.values():
        for level, template in _Method(file, code).calls():
            if template.replace(_VALUE, "").strip():
                yield LogCall(file.name.replace("/", ".").partition("$")[0], level, template)


class _Method:
    """One pass over a method: strings that are put together, and the calls that take them."""

    def __init__(self, file: ClassFile, code: bytes) -> None:
        self._file = file
        self._code = code
        self._texts: list[str] = []
        self._builders: list[str] = []
        self._locals: dict[int, str] = {}
        self._function = ""
        self._is_text = False

    def calls(self) -> Iterator[tuple[str, str]]:
        """Yield level and template of each log call."""
        for one in read_instructions(self._code):
            was_text, self._is_text = self._is_text, False
            if one.code in LOADS_CONSTANT and one.constant is not None:
                text = self._file.string(one.constant)
                if text is not None:
                    self._texts.append(text)
                    self._is_text = True
            elif one.code == NEW and one.constant is not None:
                if self._file.class_name(one.constant) == "java/lang/StringBuilder":
                    self._builders.append("")
            elif one.code in FIELD_READS and one.constant is not None:
                if self._file.member(one.constant).descriptor == _LOGGER:
                    self._texts.clear()
            elif one.code == INVOKE_DYNAMIC and one.constant is not None:
                self._bind(self._file.dynamic(one.constant))
            elif one.store is not None and self._texts:
                self._locals[one.store] = self._texts[-1]
            elif one.load is not None and one.load in self._locals:
                self._texts.append(self._locals[one.load])
            elif one.code in INVOKES and one.constant is not None:
                yield from self._invoke(one.constant, was_text)

    def returned(self) -> str:
        """Return the last string that a function puts together."""
        for _ in self.calls():
            pass
        return self._texts[-1] if self._texts else ""

    def _bind(self, dynamic: Dynamic) -> None:
        if dynamic.name == "makeConcatWithConstants":
            recipe = self._file.string(dynamic.arguments[0]) or ""
            constants = iter([self._file.string(index) or _VALUE for index in dynamic.arguments[1:]])
            self._texts.append("".join(_piece(sign, constants) for sign in recipe))
            self._is_text = True
            return
        handles = filter(None, map(self._file.handle, dynamic.arguments))
        self._function = next((f"{one.name}{one.descriptor}" for one in handles if one.owner == self._file.name), "")

    def _invoke(self, index: int, was_text: bool) -> Iterator[tuple[str, str]]:
        member = self._file.member(index)
        if member.owner in ("java/lang/StringBuilder", "scala/collection/mutable/StringBuilder"):
            self._build(member.name, member.descriptor, was_text)
        elif member.descriptor.endswith(f"){_LOGGER}"):
            self._texts.clear()
        elif level := _LEVELS.get(member.name):
            if member.descriptor.startswith(_LAMBDA) and self._function in self._file.methods:
                yield level, _Method(self._file, self._file.methods[self._function]).returned()
            elif member.owner == "org/slf4j/Logger" and self._texts:
                yield level, self._texts[0]
            self._texts.clear()

    def _build(self, name: str, descriptor: str, was_text: bool) -> None:
        """Follow a string builder; a part is a text only if the instruction before pushed it, else a value."""
        if not self._builders:
            return
        is_start = name == "<init>" and descriptor == "(Ljava/lang/String;)V"
        if name == "append" or is_start:
            self._builders[-1] += self._texts.pop() if was_text and self._texts else _VALUE
        elif name == "toString":
            self._texts.append(self._builders.pop())
            self._is_text = True


def _piece(sign: str, constants: Iterator[str]) -> str:
    if sign == "\x01":
        return _VALUE
    return next(constants, _VALUE) if sign == "\x02" else sign
