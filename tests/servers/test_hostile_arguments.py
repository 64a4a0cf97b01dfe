"""Arguments of the tools for assistants that name no file: an error in their place, and never a defect."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest

from eosctl.servers.answers import call
from eosctl.servers.tools import TOOLS
from eosctl.services.connection import Connection


@pytest.mark.parametrize("text", ["\0", "a\0b.log", "n" * 300, "p/" * 5_000])
@pytest.mark.parametrize("tool", list(TOOLS))
def test_names_that_no_file_can_have_are_bad_input(tool: str, text: str) -> None:
    fields = msgspec.structs.fields(TOOLS[tool].form)
    tried = 0
    for field in fields:
        needed = {one.encode_name: _fitting(one.type, "x") for one in fields if one.required}
        if (value := _fitting(field.type, text)) is not None:
            reply = call(TOOLS, tool, {**needed, field.encode_name: value}, Connection())
            assert "defect" not in reply.result, (field.name, reply.result)
            assert reply.exit_code in ((2,) if "\0" in text else (0, 1, 2, 3, 4)), (field.name, reply)
            tried += 1
    assert tried


def _fitting(kind: object, text: str) -> object:
    """Return a value for an argument of text, or of texts; None for another."""
    for value in (text, (text,)):
        with suppress(msgspec.ValidationError):
            return msgspec.convert(value, kind)
    return None
