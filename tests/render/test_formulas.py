"""No cell of tab-separated or comma-separated text is a formula to a spreadsheet, and numbers remain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.render.machine import render_csv, render_tsv

FORMULAS = ("=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "=1", "--x", "-cell", "+1-555", "-1 +x")
HARMLESS = ("-", "=", "+", "@", "-1", "+2.5", "-1,2", "-1.5e-07", "a=b", "", "x@y", "1-2")
CELLS = st.one_of(st.sampled_from((*FORMULAS, *HARMLESS)), st.text("=+-@1.\t\n\\a", max_size=6))


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_is_written_out(cell: str) -> None:
    escaped = f"\\x{ord(cell[0]):02x}{cell[1:]}"
    assert render_tsv([[cell]]) == f"{escaped}\n"
    assert render_tsv([["a", cell], [cell, "b"]]) == f"a\t{escaped}\n{escaped}\tb\n"
    assert render_csv([[cell]]).strip('"').startswith("'")


@pytest.mark.parametrize("cell", HARMLESS)
def test_other_cells_are_unchanged(cell: str) -> None:
    assert render_tsv([["a", cell], [cell, "b"]]) == f"a\t{cell}\n{cell}\tb\n"


@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=4))
def test_rows_have_the_cells_of_their_own_lines(rows: list[list[str]]) -> None:
    text = render_tsv(rows)
    assert text == "".join(
        render_tsv([[cell]])[:-1] + ("\n" if last else "\t") for row in rows for cell, last in ends(row)
    )
    for line in text.splitlines():
        for cell in line.split("\t"):
            assert not cell.startswith(("=", "@")) or len(cell) == 1


def ends(row: list[str]) -> list[tuple[str, bool]]:
    return [(cell, place == len(row) - 1) for place, cell in enumerate(row)]
