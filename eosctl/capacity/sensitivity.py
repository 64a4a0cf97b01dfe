"""Which inputs of a workload decide its plan: halve and double each of them alone, and list the results that move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import yaml

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.capacity.workload_file import AUTO, read_tree
from eosctl.capacity.workload_inputs import NumericInput, list_numeric_inputs, scale_input
from eosctl.capacity.workload_schema import UNKNOWN
from eosctl.capacity.workload_tree import set_value
from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_plan import CapacityPlan, Unit
from eosctl.model.capacity_sensitivity import Movement, Sensitivity

HALF: Final = 0.5
DOUBLE: Final = 2.0
#: Smaller changes are not listed: they would show as 0 %.
LEAST_CHANGE: Final = 0.005
#: A limit that is used by less at all values tried decides nothing.
LEAST_SHARE: Final = 0.05
_OF_CLUSTER: Final = frozenset(
    {
        *("transactions", "markers", "EOS appends, all copies", "data appends, all copies"),
        *("visible after (P99), slowest chain", "brokers needed", "between zones", "in remote storage, one copy"),
    }
)
_OF_APPLICATION: Final = frozenset({"transactional ids", "blocked after crash", "restore"})
_OF_INSTANCE: Final = frozenset({"threads", "cores", "heap", "RocksDB memory", "disk", "takeover"})
_RESULTS: Final[Mapping[str, frozenset[str]]] = {
    "cluster": _OF_CLUSTER,
    "broker": frozenset({"used after loss"}),
    "application": _OF_APPLICATION,
    "instance": _OF_INSTANCE,
}


class _Result(NamedTuple):
    value: float
    unit: Unit


class _Trial(NamedTuple):
    """What another value of an input gives; `text` is empty where the input cannot have that value."""

    text: str = ""
    plan: CapacityPlan | None = None
    refusal: str = ""

    @property
    def fits(self) -> bool | None:
        """Return the verdict, None without a plan or a known limit."""
        return self.plan.fits if self.plan else None


def find_sensitivities(root: yaml.Node | None, source: str) -> tuple[Sensitivity, ...]:
    """Return each numeric input of a workload file with what it moves, the most effective first.

    Args:
        root: The tree of the workload file.
        source: Its name, for messages.

    Raises:
        ConfigFileError: The file is not a workload.
    """
    workload = read_tree(root, source)
    planned = _results(plan_capacity(workload))
    found = [_vary(root, source, given, planned) for given in list_numeric_inputs(root, workload)]
    return tuple(sorted(found, key=lambda one: (-one.effect, -len(one.movements), one.parameter)))


def _vary(root: yaml.Node | None, source: str, given: NumericInput, planned: Mapping[str, _Result]) -> Sensitivity:
    if given.text in (UNKNOWN, AUTO):
        reason = "the plan works it out" if given.text == AUTO else "not stated"
        return Sensitivity(given.name, given.text, not_varied=reason)
    half, double = (_try(root, source, given, factor) for factor in (HALF, DOUBLE))
    if not half.text and not double.text:
        return Sensitivity(given.name, given.text, not_varied="0")
    return Sensitivity(
        parameter=given.name,
        value=given.text,
        half=half.text,
        double=double.text,
        movements=tuple(_movements(planned, half, double)),
        refused_half=half.refusal,
        refused_double=double.refusal,
        fits_at_half=half.fits,
        fits_at_double=double.fits,
    )


def _try(root: yaml.Node | None, source: str, given: NumericInput, factor: float) -> _Trial:
    text = scale_input(given, factor)
    if not text:
        return _Trial()
    try:
        return _Trial(text, plan_capacity(read_tree(set_value(root, given.path, text), source)))
    except WorkloadRefused as refused:
        return _Trial(text, None, (refused.why or refused.what).replace("\n", "; "))


def _movements(planned: Mapping[str, _Result], half: _Trial, double: _Trial) -> list[Movement]:
    """Return the results that move, the one that moves most first."""
    at_half, at_double = (_results(trial.plan) if trial.plan else {} for trial in (half, double))
    found = []
    for name, result in planned.items():
        low, high = at_half.get(name), at_double.get(name)
        one = Movement(name, result.unit, result.value, low and low.value, high and high.value)
        if one.effect > LEAST_CHANGE and not _is_idle(one):
            found.append(one)
    return sorted(found, key=lambda movement: -movement.effect)


def _is_idle(movement: Movement) -> bool:
    """Return whether a result is a limit that is hardly used at any of the values."""
    values = (movement.planned, movement.at_half, movement.at_double)
    return movement.unit is Unit.SHARE and all(value is None or value < LEAST_SHARE for value in values)


def _results(plan: CapacityPlan) -> dict[str, _Result]:
    """Return the figures of a plan that a reader decides by, by title; resources with a limit as a share of it."""
    return dict(_decisive(plan))


def _decisive(plan: CapacityPlan) -> Iterator[tuple[str, _Result]]:
    shares = {use.name: use.utilisation for use in plan.resources if use.utilisation is not None}
    for figure in list_figures(plan):
        if figure.value is None or figure.name not in _RESULTS.get(figure.section, ()):
            continue
        if figure.section == "broker" and figure.subject in shares:
            yield f"{figure.subject}, share of its limit", _Result(shares[figure.subject], Unit.SHARE)
        else:
            yield figure.title, _Result(figure.value, figure.unit)
