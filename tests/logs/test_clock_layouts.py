"""Records with a clock but no date, in the layouts of loggers that leave the date to the console or the file's name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths

DAY_MS = 1_795_219_200_000
AT_MS = DAY_MS + 34_282_658
FENCED = (
    "[Producer clientId=p-1, transactionalId=payments-3] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"
)
LAYOUTS = {
    "logback without a thread": "09:31:22.658 {level:5} shop.Stream - {text}",
    "logger and colon": "09:31:22.658 {level} shop.Stream: {text}",
    "thread after the logger": "09:31:22.658 {level} shop.Stream [main] - {text}",
    "jboss": "09:31:22,658 {level:5} [shop.Stream] (main) {text}",
    "pino-pretty": "[09:31:22.658] {level} (77): {text}",
    "pipes": "09:31:22.658 | {level} | shop.stream | {text}",
    "brackets": "[09:31:22.658] [{level}] [shop.stream] {text}",
    "no logger": "09:31:22.658 {level} {text}",
}


def scan_text(folder: Path, layout: str, levels: tuple[str, str]) -> tuple[int | None, str, int]:
    """Return time and level of the error in a log of this layout, and its number of unmatched lines."""
    texts = ("three workers are ready", FENCED, "closed 3 chunks")
    rows = zip((levels[0], levels[1], levels[0]), texts, strict=True)
    path = folder / "app.log"
    path.write_text("".join(f"{layout.format(level=level, text=text)}\n" for level, text in rows))
    os.utime(path, (DAY_MS / 1000 + 40_000, DAY_MS / 1000 + 40_000))
    scan = scan_paths([path])
    (event,) = scan.events
    assert event.message.endswith(FENCED[1:])
    return event.time_ms, event.level, scan.sources[0].unmatched_line_count


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_clock_without_a_date_starts_a_record(name: str, tmp_path: Path) -> None:
    assert scan_text(tmp_path, LAYOUTS[name], ("INFO", "ERROR")) == (AT_MS, "ERROR", 0)


@pytest.mark.parametrize(
    ("layout", "levels", "time_ms"),
    [
        ("[09:31:22 {level}] {text}", ("INF", "ERR"), AT_MS - 658),
        ("9:31AM {level} {text}", ("INF", "ERR"), AT_MS - 22_658),
        ("9:31PM {level} {text}", ("DBG", "ERR"), AT_MS - 22_658 - 43_200_000),
        ("12:31AM {level} {text}", ("INF", "ERR"), AT_MS - 22_658 - 32_400_000),
        ("2026-11-21 09:31:22.658 +00:00 [{level}] {text}", ("INF", "ERR"), AT_MS),
    ],
)
def test_consoles_of_dotnet_and_go_have_short_levels(
    layout: str, levels: tuple[str, str], time_ms: int, tmp_path: Path
) -> None:
    assert scan_text(tmp_path, layout, levels) == (time_ms, "ERROR", 0)


def test_a_wrapper_dates_a_record_that_has_only_a_clock(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"2026-11-21T09:31:22.700000000Z stdout F 09:31:22.658 [main] ERROR shop.Stream - {FENCED}\n")
    (event,) = scan_paths([path]).events
    assert (event.time_ms, event.time_assumed) == (AT_MS + 42, False)
