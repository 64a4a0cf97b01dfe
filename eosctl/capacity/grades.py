"""Grade the figures of a plan: no figure is better than the worst of its inputs.

A formula has a grade of its own. Each guess is replaced by other values, and every figure that moves is assumed, with
the guesses that move it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from msgspec.structs import replace

from eosctl.capacity.guesses import Guess, list_guesses
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.model.capacity_figures import PlacedFigure, list_figures
from eosctl.model.capacity_plan import CapacityPlan, FigureGuesses
from eosctl.model.workload import Workload

Place = tuple[str, str, str]


def plan_with_grades(workload: Workload) -> CapacityPlan:
    """Plan a workload, and grade each figure by its formula and by the inputs that are not stated.

    Raises:
        WorkloadRefused: It contradicts itself.
    """
    plan = plan_capacity(workload)
    guesses = tuple(list_guesses(workload, plan))
    planned = {_place(figure): figure for figure in list_figures(plan)}
    changes: dict[Place, dict[Guess, float]] = {place: {} for place in planned}
    for guess in guesses:
        for place, change in _moved(guess, planned).items():
            changes[place][guess] = change
    derived = tuple(guess.derived for guess in guesses if guess.derived is not None)
    graded = replace(
        plan,
        guesses=tuple(FigureGuesses(*place, _by_change(moved)) for place, moved in changes.items() if moved),
        assumptions=(*plan.assumptions, *derived),
    )
    grades = {_place(figure): figure.grade for figure in list_figures(graded)}
    return replace(
        graded,
        figures=tuple(replace(one, grade=grades["cluster", "", one.name]) for one in plan.figures),
        resources=tuple(replace(one, grade=grades["broker", one.name, "used after loss"]) for one in plan.resources),
    )


def _moved(guess: Guess, planned: Mapping[Place, PlacedFigure]) -> dict[Place, float]:
    """Return the figures that move with a guess, each by its largest change.

    A figure that another value makes unknown, or takes away, moves as well. Where every other value contradicts what is
    stated, an assumed value follows from that and moves nothing; what a model worked out moves everything.
    """
    found: dict[Place, float] = {}
    tried = 0
    for workload in guess.others:
        try:
            figures = {_place(figure): figure.value for figure in list_figures(plan_capacity(workload))}
        except WorkloadRefused:
            continue
        tried += 1
        for place, figure in planned.items():
            change = _change(figure.value, figures.get(place))
            if change:
                found[place] = max(change, found.get(place, 0.0))
    return dict.fromkeys(planned, 0.0) if guess.derived is not None and not tried else found


def _change(planned: float | None, other: float | None) -> float:
    if planned is None or other is None:
        return float(planned is not other)
    if isclose(planned, other, rel_tol=1e-9):
        return 0.0
    return abs(other - planned) / max(abs(planned), abs(other))


def _by_change(moved: Mapping[Guess, float]) -> tuple[str, ...]:
    return tuple(guess.path for guess in sorted(moved, key=lambda guess: (guess.is_choice, -moved[guess], guess.path)))


def _place(figure: PlacedFigure) -> Place:
    return figure.section, figure.subject, figure.name
