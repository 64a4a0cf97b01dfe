"""Frozen classes of fields as `dataclasses` has them, made in a quarter of the time.

The standard decorator writes and compiles six functions for a frozen class: half a millisecond each, and a command
loads some sixty such classes before it does anything. Here the constructor alone is compiled; comparing, hashing,
printing and refusing to change are the same few functions for every class. To `fields`, `replace`, `asdict`, msgspec,
pickle and the type checker the classes are what they were.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, **others: bool) -> Callable[[type], type]:
        """Make a class as the decorator of the same name does; one that is not both frozen and slotted it makes itself.

        Args:
            frozen: Whether its fields are set once, by the constructor.
            slots: Whether it has these fields and no other attributes.
            others: What else the standard decorator can do (`eq`, `order`, `kw_only`): left to it.
        """
        if others or not (frozen and slots):
            return dataclasses.dataclass(frozen=frozen, slots=slots, **others)
        return _made


def _made(described: type) -> type:
    """Return the class with its slots and the functions of a value."""
    if hasattr(described, "__post_init__"):
        return dataclasses.dataclass(frozen=True, slots=True)(described)
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(described)
    fields: tuple[Field[Any], ...] = dataclasses.fields(made)
    made.__init__ = _constructor(made, fields)
    made.__eq__, made.__hash__ = _comparison([field.name for field in fields if field.compare])
    made.__repr__ = _printing([field.name for field in fields if field.repr])
    made.__reduce__ = _reduce
    made.__setattr__ = _refuse_to_set
    made.__delattr__ = _refuse_to_delete
    return made  # type: ignore[no-any-return]


def _constructor(made: Any, fields: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Compile `__init__`; it fills the slots directly, since the class refuses to have its attributes set."""
    outside: dict[str, Any] = {"ABSENT": MISSING}
    lines, defaults = [], []
    for field in fields:
        name = field.name
        outside[f"set_{name}"] = getattr(made, name).__set__
        if field.default_factory is MISSING:
            lines.append(f"  set_{name}(self, {name})")
        else:
            outside[f"make_{name}"] = field.default_factory
            lines.append(f"  set_{name}(self, make_{name}() if {name} is ABSENT else {name})")
        if field.default is not MISSING or field.default_factory is not MISSING:
            defaults.append(field.default)
    text = "\n".join(
        [
            f"def make({', '.join(outside)}):",
            f" def __init__({', '.join(['self', *(field.name for field in fields)])}):",
            *(lines or ["  pass"]),
            " return __init__",
        ]
    )
    names: dict[str, Any] = {}
    # As in the standard library: the names of fields are identifiers, and nothing of a value becomes part of the text.
    exec(text, vars(sys.modules[made.__module__]), names)  # noqa: S102
    constructor: Any = names["make"](**outside)
    constructor.__qualname__ = f"{made.__qualname__}.__init__"
    constructor.__defaults__ = tuple(defaults)
    constructor.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return constructor  # type: ignore[no-any-return]


def _comparison(names: list[str]) -> tuple[Callable[[Any, Any], bool], Callable[[Any], int]]:
    if len(names) > 1:
        content: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
    else:

        def content(value: Any) -> tuple[Any, ...]:
            return tuple([getattr(value, name) for name in names])

    def equal(self: Any, other: Any) -> bool:
        return content(self) == content(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(content(self))

    return equal, hashed


def _printing(names: list[str]) -> Callable[[Any], str]:
    def printed(self: Any) -> str:
        content = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({content})"

    return printed


def _reduce(self: Any) -> tuple[Any, ...]:
    return self.__class__, tuple([getattr(self, field.name) for field in dataclasses.fields(self)])


def _refuse_to_set(self: Any, name: str, value: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
