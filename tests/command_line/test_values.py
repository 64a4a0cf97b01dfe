"""Values of options are parsed, or refused with an error that shows how to write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typer

from eosctl.command_line.values import (
    parse_bounds,
    parse_duration_ms,
    parse_listen,
    parse_log_position,
    parse_moment_ms,
    parse_partition,
    parse_roles,
    parse_times,
)
from eosctl.errors import UsageError
from eosctl.model.deployment import Role
from eosctl.model.log_bounds import EVERYTHING, Bounds
from eosctl.model.transaction import TopicPartition

NOW_MS = 1_700_000_000_000


def test_values_are_parsed() -> None:
    assert parse_duration_ms("15m") == 900_000
    assert parse_duration_ms("7d") == 604_800_000
    assert parse_moment_ms("-30m", "--from", NOW_MS) == NOW_MS - 1_800_000
    assert parse_log_position("1200", NOW_MS) == (1200, None)
    assert parse_log_position("@-1h", NOW_MS) == (None, NOW_MS - 3_600_000)
    assert parse_partition("orders-eu-2") == TopicPartition("orders-eu", 2)
    assert parse_roles(["a=b.conf=consumer"]) == {"a=b.conf": Role.CONSUMER}
    assert parse_bounds("100:", "--offset") == Bounds(100, None)
    assert parse_bounds("7", "--offset") == Bounds(7, 7)
    assert parse_times("1970-01-01T00:00:01Z..1970-01-01T00:00:02") == Bounds(1000, 2000)
    assert parse_times("..1970-01-01T00:00:02Z") == Bounds(None, 2000)


def test_what_is_not_given_stays_open() -> None:
    assert parse_moment_ms(None, "--from", NOW_MS) is None
    assert parse_log_position(None, NOW_MS) == (None, None)
    assert parse_partition(None) is None
    assert parse_bounds(None, "--offset") == parse_times(None) == EVERYTHING


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (lambda text: parse_moment_ms(text, "--from", NOW_MS), "yesterday"),
        (lambda text: parse_log_position(text, NOW_MS), "²"),
        (parse_partition, "orders"),
        (parse_partition, "orders-²"),
        (lambda text: parse_roles([text]), "app.conf=admin"),
        (lambda text: parse_bounds(text, "--offset"), "a:b"),
        (parse_times, "then..now"),
    ],
)
def test_other_text_is_refused_with_an_example(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert refused.value.next_step


def test_a_superscript_digit_is_not_a_duration() -> None:
    with pytest.raises(typer.BadParameter):
        parse_duration_ms("²s")


MANY = "9" * 5_000
"""More digits than Python converts."""


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_duration_ms, f"{MANY}s"),
        (parse_duration_ms, "106751991168d"),
        (lambda text: parse_moment_ms(text, "--from", NOW_MS), MANY),
        (lambda text: parse_moment_ms(text, "--from", NOW_MS), f"-{MANY}d"),
        (lambda text: parse_log_position(text, NOW_MS), MANY),
        (lambda text: parse_log_position(text, NOW_MS), str(2**63)),
        (parse_listen, f"127.0.0.1:{MANY}"),
        (parse_listen, "127.0.0.1:65536"),
        (parse_partition, f"orders-{MANY}"),
        (parse_partition, f"orders-{2**31}"),
        (lambda text: parse_bounds(text, "--offset"), f"{MANY}:"),
        (parse_times, f"{MANY}..{MANY}"),
    ],
)
def test_numbers_beyond_kafkas_are_refused(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises((UsageError, typer.BadParameter)) as refused:
        parse(text)
    assert "set_int_max_str_digits" not in str(refused.value)
