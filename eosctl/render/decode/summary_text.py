"""The summary of a log."""

from __future__ import annotations

from eosctl.analysis.decode.summary import LogSummary
from eosctl.render.decode.fields import CODECS, when
from eosctl.render.decode.formats import DecodeFormat
from eosctl.render.machine import render_json_line, render_tsv
from eosctl.render.page import Field, Line, render_page
from eosctl.text import count_text


def render_summary(files: int, summary: LogSummary, form: DecodeFormat) -> str:
    """Render what logs hold in all."""
    fields = {
        "files": files,
        "batches": summary.batches,
        "control_batches": summary.control_batches,
        "records": summary.records,
        "size_bytes": summary.size_bytes,
        "damaged": summary.damaged,
        "first_offset": summary.first_offset,
        "last_offset": summary.last_offset,
        "first_timestamp": summary.first_timestamp,
        "last_timestamp": summary.last_timestamp,
        "codecs": {CODECS[codec]: count for codec, count in sorted(summary.codecs.items())},
        "magics": {str(magic): count for magic, count in sorted(summary.magics.items())},
        "producer_count": len(summary.producers),
        "transactions_committed": summary.transactions_committed,
        "transactions_aborted": summary.transactions_aborted,
        "transactions_open": summary.transactions_open,
        "gap_count": summary.gap_count,
        "gaps": [{"expected_offset": expected, "found_offset": found} for expected, found in summary.gaps],
    }
    if form is DecodeFormat.JSON:
        return render_json_line({"kind": "summary", **fields})
    if form is DecodeFormat.TSV:
        return render_tsv([name, str(value)] for name, value in fields.items())
    span = "-"
    if summary.first_timestamp is not None and summary.last_timestamp is not None:
        span = f"{when(summary.first_timestamp)} to {when(summary.last_timestamp)}"
    gaps = ", ".join(f"{expected}-{found - 1}" for expected, found in summary.gaps)
    transactions = (
        f"{summary.transactions_committed} committed, {summary.transactions_aborted} aborted, "
        f"{summary.transactions_open} open"
    )
    return render_page(
        [
            Line(count_text(files, "file")),
            Field("batches", f"{summary.batches:,}, of these {summary.control_batches:,} control"),
            Field("records", f"{summary.records:,}"),
            Field("bytes", f"{summary.size_bytes:,}"),
            Field(
                "offsets", "-" if summary.last_offset is None else f"{summary.first_offset} to {summary.last_offset}"
            ),
            Field("time", span),
            Field("codecs", ", ".join(f"{CODECS[codec]} {count}" for codec, count in sorted(summary.codecs.items()))),
            Field("producers", f"{len(summary.producers):,}"),
            Field("txns", transactions),
            Field("gaps", f"{summary.gap_count}" + (f": offsets {gaps}" if gaps else "")),
            Field("damaged", f"{summary.damaged}"),
        ]
    )
