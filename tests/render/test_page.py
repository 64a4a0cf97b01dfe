"""Text for people: plain off terminals, wrapped and coloured on them, and never anything but text."""

from __future__ import annotations

import io
import re

import pytest

from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.machine import render_tsv, render_yaml
from eosctl.render.page import Field, Grid, Line, Style, render_page
from eosctl.render.progress import show_progress
from eosctl.render.terminal import ColorChoice, style_for

LONG = "word " * 60


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_fields_line_up() -> None:
    text = render_page([Line("Title"), Field("what", "this"), Field("", "and that"), Grid((("a", "bb"), ("ccc", "d")))])
    assert text == "Title\n  what      this\n            and that\na    bb\nccc  d\n"


def test_terminals_get_wrapped_text_under_the_label() -> None:
    lines = render_page([Field("cause", LONG)], Style(60, False)).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("  cause     word")
    assert all(line.startswith(" " * 12 + "word") for line in lines[1:] if line)


def squeeze(text: str) -> str:
    return " ".join(text.split())


ADDRESSES = "-b 127.0.0.1:9092,127.0.0.1:9093 --command-config client.properties"


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        ("", f"$ eosctl txn abort --topic orders --partition 1 {ADDRESSES}    # prints the plan", ""),
        ("Run ", f"eosctl txn hanging --all {ADDRESSES}", ", then wait until the brokers have answered."),
        ("Look at the cluster: ", f"eosctl doctor {ADDRESSES} --timeout 30s", ". List: eosctl runbook list"),
        ("See ", f"eosctl txn describe 'a name with spaces' {ADDRESSES}", ""),
        ("Type ", f"eosctl runbook run hanging-transaction {ADDRESSES} -i topic=a", " and wait for what it reports"),
        ("", f"kafka-transactions.sh --bootstrap-server a:9092 {ADDRESSES} abort --topic orders", ""),
    ],
)
def test_commands_are_never_broken(before: str, command: str, after: str, width: int) -> None:
    text = before + command + after
    blocks = [Line(text), Field("do", text), Grid(((text, LONG), ("a.b", "c")), ("COMMAND", "WHY"))]
    assert render_page(blocks, Style(width, False)).count(command) == 3


def test_a_table_is_as_narrow_as_its_longest_name() -> None:
    names = ("transactional.id.with.a.long.name.of.a.payment.service", "word " * 12)
    lines = render_page([Grid((names,), ("ID", "ABOUT"))], Style(80, False)).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].startswith(names[0] + "  word word")
    assert names[0] in render_page([Grid((names,), ("ID", "ABOUT"))], Style(30, False))


def test_a_frame_is_folded_to_the_screen_and_loses_nothing() -> None:
    command = "$ eosctl txn abort --topic orders --partition 1 --producer-id 2000"
    text = render_page([Field("do", command), Grid((("x" * 50, "y" * 9),))], Style(30, False, fold=True))
    assert max(map(len, text.splitlines())) <= 30
    assert squeeze(command) in squeeze(text)
    assert text.count("x") == 51


@pytest.mark.parametrize("style", [Style(), Style(80, False), Style(80, True), Style(None, True)])
def test_escape_sequences_in_names_do_not_reach_the_terminal(style: Style) -> None:
    hostile = "id\x1b[31m\x07\x9b\r\n[red]x[/red]"
    text = render_page([Line(hostile), Field("f", hostile), Grid(((hostile,),), ("H",))], style)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text) if style.color else text
    assert bare.count("id\\x1b[31m\\x07\\x9b\\x0d\\x0a[red]x[/red]") == 3
    assert not set(bare) & {"\x1b", "\x07", "\x9b", "\r"}


@pytest.mark.parametrize(
    ("stream", "choice", "environment", "colored", "wrapped"),
    [
        (io.StringIO(), ColorChoice.AUTO, {}, False, False),
        (io.StringIO(), ColorChoice.AUTO, {"FORCE_COLOR": "1", "GITHUB_ACTIONS": "true"}, False, False),
        (io.StringIO(), ColorChoice.ALWAYS, {}, True, False),
        (Terminal(), ColorChoice.AUTO, {"TERM": "xterm"}, True, True),
        (Terminal(), ColorChoice.AUTO, {"NO_COLOR": "1"}, False, True),
        (Terminal(), ColorChoice.AUTO, {"TERM": "dumb"}, False, True),
        (Terminal(), ColorChoice.NEVER, {"TERM": "xterm"}, False, True),
        (Terminal(), ColorChoice.ALWAYS, {"NO_COLOR": "1"}, True, True),
    ],
)
def test_style_follows_the_reader(
    stream: io.StringIO, choice: ColorChoice, environment: dict[str, str], colored: bool, wrapped: bool
) -> None:
    style = style_for(stream, choice, environment)
    assert (style.color, style.width is not None) == (colored, wrapped)


def test_progress_is_silent_and_traceless_off_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = io.StringIO()
    with show_progress(quiet) as tell:
        tell("brokers")
    assert quiet.getvalue() == ""
    monkeypatch.setenv("TERM", "dumb")  # cannot take a line back
    dumb = Terminal()
    with show_progress(dumb) as tell:
        tell("brokers")
    assert dumb.getvalue() == ""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with show_progress(terminal) as tell:
        tell("[bold]brokers[/bold]")
    assert "[bold]brokers" in terminal.getvalue() or terminal.getvalue().endswith("\x1b[2K")


def test_tsv_escapes_what_would_break_a_row() -> None:
    assert render_tsv([["a\tb", "c\nd\\", "e\r"]]) == "a\\tb\tc\\nd\\\\\te\\r\n"


def test_yaml_keeps_order_and_unicode() -> None:
    assert render_yaml({"b": "ü", "a": [1]}) == "b: ü\na:\n- 1\n"


COLUMNS = (Column[str]("NAME", lambda item: item), Column[str]("LENGTH", lambda item: str(len(item)), wide=True))


def test_listings_hide_wide_columns_and_report_emptiness() -> None:
    some = listing("things", "things list", 0, ("a", "bb"))
    none = listing("things", "things list", 0, ())
    assert render_listing(some, COLUMNS, OutputFormat.TABLE) == "NAME\na\nbb\n"
    assert render_listing(some, COLUMNS, OutputFormat.WIDE) == "NAME  LENGTH\na     1\nbb    2\n"
    assert render_listing(some, COLUMNS, OutputFormat.TSV) == "a\t1\nbb\t2\n"
    assert render_listing(none, COLUMNS, OutputFormat.TABLE, empty="No things.") == "No things.\n"
    assert '"items": []' in render_listing(none, COLUMNS, OutputFormat.JSON)
    assert "schema: eosctl.things" in render_listing(none, COLUMNS, OutputFormat.YAML)
