"""Values behave as the frozen dataclasses of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.model import value

T = TypeVar("T")


@value.dataclass(frozen=True, slots=True)
class Ours:
    """A value."""

    name: str
    size: int = 3
    parts: tuple[int, ...] = dataclasses.field(default_factory=tuple)
    secret: str = dataclasses.field(default="s", repr=False)
    seen: int = dataclasses.field(default=0, compare=False)

    @property
    def twice(self) -> int:
        return self.size * 2


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """The same of the standard library."""

    name: str
    size: int = 3
    parts: tuple[int, ...] = dataclasses.field(default_factory=tuple)
    secret: str = dataclasses.field(default="s", repr=False)
    seen: int = dataclasses.field(default=0, compare=False)

    @property
    def twice(self) -> int:
        return self.size * 2


@value.dataclass(frozen=True, slots=True)
class One:
    number: float


@value.dataclass(frozen=True, slots=True)
class Empty:
    pass


@value.dataclass(frozen=True, slots=True)
class Boxed(Generic[T]):
    content: T


@value.dataclass(frozen=True, slots=True)
class Checked:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(self.number)


arguments = st.fixed_dictionaries(
    {"name": st.text(max_size=2)},
    optional={
        "size": st.integers(0, 2),
        "parts": st.tuples(st.integers(0, 2)),
        "secret": st.sampled_from(["", "s"]),
        "seen": st.integers(0, 2),
    },
)


@given(arguments, arguments)
def test_a_value_is_what_the_standard_library_makes(first: dict[str, Any], second: dict[str, Any]) -> None:
    ours, other = Ours(**first), Ours(**second)
    theirs, their_other = Theirs(**first), Theirs(**second)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert hash(ours) == hash(theirs)
    assert (ours == other) == (theirs == their_other)
    assert (ours != other) == (theirs != their_other)
    assert ours != theirs
    assert ours.twice == theirs.twice
    assert msgspec.json.encode(ours) == msgspec.json.encode(theirs)
    assert msgspec.json.decode(msgspec.json.encode(ours), type=Ours) == ours
    assert pickle.loads(pickle.dumps(ours)) == copy.deepcopy(ours) == copy.copy(ours) == ours
    assert dataclasses.asdict(dataclasses.replace(ours, **second)) == dataclasses.asdict(
        dataclasses.replace(theirs, **second)
    )


def _call(parameter: inspect.Parameter) -> tuple[object, ...]:
    return parameter.name, parameter.kind, parameter.annotation, parameter.default is inspect.Parameter.empty


def test_a_class_is_what_the_standard_library_makes() -> None:
    assert [_call(parameter) for parameter in inspect.signature(Ours).parameters.values()] == [
        _call(parameter) for parameter in inspect.signature(Theirs).parameters.values()
    ]
    assert get_type_hints(Ours.__init__) == get_type_hints(Theirs.__init__)
    assert [field.name for field in dataclasses.fields(Ours)] == [field.name for field in dataclasses.fields(Theirs)]
    assert Ours.__match_args__ == Theirs.__match_args__
    assert Ours.__slots__ == Theirs.__slots__
    assert Ours.__init__.__qualname__ == Theirs.__init__.__qualname__.replace("Theirs", "Ours")
    assert not hasattr(Ours("a"), "__dict__")


@pytest.mark.parametrize("made", [Ours("a"), One(1.0), Boxed([1]), Empty()])
def test_nothing_of_a_value_changes(made: Any) -> None:
    for name in ("name", "number", "content", "another"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(made, name)


def test_values_of_few_fields() -> None:
    nan = float("nan")
    assert One(2.0) == One(2.0) != One(3.0)
    assert One(nan) == One(nan)  # as tuples have it: the same object
    assert Empty() == Empty()
    assert hash(One(2.0)) == hash((2.0,))
    assert repr(Empty()) == "Empty()"
    assert Boxed[int](1) == Boxed(1)


@pytest.mark.parametrize("call", [lambda: Ours(), lambda: Ours("a", nonsense=1), lambda: Ours(*range(6))])
def test_wrong_arguments_are_refused_with_the_name_of_the_class(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"^Ours\.__init__\(\)"):
        call()


def test_what_is_out_of_the_ordinary_is_left_to_the_standard_library() -> None:
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)

    @value.dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        number: int

    assert Ordered(1) < Ordered(2)


def test_the_values_of_the_model_are_made_in_this_way() -> None:
    modules = [path for path in Path(value.__file__).parent.glob("*.py") if path.name != "value.py"]
    assert len(modules) > 30
    standard = re.compile(r"^from dataclasses .*\bdataclass\b", re.M)
    assert [path.name for path in modules if standard.search(path.read_text("utf-8"))] == []
