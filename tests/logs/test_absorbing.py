"""One incident becomes a part of another one, and each kind with a property is a kind that reports have."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.severity import Severity


def fault(number: int) -> Incident:
    place = (EvidenceLine("app.log", number, number + 1),)
    return Incident(
        "send_timeout", "cause", Severity.ERROR, 0.6, {}, number, number + 5, place, f"No. {number}.", "Do."
    )


def joined(homes: Mapping[int, int], incidents: Sequence[Incident]) -> list[Incident]:
    def home_of(one: Incident) -> Incident | None:
        home = homes.get(one.t_start_ms)
        return None if home is None else incidents[home]

    return list(absorb(incidents, home_of, with_parts))


def test_the_parts_of_a_part_go_to_its_home() -> None:
    incidents = [fault(number) for number in range(3)]
    (whole,) = joined({1: 0, 2: 1}, incidents)
    assert [place.offset for place in whole.evidence] == [0, 1, 2]
    assert (whole.t_start_ms, whole.t_end_ms) == (0, 7)


def test_two_that_are_parts_of_each_other_are_one() -> None:
    (whole,) = joined({0: 1, 1: 0}, [fault(0), fault(1)])
    assert {place.offset for place in whole.evidence} == {0, 1}


@given(st.dictionaries(st.integers(0, 7), st.integers(0, 7)))
def test_no_record_is_lost_or_doubled(homes: dict[int, int]) -> None:
    wholes = joined(homes, [fault(number) for number in range(8)])
    assert sorted(place.offset for one in wholes for place in one.evidence) == list(range(8))


def test_each_kind_with_a_property_is_one_of_reports() -> None:
    rows = tomllib.loads(files("eosctl.logs.incidents").joinpath("kinds.toml").read_text("utf-8"))
    several = tomllib.loads(files("eosctl.knowledge.reference").joinpath("log_incidents.toml").read_text("utf-8"))
    known = {one.kind for one in load_incidents().values()} | {
        name.removeprefix("logs/") for name in several["incident"]
    }
    assert set(rows) <= known
