"""The syntax of faults: invalid faults get a reason, and an order can be parsed from its own text."""

from __future__ import annotations

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.faults.order import parse_order


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("explode node=1", "Unknown fault 'explode'"),
        ("kill", "The fault kill needs node="),
        ("kill node=1 ms=5", "has no setting 'ms'"),
        ("kill node=one", "node=one is not a value of node"),
        ("delay api=NONSENSE ms=5", "api=NONSENSE is not a value of api"),
        ("delay ms=soon", "ms=soon is not a value of ms"),
        ("delay ms=-5", "ms=-5 is negative"),
        ("skew 1 ms=-5s for=-2s", "for=-2s is negative"),
        ("drop chance=2", "chance=2 is not a value of chance"),
        ("kill one", "node=one is not a value of node"),
        ("kill node=1 torn", "'torn' is not NAME=VALUE"),
        ("disconnect 2", "'2' is not NAME=VALUE"),
        ("kill 2 node=3", "node= is there twice"),
        ("resume 1", "Unknown fault 'resume'"),
        ("duplicate from=clients side=answers", "Answers to clients cannot be hit"),
        ("move-coordinator", "A coordinator is that of a group or of a transactional id"),
        ("", "Unknown fault ''"),
    ],
)
def test_invalid_faults_get_a_reason(words: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected) as refused:
        parse_order(words)
    assert refused.value.next_step


def test_a_whole_fault_may_be_one_argument() -> None:
    assert parse_order(["cut node=2 other=100", "for=2s"]) == parse_order("cut node=2 other=100 for=2s")
    assert parse_order("skew 1 ms=-5s").ms == -5_000


def test_words_of_earlier_versions_are_accepted() -> None:
    assert parse_order("late-materialisation when=later") == parse_order("late-materialization when=later")


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("kill 2", "kill node=2"),
        ("slow any ms=50", "slow node=any ms=50"),
        ("partition 1,2 for=5s", "partition nodes=1,2 for=5s"),
    ],
)
def test_what_a_fault_needs_first_goes_without_its_name(words: str, same: str) -> None:
    assert parse_order(words) == parse_order(same)


@pytest.mark.parametrize(
    "words",
    [
        "kill node=2 lose=3 torn=true",
        "delay from=clients to=2 api=END_TXN count=1 ms=500 for=5000",
        "drop from=1 to=2 side=answers skip=3 chance=0.5",
        "partition nodes=1,2",
        "move-coordinator group=g to=2",
        "bug name=kafka-17507 on=false",
        "late-materialization when=before-append",
        "skew node=2 ms=1200000",
    ],
)
def test_an_order_is_rendered_in_its_own_words(words: str) -> None:
    assert str(parse_order(words)) == words
    assert parse_order(str(parse_order(words))) == parse_order(words)
