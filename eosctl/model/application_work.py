"""The inputs for an application that is tested, and where its outputs are."""

from __future__ import annotations

import msgspec


class AppWork(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs for an application that is tested, and where its outputs are.

    Attributes:
        input_topic: The topic that inputs are written to.
        output_topic: The topic that is read.
        dead_letter_topic: Where poison goes; None for no such topic.
        groups: The groups whose offsets are watched.
        input_count: How many inputs, those of aborted transactions included.
        rate_per_s: Inputs per second.
        key_count: Different keys.
        abort_share: The share of transactions of inputs that is aborted, 0 to 1.
        poison_share: The share of inputs that are poison, 0 to 1.
        template: A healthy value, with ``{tag}``, ``{number}``, ``{key}``.
        poison_template: A value that the application cannot handle.
        settle_ms: The time without new outputs after which missing outputs count as lost, in milliseconds.
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
