"""The first line of a list states what could not be read."""

from __future__ import annotations

import pytest

from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.render.envelope import EvidenceView, Listing
from eosctl.render.formats import OutputFormat
from eosctl.render.gap_text import join_gaps
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Style

COLUMNS = (Column("NAME", str),)


def rendered(*items: str, gap_count: int) -> list[str]:
    gaps = tuple(
        EvidenceGap(EvidenceKind.PRODUCERS, f"broker {number}", GapReason.TIMED_OUT) for number in range(gap_count)
    )
    evidence = EvidenceView("", "", 1, (), not gaps, gaps)
    listing = Listing("names", 1, "list", "", None, evidence, items)
    return render_listing(listing, COLUMNS, OutputFormat.TABLE, empty="No names.").splitlines()


def test_a_complete_list_begins_with_its_items() -> None:
    assert rendered("a", gap_count=0)[0] == "NAME"
    assert rendered(gap_count=0) == ["No names."]


def test_gaps_stand_before_the_items() -> None:
    lines = rendered("a", gap_count=2)
    assert lines[0] == "INCOMPLETE: producers of broker 0, producers of broker 1 could not be read."
    assert lines[1] == "NAME"
    assert sum("missing" in line for line in lines) == 2


def test_a_silent_broker_is_one_line_for_all_kinds() -> None:
    kinds = (EvidenceKind.API_VERSIONS, EvidenceKind.PRODUCERS, EvidenceKind.PRODUCERS)
    silent = [EvidenceGap(kind, "broker 2", GapReason.TIMED_OUT, next_step="Start it.") for kind in kinds]
    other = EvidenceGap(EvidenceKind.GROUPS, "broker 2", GapReason.NOT_AUTHORIZED, next_step="Grant Describe.")
    first, second = join_gaps([*silent, other])
    assert (first.subject, first.reason, first.gap.next_step) == (
        f"{EvidenceKind.API_VERSIONS}, {EvidenceKind.PRODUCERS} of broker 2",
        GapReason.TIMED_OUT.value,
        "Start it.",
    )
    assert second.kinds == EvidenceKind.GROUPS


def test_an_empty_list_with_gaps_does_not_claim_more() -> None:
    lines = rendered(gap_count=5)
    assert lines[0].endswith("and 2 more could not be read. Nothing was found in the rest.")
    assert "No names." not in lines
    assert sum("missing" in line for line in lines) == 5


@pytest.mark.parametrize("style", [PLAIN, Style(width=80), Style(width=80, fold=True)])
@pytest.mark.parametrize("output", [OutputFormat.TABLE, OutputFormat.WIDE, OutputFormat.JSON])
def test_a_long_name_widens_no_other_row(style: Style, output: OutputFormat) -> None:
    name, others = "x" * 30_000, [f"id-{number}" for number in range(200)]
    columns = (*COLUMNS, Column[str]("STATE", lambda _: "Ongoing"))
    listing = Listing("names", 1, "list", "", None, None, (name, *others))
    text = render_listing(listing, columns, output, style)
    assert len(text) < 200 * 300 + (0 if output is OutputFormat.TABLE else 40_000)
    assert all(one in text for one in others)
    is_whole = text.count("x") == 30_000
    assert is_whole is (output is not OutputFormat.TABLE)
    assert ("-o wide and -o json" in " ".join(text.split())) is (output is OutputFormat.TABLE)


def test_a_name_of_a_topic_is_never_cut() -> None:
    assert rendered("t" * 249, gap_count=0) == ["NAME", "t" * 249]
