"""Subscription patterns follow RE2, not Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.coordinator.group.consumer.patterns import InvalidPattern, compile_re2


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
        ("a)", "unexpected )"),
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
