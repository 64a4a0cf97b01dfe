"""Capacity plans as text and in the machine formats."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from typing import Final

from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_plan import CapacityPlan, GrowthPoint, ResourceUse, Unit, Variant
from eosctl.model.capacity_report import CapacityReport
from eosctl.model.prices import Costs
from eosctl.render.capacity.figure_text import figure_text, guesses_text
from eosctl.render.capacity.figures import HEADER, figure_rows
from eosctl.render.capacity.ranges import (
    INPUT_HEADER,
    RANGE_HEADER,
    input_rows,
    range_notes,
    range_rows,
    remedy_text,
    sizing_text,
    use_text,
)
from eosctl.render.capacity.sensitivity import (
    FIRST_ROWS,
    SENSITIVITY_HEADER,
    SENSITIVITY_TITLE,
    sensitivity_notes,
    sensitivity_rows,
)
from eosctl.render.envelope import listing
from eosctl.render.machine import render_csv, render_json, render_tsv, render_yaml
from eosctl.render.markdown_page import render_markdown_page
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import (
    both_bytes_text,
    byte_rate_text,
    bytes_text,
    count_text,
    milliseconds_text,
    number_text,
    rate_text,
)


class PlanFormat(StrEnum):
    """What ``-o`` accepts for a plan."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


def render_plan(
    items: Sequence[CapacityReport], command: str, generated_at_ms: int, output: PlanFormat, style: Style = PLAIN
) -> str:
    """Render plans, except as HTML; people read one after the other."""
    result = listing("capacity-plan", command, generated_at_ms, tuple(items))
    match output:
        case PlanFormat.JSON:
            return render_json(result)
        case PlanFormat.YAML:
            return render_yaml(result)
        case PlanFormat.TSV:
            return render_tsv(figure_rows(items))
        case PlanFormat.CSV:
            return render_csv([HEADER, *figure_rows(items)])
        case PlanFormat.MARKDOWN:
            return render_markdown_page(
                [block for item in items for block in _blocks(item, True, None)], f"eosctl {command}"
            )
        case _:
            wide = output is PlanFormat.WIDE
            return render_page([block for item in items for block in _blocks(item, wide, style.width)], style)


def verdict_text(plan: CapacityPlan) -> str:
    """Say in one sentence whether the workload fits."""
    lost = f" with {plan.brokers_lost} of {count_text(plan.broker_count, 'broker')} lost" if plan.brokers_lost else ""
    use = plan.resource(plan.bottleneck).utilisation or 0.0 if plan.bottleneck else 0.0
    if plan.fits is None:
        return "No limit of the brokers is stated, so there is no verdict; add disk, network and disk_write."
    if plan.fits:
        fits = "It fits the stated limits" if plan.not_judged else "It fits"
        urgent = sum(advice.urgent for advice in plan.advice)
        change = f" {count_text(urgent, 'recommendation')} cannot wait." if urgent else ""
        return f"{fits}. The bottleneck is {plan.bottleneck}: {use:.0%} of what is planned{lost}.{change}"
    exceeded = [f"{use_text(plan.bottleneck, use)}{lost}"] if use > 1 else []
    return f"It does not fit: {'; '.join([*exceeded, *plan.failures])}; {remedy_text(plan.advice)}."


def coverage_text(plan: CapacityPlan) -> str:
    """Say what the verdict does not cover; empty if it covers everything."""
    if plan.fits is None or not plan.not_judged:
        return ""
    return f"Not judged, as no limit is stated: {', '.join(plan.not_judged)}."


def eos_text(plan: CapacityPlan) -> str:
    """Say in one sentence what exactly-once costs."""
    eos, data = rate_text(plan.eos_appends_per_s), rate_text(plan.data_appends_per_s)
    return (
        f"{rate_text(plan.transactions_per_s)} transactions write {rate_text(plan.markers_per_s)} markers; "
        f"exactly-once adds {eos} appends over all copies to {data} of data ({plan.eos_append_share:.0%} of all)."
    )


def _blocks(item: CapacityReport, wide: bool, width: int | None) -> list[Block]:
    plan = item.plan
    blocks: list[Block] = [
        Line(
            f"{plan.workload}: {count_text(plan.broker_count, 'broker')}, replication factor {plan.replication_factor}",
            "bold",
        ),
        *(Line(text, _TONES[fits]) for text, fits in verdicts(item)),
        Line(eos_text(plan)),
        *_range_blocks(item, wide),
    ]
    blocks += _table("RESOURCES, for each broker", _RESOURCE_HEADER, [_resource(r) for r in plan.resources])
    blocks += _table("TOPICS, one copy", _TOPIC_HEADER, topic_rows(plan), width)
    blocks += _table("APPLICATIONS", _APPLICATION_HEADER, application_rows(plan), width)
    instances = instance_rows(plan)
    blocks += _table("INSTANCES, what each of them needs", _INSTANCE_HEADER, instances, width)
    if wide:
        blocks += _table("FIGURES", FIGURE_HEADER, figure_table(plan))
    for name, group in groupby(item.what_if, key=lambda variant: variant.parameter):
        variants = tuple(group)
        blocks += _table(f"WHAT IF {name}", *variant_table(variants), width)
        refused = [Line(f"{v.parameter}={v.value}: {v.refusal}") for v in variants if v.refusal]
        blocks += [Line(""), *refused] if refused else []
    shown = None if wide else FIRST_ROWS
    inputs = sensitivity_rows(item.sensitivity, plan, shown)
    blocks += _table(SENSITIVITY_TITLE, SENSITIVITY_HEADER, inputs)
    blocks += [Line(note) for note in sensitivity_notes(item.sensitivity, shown)]
    blocks += _table("GROWTH", GROWTH_HEADER, [growth_row(point) for point in item.growth])
    if item.costs is not None:
        blocks += _table(cost_text(item.costs), COST_HEADER, cost_rows(item.costs))
    if item.advice:
        blocks += [Line(""), Line(advice_title(item), "bold")]
        for advice in item.advice:
            blocks.append(Line(f"  {'! ' if advice.urgent else ''}{advice.setting} = {advice.value}"))
            blocks.append(Field("", f"{advice.reason}."))
    if plan.assumptions:
        blocks += _table(
            f"ASSUMED ({len(plan.assumptions)}; state them in the file to be sure)",
            ("KEY", "VALUE", "WHY"),
            [(a.path, a.value, a.why) for a in plan.assumptions],
        )
    return blocks


def verdicts(item: CapacityReport) -> list[tuple[str, bool | None]]:
    """Return the sentences that say whether the workload fits, each with its verdict, and what is not judged."""
    plan, ranges = item.plan, item.ranges
    found: list[tuple[str, bool | None]] = [(verdict_text(plan), plan.fits)]
    if ranges is not None:
        found = [(sizing_text(ranges), ranges.fits), (f"With the likely values: {found[0][0]}", plan.fits)]
    return [*found, (coverage, None)] if (coverage := coverage_text(plan)) else found


def advice_title(item: CapacityReport) -> str:
    """Return the title of what is recommended, and what its mark means."""
    title = "RECOMMENDED, for the least favorable plan" if item.ranges else "RECOMMENDED"
    return f"{title} (!: urgent)" if any(one.urgent for one in item.advice) else title


def _range_blocks(item: CapacityReport, wide: bool) -> list[Block]:
    if (ranges := item.ranges) is None:
        return []
    return [
        *_table("RANGES", INPUT_HEADER, input_rows(ranges)),
        *_table(f"FIGURES OF {ranges.plan_count} PLANS WITHIN THE RANGES", RANGE_HEADER, range_rows(ranges, wide=wide)),
        *(Line(note) for note in range_notes(ranges, wide=wide)),
    ]


def _table(
    title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]], width: int | None = None
) -> list[Block]:
    """Return a table; where it is too wide and stands on its side instead, it is turned."""
    if not rows:
        return []
    turned = list(zip(header, *rows, strict=True))
    if width is not None and _width([header, *rows]) > width >= _width(turned):
        header, rows = turned[0], turned[1:]
    return [Line(""), Line(title, "bold"), Grid(tuple(rows), header)]


def _width(table: Sequence[tuple[str, ...]]) -> int:
    return sum(max(len(row[column]) for row in table) + 3 for column in range(len(table[0])))


_TONES: Final = {True: "green", False: "red", None: "yellow"}
_RESOURCE_HEADER: Final = ("RESOURCE", "USED", "AFTER-LOSS", "PLANNED-LIMIT", "UTILISATION", "FORMULA", "GRADE")
_TOPIC_HEADER: Final = ("TOPIC", "WRITTEN", "READ", "BATCHES", "RECORDS/BATCH", "MARKERS", "STORED-ALL-COPIES")
_APPLICATION_HEADER: Final = (
    *("APPLICATION", "TXN", "PARTITIONS/TXN", "MARKERS", "TXN-LOG", "VISIBLE-P50", "VISIBLE-P99"),
    *("BLOCKED-AFTER-CRASH", "THROUGHPUT", "RESTORE"),
)
_INSTANCE_HEADER: Final = (
    *("APPLICATION", "INSTANCES", "THREADS", "TASKS", "CORES", "HEAP", "ROCKSDB", "DISK", "TAKEOVER"),
    *("RESTORE-WIPED", "RESTORE-KEPT", "TXN-BUFFERS"),
)
_VARIANT_HEADER: Final = (
    *("VALUE", "TXN", "MARKERS", "EOS-APPENDS", "SHARE", "VISIBLE-P99", "NET-OUT/BROKER"),
    *("DISK", "BROKERS"),
)
_VARIANT_INSTANCES: Final = ("INSTANCES", "CORES", "HEAP/INSTANCE", "DISK/INSTANCE", "RESTORE")
COST_HEADER: Final = ("COST", "QUANTITY", "PRICE", "WITH-TRANSACTIONS", "WITHOUT")
FIGURE_HEADER: Final = ("FIGURE", "VALUE", "FORMULA", "GRADE", "NOT-STATED")
GROWTH_HEADER: Final = ("DATE", "RATE", "BOTTLENECK", "UTILISATION", "BROKERS")


def _resource(use: ResourceUse) -> tuple[str, ...]:
    planned = "unknown" if use.planned is None else _short(use.planned, use.unit)
    share = "" if use.utilisation is None else f"{use.utilisation:.0%}"
    used, after = _short(use.used, use.unit), _short(use.used_after_loss, use.unit)
    return (use.name, used, after, planned, share, use.formula, use.grade.value)


def _short(value: float, unit: Unit) -> str:
    return bytes_text(value) if unit is Unit.BYTES else figure_text(value, unit)


def topic_rows(plan: CapacityPlan) -> list[tuple[str, ...]]:
    """Return the table of topics."""
    return [
        (
            topic.name,
            byte_rate_text(topic.written),
            byte_rate_text(topic.read),
            rate_text(topic.data_batches_per_s),
            number_text(topic.batch_records),
            rate_text(topic.markers_per_s),
            both_bytes_text(topic.stored_bytes),
        )
        for topic in plan.topics
    ]


def application_rows(plan: CapacityPlan) -> list[tuple[str, ...]]:
    """Return the table of applications."""
    return [
        (
            application.name,
            rate_text(application.transactions_per_s),
            number_text(application.data_partitions),
            rate_text(application.markers_per_s),
            rate_text(application.transaction_log_appends_per_s),
            milliseconds_text(application.visible_p50_ms),
            milliseconds_text(application.visible_p99_ms),
            milliseconds_text(application.blocked_after_crash_ms),
            f"{application.throughput_share:.0%}",
            milliseconds_text(application.restore_ms) if application.restore_ms else "",
        )
        for application in plan.applications
    ]


def instance_rows(plan: CapacityPlan) -> list[tuple[str, ...]]:
    """Return the table of instances of Kafka Streams applications."""
    return [
        (
            application.name,
            number_text(one.instances),
            number_text(one.threads),
            number_text(one.tasks),
            number_text(one.cores),
            bytes_text(one.heap_bytes),
            bytes_text(one.off_heap_bytes),
            bytes_text(one.disk_bytes),
            milliseconds_text(one.takeover_ms) if one.takeover_ms else "",
            milliseconds_text(one.wiped_restore_ms) if one.wiped_restore_ms else "",
            milliseconds_text(one.kept_restore_ms) if one.kept_restore_ms else "",
            bytes_text(one.uncommitted_bytes) if one.uncommitted_bytes else "",
        )
        for application in plan.applications
        if (one := application.instance) is not None
    ]


def cost_text(costs: Costs) -> str:
    """Say in one line what a month costs."""
    extra = costs.exactly_once / costs.at_least_once - 1 if costs.at_least_once else 0.0
    sums = (_money(costs.exactly_once, costs), _money(costs.at_least_once, costs))
    unpriced = f"; not priced: {', '.join(costs.without_price)}" if costs.without_price else ""
    return f"A MONTH: {sums[0]} with transactions, {sums[1]} without ({extra:+.1%}){unpriced}"


def cost_rows(costs: Costs) -> list[tuple[str, ...]]:
    """Return the table of costs."""
    return [
        (
            one.name,
            f"{number_text(one.exactly_once)} {one.unit}",
            f"{one.price:,g}",
            _money(one.price * one.exactly_once, costs),
            _money(one.price * one.at_least_once, costs),
        )
        for one in costs.items
    ]


def _money(amount: float, costs: Costs) -> str:
    return f"{costs.currency} {amount:,.2f}"


def figure_table(plan: CapacityPlan, *, everything: bool = False) -> list[tuple[str, ...]]:
    """Return the table of the figures of the cluster, or of everything, each with the guesses behind it."""
    return [
        (
            figure.title,
            "unknown" if figure.value is None else figure_text(figure.value, figure.unit),
            figure.formula,
            figure.grade.value,
            guesses_text(figure.guesses),
        )
        for figure in list_figures(plan)
        if everything or figure.section == "cluster"
    ]


def variant_table(variants: Sequence[Variant]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of a what-if table, with instances if an application of Kafka Streams has some."""
    shown = [variant for variant in variants if not variant.refusal]
    rows = [_variant_row(variant) for variant in shown]
    if not any(variant.instance_count for variant in shown):
        return _VARIANT_HEADER, rows
    instances = [_variant_instances(variant) for variant in shown]
    return _VARIANT_HEADER + _VARIANT_INSTANCES, [row + more for row, more in zip(rows, instances, strict=True)]


def _variant_instances(variant: Variant) -> tuple[str, ...]:
    return (
        number_text(variant.instance_count),
        number_text(variant.core_count),
        bytes_text(variant.heap_bytes),
        bytes_text(variant.instance_disk_bytes),
        milliseconds_text(variant.restore_ms) if variant.restore_ms else "",
    )


def _variant_row(variant: Variant) -> tuple[str, ...]:
    return (
        variant.value,
        rate_text(variant.transactions_per_s),
        rate_text(variant.markers_per_s),
        rate_text(variant.eos_appends_per_s),
        f"{variant.eos_append_share:.0%}",
        milliseconds_text(variant.visible_p99_ms),
        byte_rate_text(variant.network_out),
        bytes_text(variant.disk_bytes),
        "unknown" if variant.broker_count is None else str(variant.broker_count),
    )


def growth_row(point: GrowthPoint) -> tuple[str, ...]:
    """Return a row of the growth table."""
    name, share = max(point.utilisation, key=lambda pair: pair[1], default=("", 0.0))
    count = "unknown" if point.broker_count is None else str(point.broker_count)
    return (point.date, f"x {point.factor:.2f}", name, f"{share:.0%}", count)
