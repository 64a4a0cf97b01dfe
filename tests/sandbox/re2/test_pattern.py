"""Subscription patterns follow RE2, not Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.re2.nodes import InvalidPattern
from eosctl.sandbox.re2.pattern import compile_re2


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a(?=b)", "invalid or unsupported Perl syntax"),
        ("a(?!b)", "invalid or unsupported Perl syntax"),
        ("(?<=a)b", "invalid or unsupported Perl syntax"),
        ("(?<!a)b", "invalid or unsupported Perl syntax"),
        ("(?>a)b", "invalid or unsupported Perl syntax"),
        ("(?#note)b", "invalid or unsupported Perl syntax"),
        ("(a)?(?(1)b|c)", "invalid or unsupported Perl syntax"),
        ("(?P<x>a)(?P=x)", "invalid or unsupported Perl syntax"),
        (r"(a)\1", "invalid escape sequence"),
        (r"a\Z", "invalid escape sequence"),
        ("a*+", "invalid nested repetition operator"),
        ("a++", "invalid nested repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("a{2}{3}", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("a{3,2}", "invalid repeat count"),
        ("(a", "missing closing )"),
        ("a)", "regexp/syntax: internal error"),
        ("[a", "missing closing ]"),
        ("*a", "missing argument to repetition operator"),
        ("a\\", "trailing backslash at end of expression"),
        ("[[:nothing:]]", "invalid character class range"),
    ],
)
def test_what_re2_lacks_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        compile_re2(pattern)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("orders-.*", ["orders-1", "orders-"], ["orders", "my-orders-1"]),
        ("(?i)ORDERS", ["orders"], ["order"]),
        (r"\Qa.b\E.*", ["a.bc"], ["axb"]),
        (r"\Aorders\z", ["orders"], ["orders1"]),
        ("[[:alpha:]]+[[:digit:]]", ["abc1"], ["1a", "a"]),
        ("(?P<a>x)(?<b>y)", ["xy"], ["x"]),
        ("a{2,3}?b*?", ["aab", "aaab"], ["ab"]),
        ("[]a]+", ["]a"], ["b"]),
        ("[^.]+", ["orders"], ["or.ders"]),
        ("(?s-i:a.)|b", ["ax", "b"], ["c"]),
        ("a{,2}", ["a{,2}"], ["aa"]),
    ],
)
def test_what_re2_has_matches(pattern: str, matches: list[str], others: list[str]) -> None:
    compiled = compile_re2(pattern)
    assert all(compiled.fullmatch(topic) for topic in matches)
    assert not any(compiled.fullmatch(topic) for topic in others)


@given(st.text(r"ab[](){}*+?\|^$-:.,1<>=!PQEz", max_size=12))
def test_any_text_compiles_or_is_refused(pattern: str) -> None:
    try:
        compile_re2(pattern)
    except InvalidPattern as refused:
        assert str(refused)


#: Where other engines take exponential or polynomial time.
SLOW = [
    "(a+)+$",
    "(a|a)*b",
    "(a|aa)+$",
    "(.*)*x",
    "(a?){60}a{60}b",
    "(.*a){25}",
    "(x+x+)+y",
    "((a*)*)*b",
    "(?:a|b|ab)*c",
]


@pytest.mark.parametrize("pattern", SLOW)
def test_matching_takes_linear_time(pattern: str) -> None:
    few, many = (_calls(partial(_match_anew, pattern, "a" * length)) for length in (500, 1_000))
    assert many <= 2 * few


def _match_anew(pattern: str, text: str) -> None:
    compile_re2.__wrapped__(pattern).fullmatch(text)


def _calls(run: Callable[[], object]) -> int:
    """Return how many calls a function makes, in Python and in C."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(" * 5_000 + "a" + ")" * 5_000, "expression nests too deeply"),
        ("((((a{1000}){1000}){1000}){1000})", "expression too large"),
        ("((((a{0}){1000}){1000}){1000})", "expression too large"),
        ("a{1000}" * 100, "expression too large"),
        ("a{" + "9" * 5_000 + "}", "invalid repeat count"),
    ],
)
def test_a_pattern_without_bounds_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidPattern, match=reason):
        compile_re2(pattern)


def test_a_pattern_keeps_a_bounded_number_of_states() -> None:
    pattern = compile_re2(".*a.{300}")
    texts = ["".join(Random(seed).choices("ab", k=400)) for seed in range(20)]
    assert [pattern.fullmatch(text) for text in texts] == [text[99] == "a" for text in texts]
