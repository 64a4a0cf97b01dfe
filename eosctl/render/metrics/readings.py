"""Scraped metrics, for people and programs."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.metric_reading import DerivedValue, Reading
from eosctl.render.listing import Column


class ReadingItem(msgspec.Struct, frozen=True):
    """A metric of one endpoint, or one ``derived`` from all of them.

    ``status`` is ``bad``, ``ok``, or ``-`` where no single value is bad; ``bean`` is empty of derived ones.
    """

    endpoint: str
    metric: str
    status: str
    value: float | None
    unit: str
    where: dict[str, str]
    series_count: int
    healthy: str
    bean: str = ""
    derived: bool = False


READING_COLUMNS: Final[tuple[Column[ReadingItem], ...]] = (
    Column("STATUS", lambda item: item.status),
    Column("METRIC", lambda item: item.metric),
    Column("VALUE", lambda item: "NaN" if item.value is None else f"{item.value:,.6g}"),
    Column("UNIT", lambda item: item.unit),
    Column("WHERE", lambda item: ",".join(f"{key}={value}" for key, value in item.where.items()) or "-"),
    Column("BEAN", lambda item: item.bean or "-", wide=True),
    Column("HEALTHY", lambda item: item.healthy, wide=True),
    Column("ENDPOINT", lambda item: item.endpoint),
)

_STATUS: Final = {True: "bad", False: "ok", None: "-"}


def value_item(source: str, value: Reading | DerivedValue) -> ReadingItem:
    """Shape a value of a program, or one that is derived from all of them."""
    return derived_item(value) if isinstance(value, DerivedValue) else reading_item(source, value)


def reading_item(endpoint: str, reading: Reading) -> ReadingItem:
    """Show a reading."""
    return ReadingItem(
        endpoint=endpoint,
        metric=reading.metric.name,
        status=_STATUS[reading.is_bad],
        value=reading.value,
        unit=reading.metric.unit,
        where=dict(reading.where),
        series_count=reading.series_count,
        healthy=reading.metric.healthy,
        bean=reading.metric.bean,
    )


def derived_item(value: DerivedValue) -> ReadingItem:
    """Show a derived value."""
    return ReadingItem(
        endpoint="all",
        metric=value.metric.name,
        status=_STATUS[value.is_bad],
        value=value.value,
        unit=value.metric.unit,
        where=dict(value.where),
        series_count=0,
        healthy=value.metric.healthy,
        derived=True,
    )
