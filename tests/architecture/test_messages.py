"""Every error message of the product: what happened, why, what next. The book lists them from the same source."""

from __future__ import annotations

import ast
import re

import pytest

from scripts.book.messages import Message, all_messages, error_kinds, exit_code_of, messages_in, messages_page


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return all_messages()[0]


def is_sentence(text: str) -> bool:
    """Whether a text starts as a sentence does and holds no line break or placeholder that was forgotten."""
    return bool(text.strip()) and "\n" not in text.strip() and not re.search(r"TODO|FIXME|\bXXX\b", text)


def test_every_message_states_what_happened(messages: list[Message]) -> None:
    described = [message for message in messages if message.what is not None]
    assert len(described) > 400
    assert [message for message in described if not message.what or not is_sentence(message.what)] == []
    assert [
        message for message in described if message.what and not message.what.rstrip().endswith((".", "?", ")", "}"))
    ] == []


def test_every_message_states_what_to_do_next(messages: list[Message]) -> None:
    assert [message for message in messages if message.next_step == ""] == []


def test_every_error_but_usage_errors_has_a_reason(messages: list[Message]) -> None:
    kinds = all_messages()[1]
    # A message without its own text forwards another one, including the reason.
    described = [message for message in messages if message.what is not None]
    assert [message for message in described if message.why == "" and exit_code_of(message.kind, kinds) != 2] == []


def test_a_planted_message_is_found_with_its_parts_and_exit_code() -> None:
    tree = ast.parse(
        "class Odd(UsageError): pass\n"
        "def f(name):\n"
        "    raise Odd(f'No {name.strip()!r}.', next_step='Name ' + 'one.') from None\n"
    )
    base = ast.parse("class UsageError(EosctlError):\n    exit_code = ExitCode.BAD_INPUT\n")
    kinds = error_kinds({"errors.py": base, "odd.py": tree})
    (found,) = messages_in("odd.py", tree, kinds)
    assert found == Message("odd.py", 3, "Odd", "No {strip}.", "", "Name one.")
    assert exit_code_of("Odd", kinds) == 2


@pytest.mark.quick
def test_the_page_lists_each_message_under_its_exit_code() -> None:
    page = messages_page()
    assert re.findall(r"^## Exit code (\d)", page, re.MULTILINE) == ["1", "2", "4"]
    assert "| Cannot write `{path}`. |" in page
