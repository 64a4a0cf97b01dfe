"""What doctor folds into one line on a terminal, and what ``-o wide`` shows in full: on the committed example."""

from __future__ import annotations

import re
from pathlib import Path

from tests.commands.conftest import eosctl

EXAMPLE = Path(__file__).parents[3] / "examples" / "hanging.json.gz"


def shown(*options: str) -> str:
    done = eosctl("doctor", "--snapshot", EXAMPLE, *options)
    assert done.code == 3
    return done.out


def test_the_example_has_a_hanging_transaction() -> None:
    text = shown()
    assert re.search(r"^1\. CRITICAL  EOS-TXN-001  Hanging transaction: partition orders-2$", text, re.MULTILINE)
    assert re.search(r"^2\. WARNING  ", text, re.MULTILINE)


def test_information_is_one_line_each_and_full_in_wide() -> None:
    lines = shown().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("INFO "))
    section = lines[start + 1 : lines.index("", start)]
    assert [line.split()[0] for line in section] == ["EOS-OPS-002", "EOS-TOP-010", "EOS-UPG-002"]
    assert len(re.findall(r"^\d\. INFO  ", shown("-o", "wide"), re.MULTILINE)) == len(section)


def test_passed_and_inapplicable_checks_take_one_line_each() -> None:
    text = shown()
    assert len(re.findall(r"^PASSED  \d+ checks, listed by -o wide$", text, re.MULTILINE)) == 1
    (inapplicable,) = re.findall(r"^  (\d+) checks not applicable: (.*)$", text, re.MULTILINE)
    assert sum(map(int, re.findall(r"\((\d+)\)", inapplicable[1]))) == int(inapplicable[0])


def test_wide_names_every_passed_check() -> None:
    (count,) = re.findall(r"^PASSED  (\d+) checks", shown(), re.MULTILINE)
    wide = shown("-o", "wide").partition("\nPASSED\n")[2].partition("\n\n")[0]
    assert len(wide.splitlines()) == int(count)
