"""Prices of what a cluster and its applications use, and what a plan costs with them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Price = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A price list in one currency, as its file has it. A gigabyte (GB) is 10^9 bytes.

    Attributes:
        api_version: The version of the format.
        kind: What the file is.
        currency: How amounts are marked, e.g. ``EUR``.
        broker: A broker without its disk, per month.
        disk_gb: A GB on a broker's disk, per month.
        remote_gb: A GB of tiered storage, per month.
        between_zones_gb: A GB sent between availability zones.
        instance: An instance of an application without its disk, per month.
        instance_disk_gb: A GB on an instance's disk, per month.
    """

    api_version: Literal["eosctl/v1"] = msgspec.field(name="apiVersion")
    kind: Literal["Prices"]
    currency: Annotated[str, msgspec.Meta(min_length=1, max_length=8)]
    broker: Price
    disk_gb: Price
    remote_gb: Price = 0.0
    between_zones_gb: Price = 0.0
    instance: Price = 0.0
    instance_disk_gb: Price = 0.0


class Cost(msgspec.Struct, frozen=True):
    """An item of a month's bill.

    Attributes:
        name: What is paid for.
        unit: The unit of the quantities.
        price: The price of one unit.
        exactly_once: The quantity with transactions.
        at_least_once: The quantity of the same workload without them.
    """

    name: str
    unit: str
    price: float
    exactly_once: float
    at_least_once: float


class Costs(msgspec.Struct, frozen=True):
    """What a workload costs in a month.

    Attributes:
        currency: The currency of all prices.
        items: What has a price.
        exactly_once: The sum with transactions.
        at_least_once: The sum without them.
        without_price: What is used but has no price, so that the sums lack it.
    """

    currency: str
    items: tuple[Cost, ...]
    exactly_once: float
    at_least_once: float
    without_price: tuple[str, ...] = ()
