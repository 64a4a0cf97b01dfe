"""Records with many lines that a layout or a shipper joins: line breaks are escaped or replaced by signs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.records.joined import unfold
from tests.logs.rendering import load, stamped, verdicts_stay

FENCED = "org.apache.kafka.common.errors.ProducerFencedException"


@pytest.mark.parametrize(
    ("line_end", "tab"),
    [("\\n", "\\t"), ("\\n", "    "), ("\\r\\n", "\\t"), ("#012", "#011"), (" | ", "\t"), ("^M", "\t"), ("^M\n", "\t")],
)
def test_verdicts_do_not_depend_on_the_form_of_line_breaks(line_end: str, tab: str, tmp_path: Path) -> None:
    def folded(text: str) -> str:
        records = ("\n".join(record.lines).rstrip("\n") for record in stamped(text))
        return "".join(record.replace("\t", tab).replace("\n", line_end) + "\n" for record in records)

    verdicts_stay(
        tmp_path,
        {
            name: folded(text) if name.startswith(("stream-", "relay")) else text
            for name, text in load("poison-record-392").items()
        },
    )


def test_an_id_ends_where_its_line_ends() -> None:
    assert unfold(rf"failed, transactional.id=pay-1\n{FENCED}: no") == (
        "failed, transactional.id=pay-1",
        f"{FENCED}: no",
    )
    assert unfold(f"failed, group.id=a|b | {FENCED}: a|b | \tat a.B.c(B.java:1)") == (
        "failed, group.id=a|b",
        f"{FENCED}: a|b\n\tat a.B.c(B.java:1)",
    )
    assert unfold("up, transactional.id=pay-1^M") == ("up, transactional.id=pay-1", "")


@pytest.mark.parametrize("message", [r"opened C:\new\nodes", "a | b | c", "Lager|Nord: an Exception at noon", r"\w+"])
def test_a_single_line_stays_one(message: str) -> None:
    assert unfold(message) == (message, "")
