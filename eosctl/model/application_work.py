"""The inputs and outputs of a tested application."""

from __future__ import annotations

import msgspec


class AppWork(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs and outputs of a tested application.

    Attributes:
        input_topic: The topic of the inputs.
        output_topic: The topic of the outputs.
        dead_letter_topic: The topic of poison inputs; None without one.
        groups: The groups with watched offsets.
        input_count: Number of inputs, including those of aborted transactions.
        rate_per_s: Inputs per second.
        key_count: Number of distinct keys.
        abort_share: Share of aborted input transactions, 0 to 1.
        poison_share: Share of poison inputs, 0 to 1.
        template: A valid value, with `{tag}`, `{number}`, `{key}`.
        poison_template: A value that the application cannot process.
        settle_ms: Time in milliseconds without new outputs after which missing ones count as lost.
    """

    input_topic: str
    output_topic: str
    dead_letter_topic: str | None = None
    groups: tuple[str, ...] = ()
    input_count: int = 1_000
    rate_per_s: float = 200.0
    key_count: int = 10
    abort_share: float = 0.1
    poison_share: float = 0.0
    template: str = "{tag}"
    poison_template: str = "poison {tag}"
    settle_ms: int = 15_000
