"""Results of expressions on lines with blurred digits, compared with those on the original lines."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.layout_catalog import LAYOUTS
from eosctl.logs.layouts import header_expressions
from eosctl.logs.records import kinds
from eosctl.logs.records.anchors import meaning_anchors, work_anchors
from eosctl.logs.records.digits import BLUR, BlockBlur, any_digit, is_blind, unshifted
from eosctl.logs.records.kinds import HEADER, Kinds, lines_of

LINES = (
    *(
        "%7|1795253370.123|FAIL|a#producer-1| [thrd:main]: gone",
        "%9|1795253370.123|FAIL|a| x",
        "<14>1 2026-11-21T09:31",
    ),
    *("20261121 09:31:22.658 ERROR x", "30261121 09:31:22.658 x", '{"level":50,"msg":"x"}', '{"level":30,"msg":"x"}'),
    *("[2026-11-21 09:31:18,670] INFO on (a.B)", "level=2 msg=on", "E1121 09:31:18.670 1 a.go:7] x", "it is 2026"),
    *("kafka.Log4jController MBean", "kafka.Log9jController MBean", "ERROR 17", "", "\xff 5"),
)
EXPRESSIONS = (*header_expressions(LAYOUTS), *meaning_anchors(), *work_anchors())


@pytest.mark.parametrize(
    ("given_one", "loose"),
    [
        (r"%[0-3]\|", r"%[\d0-3]\|"),
        (r"20\d{6}x{2,10}", r"\d\d\d{6}x{2,10}"),
        (r"[\d.]+\x41[\x80-\xff]\1", r"[\d.]+\x41[\x80-\xff]\1"),
        (r"[^5]a", r"[^\n]a"),
        (r"[]7]\]8", r"[\d]7]\]\d"),
        (r"\{\d+ [A-Z]", r"\{\d+ [A-Z]"),
    ],
)
def test_digits_in_expressions_are_generalized(given_one: str, loose: str) -> None:
    assert any_digit(given_one) == loose
    assert is_blind(given_one) is (given_one == loose)


@given(st.binary(max_size=2000))
def test_blocks_are_blurred_like_the_table(text: bytes) -> None:
    blurred = np.empty(len(text), dtype=np.uint8)
    BlockBlur().blur(np.frombuffer(text, dtype=np.uint8), blurred)
    assert unshifted(blurred.tobytes()) == text.translate(BLUR)


@given(st.binary(max_size=300) | st.text("\nab\n0", max_size=300).map(str.encode), st.integers(1, 1000))
def test_a_window_of_any_length_is_cut_into_its_lines(part: bytes, times: int) -> None:
    text = part * times
    found = lines_of(np.frombuffer(text, dtype=np.uint8))
    lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", text)
    assert found.texts.to_pylist() == lines
    meant = list(map(unshifted, found.blurred.to_pylist()))
    assert meant == [line.translate(BLUR) for line in lines]
    assert [text[start : start + len(line)] for start, line in zip(found.starts, lines, strict=True)] == lines


def _python(expression: str) -> re.Pattern[bytes]:
    return re.compile(expression.replace(r"\z", r"\Z").encode("latin-1"))


@settings(max_examples=200, deadline=None)
@given(
    expression=st.sampled_from(EXPRESSIONS),
    line=st.sampled_from(LINES),
    digits=st.lists(st.sampled_from("0123456789"), min_size=40, max_size=40),
)
def test_blurring_loses_no_match(expression: str, line: str, digits: list[str]) -> None:
    supply = iter(digits)
    raw = re.sub(r"\d", lambda _: next(supply, "0"), line).encode("latin-1")
    sharp = _python(expression).search(raw) is not None
    loose = _python(any_digit(expression)).search(raw.translate(BLUR)) is not None
    assert loose or not sharp
    if is_blind(expression):
        assert loose is sharp


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=40), min_size=1, max_size=4),
    st.lists(st.sampled_from(header_expressions(LAYOUTS)), min_size=1),
    st.sampled_from([1, 5, 1000]),
    st.sampled_from([0, 10, 1000]),
)
def test_kinds_give_the_same_results_as_lines(
    windows: list[list[str]], headers: list[str], remembered: int, few_lines: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "_REMEMBERED", remembered)
        patch.setattr(kinds, "_FEW_LINES", few_lines)
        by_kind, by_line = Kinds(headers), Kinds(headers)
        for lines in windows:
            found = lines_of(np.frombuffer("".join(f"{line}\n" for line in lines).encode("latin-1"), dtype=np.uint8))
            patch.setattr(kinds, "_ALIKE_SHARE", 0.0)
            by_kinds = by_kind.classify(found)
            patch.setattr(kinds, "_ALIKE_SHARE", 1.1)
            exact = by_line.classify(found)
            if few_lines:
                # Unknown kinds count as relevant, but headers are always recognized.
                assert not (exact & ~by_kinds).any()
                by_kinds &= exact | np.uint8(HEADER)
            assert by_kinds.tolist() == exact.tolist()


def test_few_lines_of_unknown_kinds_are_not_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, asked = Kinds(header_expressions(LAYOUTS)), list[int]()
    real = Kinds._matched
    monkeypatch.setattr(Kinds, "_matched", lambda self, new: (asked.append(len(new)), real(self, new))[1])
    line = "[2026-11-21 09:31:18,670] INFO {} (a.B)\n"
    for window in range(1, 20):
        new = [line.format("on" + "x" * (window * 50 + number)) for number in range(50)]
        text = line.format("on") * 5000 + "".join(new)
        found = memory.classify(lines_of(np.frombuffer(text.encode(), dtype=np.uint8)))
        assert (found & HEADER).all()
    assert asked == [51, 300, 300, 300]
