"""Plan a workload whose guesses are ranges, and size it by the least favorable plan.

Every combination of bounds is planned, and steps through each range with the others at their likely values: some
figures have their peak between the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isclose
from typing import Final, NamedTuple

import yaml
from msgspec.structs import replace

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.range_value import split_range
from eosctl.capacity.sub_topologies import EVERY_SUB_TOPOLOGY, find_unstated_writers, write_by_fewest
from eosctl.capacity.workload_file import read_tree
from eosctl.capacity.workload_inputs import NumericInput, list_numeric_inputs, scale_input
from eosctl.capacity.workload_tree import find_node, set_value
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_figures import PlacedFigure, list_figures
from eosctl.model.capacity_plan import Advice, CapacityPlan
from eosctl.model.capacity_ranges import FigureRange, PlanRanges, RangedInput
from eosctl.model.workload import Workload
from eosctl.text import count_text

#: Every range doubles the plans: ten give 1,024, which take a second or two.
MOST_RANGES: Final = 10
STEPS: Final = 16


#: The least that unstated writers of topics can mean: the fewest transactions reach these.
FEWEST_TASKS: Final = "the sub-topology with fewest tasks"


class _Found(NamedTuple):
    """A range: of a number of the file, or of the sub-topologies of an application that may write its topics."""

    shown: RangedInput
    given: NumericInput | None = None
    application: str = ""


class _Combination(NamedTuple):
    values: tuple[tuple[str, str], ...]
    plan: CapacityPlan


def plan_ranges(root: yaml.Node | None, source: str, likely: CapacityPlan) -> PlanRanges | None:
    """Plan a workload file within its ranges; None without ranges.

    Args:
        root: The tree of a workload file that `read_tree` has accepted.
        source: Its name, for messages.
        likely: The plan with the likely values.

    Raises:
        ConfigFileError: A combination makes no workload, or the file has too many ranges.
    """
    found = _find(root, read_tree(root, source))
    if not found:
        return None
    if len(found) > MOST_RANGES:
        raise ConfigFileError(
            f"{source} has {count_text(len(found), 'range')}; a plan can combine {MOST_RANGES}.",
            "Each range doubles the number of plans.",
            "State likely values for those that matter least; capacity plan --sensitivity shows which these are.",
        )
    shown = [one.shown for one in found]
    choices = [*product(*((one.low, one.high) for one in shown)), *_steps(found)]
    combinations = [_plan(root, source, found, chosen) for chosen in dict.fromkeys(choices)]
    plans = [likely, *(combination.plan for combination in combinations)]
    usual = {use.name: use.used_after_loss for use in likely.resources}
    sizing = max(combinations, key=lambda combination: _demand(combination.plan, usual))
    needed = [plan.broker_count_needed for plan in plans]
    return PlanRanges(
        inputs=tuple(shown),
        figures=_figures(plans),
        plan_count=len(plans),
        sized_by=sizing.values,
        bottleneck=sizing.plan.bottleneck,
        utilisation=_utilisation(sizing.plan),
        fits=sizing.plan.fits,
        broker_count_needed=max((count for count in needed if count is not None), default=None)
        if None not in needed
        else None,
        advice=_advice(sizing.plan, plans),
        failures=sizing.plan.failures,
    )


def _find(root: yaml.Node | None, workload: Workload) -> list[_Found]:
    stated = [
        _Found(RangedInput(given.name, *texts), given)
        for given in list_numeric_inputs(root, workload)
        if (texts := split_range(find_node(root, given.path))) is not None
    ]
    unstated = [
        _Found(_range_of_writers(application.name), application=application.name)
        for application in workload.applications
        if find_unstated_writers(workload, application)
    ]
    return [*stated, *unstated]


def _range_of_writers(application: str) -> RangedInput:
    return RangedInput(f"applications.{application}.written_by", FEWEST_TASKS, EVERY_SUB_TOPOLOGY, EVERY_SUB_TOPOLOGY)


def _steps(found: Sequence[_Found]) -> Iterator[tuple[str, ...]]:
    """Yield values between the bounds of each range, with the likely values of the others."""
    likely = tuple(one.shown.likely for one in found)
    for at, (shown, given, _) in enumerate(found):
        if given is None:
            continue
        low, high = float(given.parse(shown.low)), float(given.parse(shown.high))
        at_high = given._replace(text=shown.high)
        for step in range(STEPS):
            share = step / STEPS
            value = low * (high / low) ** share if low else high * share
            if high and (text := scale_input(at_high, value / high)):
                yield (*likely[:at], text, *likely[at + 1 :])


def _plan(root: yaml.Node | None, source: str, found: Sequence[_Found], chosen: Sequence[str]) -> _Combination:
    values, by_fewest = [], set()
    for (shown, given, application), text in zip(found, chosen, strict=True):
        values.append((shown.parameter, text))
        if given is not None:
            root = set_value(root, given.path, text)
        elif text == FEWEST_TASKS:
            by_fewest.add(application)
    try:
        workload = read_tree(root, source)
        changed = (write_by_fewest(workload, a) if a.name in by_fewest else a for a in workload.applications)
        return _Combination(tuple(values), plan_capacity(replace(workload, applications=tuple(changed))))
    except ConfigFileError as error:
        tried = ", ".join(f"{name} = {text}" for name, text in values)
        raise ConfigFileError(
            f"{source}: a combination of its ranges cannot be: {tried}.",
            error.why or error.what,
            "Narrow the ranges until every combination is possible.",
        ) from None


def _utilisation(plan: CapacityPlan) -> float:
    return max((use.utilisation or 0.0 for use in plan.resources), default=0.0)


def _demand(plan: CapacityPlan, usual: Mapping[str, float]) -> tuple[bool, float, float, float]:
    """Return how little a plan leaves: by verdict, fullest limit, all resources against the likely plan, instances."""
    ratios = [use.used_after_loss / usual[use.name] for use in plan.resources if usual.get(use.name)]
    instances = [application.instance for application in plan.applications if application.instance]
    needs = sum(one.memory_bytes + one.disk_bytes for one in instances)
    return plan.fits is False, _utilisation(plan), sum(ratios), needs


def _figures(plans: Sequence[CapacityPlan]) -> tuple[FigureRange, ...]:
    """Return the figures that differ between plans; the first plan is the likely one."""
    by_place = [{(one.section, one.subject, one.name): one for one in list_figures(plan)} for plan in plans]
    ranges = (
        _range(figure, [None if (other := placed.get(place)) is None else other.value for placed in by_place])
        for place, figure in by_place[0].items()
        if any(placed[place].value is not None for placed in by_place if place in placed)
    )
    return tuple(one for one in ranges if one.high is None or one.low is None or not isclose(one.low, one.high))


def _range(figure: PlacedFigure, values: Sequence[float | None]) -> FigureRange:
    known = [value for value in values if value is not None]
    complete = len(known) == len(values)
    return FigureRange(
        section=figure.section,
        subject=figure.subject,
        name=figure.name,
        title=figure.title,
        unit=figure.unit,
        low=min(known, default=None),
        likely=figure.value,
        high=max(known) if complete else None,
        formula=figure.formula,
        grade=figure.grade,
    )


def _advice(sizing: CapacityPlan, plans: Sequence[CapacityPlan]) -> tuple[Advice, ...]:
    found = {advice.setting: advice for advice in sizing.advice}
    for plan in plans:
        for advice in plan.advice:
            if advice.urgent:
                found.setdefault(advice.setting, advice)
    return tuple(sorted(found.values(), key=lambda advice: not advice.urgent))
