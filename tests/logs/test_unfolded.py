"""Patterns that keep a record in one line, its line ends and tabs spelled as in a string of Java."""

from __future__ import annotations

from pathlib import Path

from tests.logs.rendering import load, stamped, verdicts_stay


def test_line_ends_may_be_spelled(tmp_path: Path) -> None:
    def folded(text: str) -> str:
        records = ("\n".join(record.lines).rstrip("\n") for record in stamped(text))
        return "".join(record.replace("\n", "\\n").replace("\t", "\\t") + "\n" for record in records)

    verdicts_stay(
        tmp_path,
        {
            name: folded(text) if name.startswith(("stream-", "relay")) else text
            for name, text in load("poison-record-392").items()
        },
    )
