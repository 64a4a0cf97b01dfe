"""What assistive programs need of each page: one main part, headings in order, tables that a keyboard can scroll."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import eosctl.render

TEMPLATES = Path(eosctl.render.__file__).parent / "templates"
PAGES = {path.name: path.read_text("utf-8") for path in TEMPLATES.glob("*.j2")}
WHOLE = {name: text for name, text in PAGES.items() if "<body" in text}


def headings(text: str) -> list[int]:
    return [int(level) for level in re.findall(r"<h([1-6])", text)]


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_page_has_one_main_part_and_one_title(name: str) -> None:
    text = WHOLE[name]
    assert (text.count("<main>"), text.count("</main>"), headings(text).count(1)) == (1, 1, 1)
    assert text.index("<main>") < text.index("</main>") < text.index("</body>")
    outside = re.sub(
        r"{% macro.*?endmacro %}|<(header|main|footer)\b.*?</\1>", "", text[text.index("<body") :], flags=re.DOTALL
    )
    assert re.findall(r"<(?:section|article|table|h\d|p)\b", outside) == []


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_headings_go_down_one_level_at_a_time(name: str) -> None:
    levels = headings(WHOLE[name])
    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == []


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_scrolled_table_has_the_keyboard(name: str) -> None:
    assert [
        part for part in re.findall(r'<div class="(?:scroll|wide)"[^>]*>', PAGES[name]) if "tabindex" not in part
    ] == []
