"""Plan clusters for transactional workloads: workload files, plans, comparisons, and simulations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.capacity.costs import price_plan
from eosctl.capacity.grades import plan_with_grades
from eosctl.capacity.quantities import QuantityError, parse_rate
from eosctl.capacity.ranges import plan_ranges
from eosctl.capacity.sensitivity import find_sensitivities
from eosctl.capacity.simulation import MEASURED_APPENDS_PER_S, simulate_commits
from eosctl.capacity.template import write_template
from eosctl.capacity.what_if import grow, try_values
from eosctl.capacity.workload_file import parse_workload, read_tree
from eosctl.capacity.workload_tree import parse_tree
from eosctl.errors import ConfigFileError, ExitCode, UsageError
from eosctl.input_file import read_input
from eosctl.knowledge.small_files import parse_yaml_as, read_small_text
from eosctl.model.capacity_plan import CapacityPlan
from eosctl.model.capacity_report import CapacityReport
from eosctl.model.capacity_simulation import SimulationReport, SimulationSettings
from eosctl.model.prices import Prices
from eosctl.model.workload import ApplicationKind, Workload
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.text import milliseconds_text


class PlanRequest(NamedTuple):
    """A workload to plan.

    Attributes:
        path: The workload file.
        what_if: Other values to plan with: ``KEY=A,B,C``, by a short name or by the dotted path of a key of the file.
        sensitivity: Whether to halve and double each numeric input, and list the results that move.
        until: The last date of the growth, ``YYYY-MM-DD``; None without growth.
        prices: A price list, for the costs of a month.
    """

    path: Path
    what_if: tuple[str, ...] = ()
    sensitivity: bool = False
    until: str | None = None
    prices: Path | None = None


#: A limit that a plan can do without: request handlers and disks are judged by the same appends.
MEASURED_LIMIT: Final = "appends"

#: Commits of each producer below which a simulation is too short.
FEWEST_COMMITS: Final = 3


class CommitsRequest(NamedTuple):
    """Commits to simulate.

    Attributes:
        path: The workload file.
        duration_ms: The simulated time, in milliseconds.
        lose_broker_at_ms: When a broker is lost; None for never.
        failover_ms: The time until others serve its partitions.
        appends: What one broker appends in a second, e.g. ``900/s``; None for what the file says.
        seed: Repeats the same choices.
    """

    path: Path
    duration_ms: int = 20_000
    lose_broker_at_ms: int | None = None
    failover_ms: int = 10_000
    appends: str | None = None
    seed: int = 1


def describe_workload(name: str, kind: ApplicationKind, answers: Mapping[str, str]) -> str:
    """Return the text of a workload file.

    Args:
        name: The name of the workload.
        kind: How the application works.
        answers: Values by key, e.g. ``cluster.brokers``.

    Raises:
        ConfigFileError: A value does not make sense.
    """
    text = write_template(name, kind, dict(answers))
    parse_workload(text, name)
    return text


def plan_workload(request: PlanRequest, callbacks: Callbacks = SILENT) -> CapacityReport:
    """Plan a workload: what it costs, what it needs, where it breaks first.

    Raises:
        UsageError: A key or value of ``what_if``, or the date, is not valid.
        ConfigFileError: The workload or the price list cannot be read.
    """
    until = _date(request.until)
    source = str(request.path)
    root = parse_tree(_read_text(request.path), source)
    workload = read_tree(root, source)
    prices = None if request.prices is None else _read_prices(request.prices)
    plan = plan_with_grades(workload)
    today = datetime.fromtimestamp(callbacks.now_ms() / 1000, UTC).date()
    return CapacityReport(
        plan=plan,
        what_if=tuple(variant for text in request.what_if for variant in try_values(text, root, source)),
        sensitivity=find_sensitivities(root, source) if request.sensitivity else (),
        growth=grow(workload, today, until) if until is not None else (),
        costs=None if prices is None else price_plan(workload, plan, prices),
        ranges=plan_ranges(root, source, plan),
    )


def exit_code_of(item: CapacityReport) -> ExitCode:
    """Return the exit code of a plan that is checked: it fits, it does not, or limits are missing for a verdict."""
    if item.fits is False:
        return ExitCode.FINDINGS
    missing = [name for name in item.plan.not_judged if name != MEASURED_LIMIT]
    return ExitCode.INCOMPLETE if missing or item.fits is None else ExitCode.DONE


def plan_both(one: Path, other: Path, callbacks: Callbacks = SILENT) -> tuple[CapacityPlan, CapacityPlan]:
    """Return the plans of two workloads, with the likely values of their ranges.

    Raises:
        ConfigFileError: A workload cannot be read.
    """
    first, second = (plan_with_grades(_read_likely(path, callbacks)) for path in (one, other))
    return first, second


def simulate_workload(request: CommitsRequest, callbacks: Callbacks = SILENT) -> SimulationReport:
    """Simulate commits on virtual time; the same seed gives the same result.

    Raises:
        UsageError: A value does not make sense.
        ConfigFileError: The workload cannot be read.
    """
    workload = _read_likely(request.path, callbacks)
    if not workload.applications:
        raise UsageError(f"{request.path} has no applications.", "Only their commits are simulated.", "Add them.")
    try:
        stated = parse_rate(request.appends) if request.appends is not None else workload.cluster.appends_per_s
    except QuantityError as error:
        raise UsageError(f"--appends: {error}.", "", "Correct the value.") from None
    if stated == 0:
        raise UsageError("--appends: a broker that appends nothing carries no load.", "", "Correct the value.")
    lost_at_ms, duration_ms = request.lose_broker_at_ms, request.duration_ms
    if lost_at_ms is not None and lost_at_ms >= duration_ms:
        raise UsageError(
            f"--lose-broker-at {lost_at_ms / 1000:g}s is outside the {duration_ms / 1000:g}s simulated.",
            "The broker would never be lost.",
            "Lengthen --duration, or lose it earlier.",
        )
    if not stated:
        rate = f"{MEASURED_APPENDS_PER_S:,.0f} appends/s"
        callbacks.remark(f"assumed: a broker does {rate}, as one of two cores was measured to")
    for name, period_ms in _periods_ms(workload).items():
        if duration_ms < FEWEST_COMMITS * period_ms:
            callbacks.remark(
                f"{name} commits once in {milliseconds_text(period_ms)}, and {milliseconds_text(duration_ms)} are "
                f"simulated: too short for its percentiles; set --duration {ceil(FEWEST_COMMITS * period_ms / 1000)}s"
            )
    settings = SimulationSettings(duration_ms, lost_at_ms, request.failover_ms, stated or MEASURED_APPENDS_PER_S)
    return simulate_commits(workload, settings, request.seed)


def _periods_ms(workload: Workload) -> dict[str, float]:
    """Return the time from one commit of a producer to its next, for each application."""
    periods = {}
    for application in workload.applications:
        if rate := application.transactions_per_s:
            periods[application.name] = 1000 * application.producer_count / rate
        elif (period := application.commit_period_ms) is not None:
            periods[application.name] = period
    return periods


def read_workload(path: Path) -> Workload:
    """Return the workload of a file.

    Raises:
        ConfigFileError: The file cannot be read, or is not a workload.
    """
    return parse_workload(_read_text(path), str(path))


def _read_likely(path: Path, callbacks: Callbacks) -> Workload:
    workload = read_workload(path)
    if workload.ranges:
        callbacks.remark(f"{path} has ranges; their likely values are used: {', '.join(workload.ranges)}")
    return workload


def _read_text(path: Path) -> str:
    try:
        return read_input(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigFileError(f"Cannot read {path}.", reason, "eosctl capacity init writes one.") from error


def _read_prices(path: Path) -> Prices:
    text = read_small_text(path, "price list")
    return parse_yaml_as(Prices, text, str(path), "price list", "examples/prices.yaml shows the format.")


def _date(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until {text!r} is not a date.", "", "Write it like 2028-06-30.") from None
